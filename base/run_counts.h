/* What the kernel counts for the calling thread (CONFIG_SCHED_INFO), read from /proc/thread-self/schedstat:
 * the time that the thread ran on a core, and the time that it was ready to run without a core. */
#ifndef BLAME_BASE_RUN_COUNTS_H
#define BLAME_BASE_RUN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct run_counts {
    /* ns that the thread ran on a core, until the last scheduler tick or until it last got a core, whichever
     * is later */
    uint64_t on_core_ns;
    uint64_t no_core_ns; /* ns that the thread was ready to run without a core, until it last got one */
    uint64_t turns;      /* number of times that the thread got a core */
};

/* The opened file, which is kept so that samples need not open it. Its descriptor has a high number. Device
 * and inode show whether the descriptor still refers to this file, because the program may close all
 * descriptors and reuse their numbers. */
struct run_file {
    int fd; /* descriptor; 0: the file is not open */
    uint64_t device, inode;
};

/* Opens the calling thread's file. Returns false if that fails, or if this process already has as many such
 * files as its RLIMIT_NOFILE permits. [owner] */
bool run_file_keep(struct run_file *file);
void run_file_let_go(struct run_file *file); /* [any] */

/* Reads the counts. Returns false if the file is not open. If the program has reused the descriptor's number,
 * the file counts as closed. It is not reopened here, because that would take the lowest free number, which
 * the program may expect for a file of its own. [handler] */
bool run_counts_read(const struct run_file *file, struct run_counts *counts);

/* How often the calling thread has given up or lost its core. All three are counts. */
struct run_switches {
    long sleeps;      /* number of times that the thread went to sleep; -1: unknown */
    long faults;      /* number of page faults that needed a disk; each is also counted in `sleeps` */
    long preemptions; /* number of times that the kernel gave the thread's core to another thread */
};
struct run_switches run_switches(void); /* [handler] */

/* What the kernel has done for the whole process so far; 0 if it does not say. */
struct kernel_use {
    uint64_t ns;     /* time that its threads spent in the kernel */
    uint64_t faults; /* number of page faults that needed no disk */
};
struct kernel_use kernel_use_of_process(void); /* [any] */

#endif
