/* Numbers of descriptors that are out of the program's way (base/os.h). */
#ifndef BLAME_BASE_OS_FDS_H
#define BLAME_BASE_OS_FDS_H

/* The same file by a number out of the way of programs that count on low ones, have closed their standard streams, or need many:
 * all below 400, or below half of the process's limit, is theirs. -1 with errno: none is free there. [handler] */
int os_high_copy(int fd);

/* Makes the kernel's table of descriptors large enough for so many high copies, as far as the process may have them. To grow it later, among
 * many threads, the kernel waits until each core has switched tasks (synchronize_rcu): seconds where all are in use. [owner] */
void os_expect_high(int count);

/* The same in fd's place, which is closed; where there is none, any but a standard stream's. [handler] */
int os_move_high(int fd);

/* Keeps the free numbers up to 63 (or half of the limit) from what a library opens meanwhile. */
#define OS_LOW_FDS 64
struct os_low_fds {
    int count, fd[OS_LOW_FDS];
};
void os_take_low(struct os_low_fds *taken);       /* [init] */
void os_give_low(const struct os_low_fds *taken); /* [init] */

#endif
