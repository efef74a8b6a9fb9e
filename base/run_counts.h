/* What the kernel counts for a thread (CONFIG_SCHED_INFO): its time on a core, and the time when it was ready
 * without a core. Read from /proc/thread-self/schedstat of the calling thread. */
#ifndef BLAME_BASE_RUN_COUNTS_H
#define BLAME_BASE_RUN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct run_counts {
    uint64_t on_core_ns; /* ns until the last tick, or until it got its core if that was later */
    uint64_t no_core_ns; /* ns without a core, until it got its core */
    uint64_t turns;      /* number of times it got a core */
};

/* The file, kept open so that a sample need not open it. Its descriptor has a high number, out of the
 * program's way. The number is valid only while the same file is behind it, because the program may close all
 * descriptors and reuse their numbers. */
struct run_file {
    int fd; /* descriptor; 0: not open */
    uint64_t device, inode;
};

/* Opens the calling thread's file and keeps it. Returns false if it cannot be opened, or if enough are open
 * for this process's limit of descriptors. [owner] */
bool run_file_keep(struct run_file *file);
void run_file_let_go(struct run_file *file); /* [any] */

/* Reads the counts. Returns false if the file is not open. If the descriptor is another file by now, it is
 * given up. The file is never reopened for a reading: that would take the lowest free number, on which the
 * program may count. [handler] */
bool run_counts_read(struct run_file *file, struct run_counts *counts);

/* How often the calling thread has left a core. */
struct run_switches {
    long sleeps;      /* of its own accord; -1: unknown */
    long faults;      /* part of these: waits for a page from a disk */
    long preemptions; /* times that the kernel took the core away */
};
struct run_switches run_switches(void); /* [handler] */

#endif
