/* Gives our file descriptors high numbers, so that they do not get in the program's way (base/os.h). */
#ifndef BLAME_BASE_OS_FDS_H
#define BLAME_BASE_OS_FDS_H

/* Copies a descriptor to a high number. The program may rely on getting low numbers, may have closed its
 * standard streams, or may need many descriptors. So we leave it all numbers below 400, or below half of
 * RLIMIT_NOFILE if that is less. Returns -1 with errno set if no higher number is free. [handler] */
int os_high_copy(int fd);

/* Makes the kernel's descriptor table large enough for `count` high copies, within RLIMIT_NOFILE. If the
 * table had to grow later, in a process with many threads, the kernel would wait until each core has switched
 * tasks (synchronize_rcu). On busy cores this takes seconds. [owner] */
void os_expect_high(int count);

/* Moves a descriptor to a high number. If no high number is free, chooses any number except those of the
 * standard streams. [handler] */
int os_move_high(int fd);

/* Occupies the free descriptor numbers up to 63 (or half of RLIMIT_NOFILE), so that files that a library
 * opens get higher numbers. */
#define OS_LOW_FDS 64
struct os_low_fds {
    int count, fd[OS_LOW_FDS];
};
void os_take_low(struct os_low_fds *taken);       /* [init] */
void os_give_low(const struct os_low_fds *taken); /* [init] */

#endif
