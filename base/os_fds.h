/* Descriptor numbers that keep out of the program's way (base/os.h). */
#ifndef BLAME_BASE_OS_FDS_H
#define BLAME_BASE_OS_FDS_H

/* Copies a descriptor to a high number. The program may count on low numbers, may have closed its standard
 * streams, or may need many: all numbers below 400, or below half of the process's limit, are left to it.
 * Returns -1 with errno set if no number is free there. [handler] */
int os_high_copy(int fd);

/* Makes the kernel's descriptor table large enough for that many high copies, within the process's limit. If
 * it grows later, among many threads, the kernel waits until each core has switched tasks (synchronize_rcu),
 * which takes seconds on busy cores. [owner] */
void os_expect_high(int count);

/* Moves a descriptor to a high number and closes the old one. If no high number is free it takes any but
 * those of the standard streams. [handler] */
int os_move_high(int fd);

/* Occupies the free numbers up to 63 (or half of the limit), so that a library does not get them when it
 * opens files. */
#define OS_LOW_FDS 64
struct os_low_fds {
    int count, fd[OS_LOW_FDS];
};
void os_take_low(struct os_low_fds *taken);       /* [init] */
void os_give_low(const struct os_low_fds *taken); /* [init] */

#endif
