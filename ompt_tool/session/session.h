/* The state of one measurement, which lasts from the tool's start, or from the first event in a forked child,
 * to its end. */
#ifndef BLAME_OMPT_TOOL_SESSION_SESSION_H
#define BLAME_OMPT_TOOL_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/run_counts.h"
#include "base/run_options.h"

struct job;

/* CPU time in ns after which a process is measured even if it uses no OpenMP */
#define SESSION_LEAST_CPU_NS 10000000u

struct session {
    struct run_options options;
    char program[256]; /* name with which the program was started */
    uint64_t period_ns;
    uint64_t start_ns;            /* start of the process in ns, on CLOCK_MONOTONIC */
    struct kernel_use kernel_use; /* at the start of the tool */
    uint32_t stopping;            /* 1: no more samples are taken, and the trees no longer change */
    bool armed;                   /* whether the process is measured even if it begins no region */
    bool plain;                   /* whether the measurement has begun without an OpenMP runtime */
    uint32_t teams;               /* 1: a region has begun */
    bool wants_work;              /* whether the profile is kept only if the process works (SESSION_LEAST_CPU_NS) */
    /* the process's CPU time that is not the program's work: loading, and starting to measure */
    uint64_t cpu_before_ns;
    /* whether samples count the cores that no thread uses: the program has no team, and a clock triggers the samples */
    bool counts_cores;
    bool exits;            /* whether the program's exit handlers are running */
    uint32_t paused;       /* 1: the program has paused the measurement */
    uint64_t paused_since; /* start of the current pause, on clock_ticks() */
    uint64_t paused_ticks; /* total length of the pauses that are over, in ticks */
    char directory[4096];
    /* path of the measurement file; on network file systems it is outside the directory during the run */
    char file[4224];
    /* path to which the file is moved at the end, where an empty file reserves the name; empty: the file is
     * moved into `directory` */
    char target[4224];
    uint32_t process;      /* number of this process among those of its rank, in a job */
    const struct job *job; /* the job that shares the directory; NULL: the process has its own directory */
    char runtime[128];
    /* path of the runtime, and how its events reach the tool; NULL: unknown */
    const char *runtime_path, *runtime_reached;
};

extern struct session session;

/* Begins a measurement of this process. Resets the pauses, and the list of modules that are already in the
 * file. [init] */
void session_begin(uint64_t process_start_ns);

/* Returns true if a profile is to be written. A process that has loaded OpenMP but has not begun a region may
 * get none. [any] */
bool session_is_wanted(void);

/* Removes the measurement file and its directory. [init] */
void session_discard(void);

/* Pauses or continues the measurement at the program's request. Returns true if this changed anything.
 * [owner] */
bool session_pause(bool pause);

/* Returns the total length of all pauses up to now_ticks, in ticks of clock_ticks(). [handler] */
uint64_t session_paused_ticks(uint64_t now_ticks);

/* Writes the modules that were loaded since the last call into the measurement file. [handler] */
void session_record_modules(void);

#endif
