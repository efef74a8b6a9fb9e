/* What the kernel counts of a thread (CONFIG_SCHED_INFO): how long it had a core, and how long it was ready to run and had
 * none. From /proc/thread-self/schedstat, of the calling thread. */
#ifndef BLAME_BASE_RUN_COUNTS_H
#define BLAME_BASE_RUN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct run_counts {
    uint64_t on_core_ns; /* until the last tick, or until it got its core: whichever was later */
    uint64_t no_core_ns; /* until it got its core */
    uint64_t turns;      /* so often it got one */
};

/* The file, kept open, so that a sample need not open it. Its number is out of the way of the program's, and counts only
 * as long as the file behind it is the same: the program may close all descriptors, and use their numbers again. */
struct run_file {
    int fd; /* 0: not kept */
    uint64_t device, inode;
};

/* Keeps the calling thread's. False, and it is not kept: it cannot be opened, or there are enough already for as many
 * descriptors as this process may have. [owner] */
bool run_file_keep(struct run_file *file);
void run_file_let_go(struct run_file *file); /* [any] */

/* False when it is not kept. A file that was kept and is another one now is not kept any longer. None is opened for the
 * reading: it would have the least number that is free, which the program may count on meanwhile. [handler] */
bool run_counts_read(struct run_file *file, struct run_counts *counts);

/* How often the calling thread has left a core. */
struct run_switches {
    long sleeps;      /* of its own will; -1: that is not told */
    long faults;      /* among those: to wait for a page from a disk */
    long preemptions; /* it was taken away */
};
struct run_switches run_switches(void); /* [handler] */

#endif
