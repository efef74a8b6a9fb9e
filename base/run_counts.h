/* What the kernel counts for the calling thread (CONFIG_SCHED_INFO), read from /proc/thread-self/schedstat:
 * the time on a core, and the time ready to run without a core. */
#ifndef BLAME_BASE_RUN_COUNTS_H
#define BLAME_BASE_RUN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct run_counts {
    /* ns on a core, until the last scheduler tick or until it last got a core, whichever is later */
    uint64_t on_core_ns;
    uint64_t no_core_ns; /* ns ready to run without a core, until it last got a core */
    uint64_t turns;      /* number of times that it got a core */
};

/* The open file, so that a sample need not open it. Its descriptor has a high number. Device and inode show
 * whether the descriptor is still this file, because the program may close all descriptors and reuse their
 * numbers. */
struct run_file {
    int fd; /* descriptor; 0: not open */
    uint64_t device, inode;
};

/* Opens the calling thread's file. Returns false if that fails, or if this process already has enough such
 * files for its RLIMIT_NOFILE. [owner] */
bool run_file_keep(struct run_file *file);
void run_file_let_go(struct run_file *file); /* [any] */

/* Reads the counts. Returns false if the file is not open. If the program has reused the descriptor, the file
 * counts as closed. It is not opened again here, because that would take the lowest free number, which the
 * program may expect to get itself. [handler] */
bool run_counts_read(struct run_file *file, struct run_counts *counts);

/* How often the calling thread has left a core. All three are counts. */
struct run_switches {
    long sleeps;      /* times that it went to sleep; -1: unknown */
    long faults;      /* page faults that needed a disk; each is also counted in `sleeps` */
    long preemptions; /* times that the kernel gave its core to another thread */
};
struct run_switches run_switches(void); /* [handler] */

#endif
