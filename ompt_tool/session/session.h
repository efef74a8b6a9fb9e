/* The state of one measurement. A measurement lasts from the tool's start, or from the first event of a
 * forked child, to its end. */
#ifndef BLAME_OMPT_TOOL_SESSION_SESSION_H
#define BLAME_OMPT_TOOL_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/run_options.h"

struct job;

struct session {
    struct run_options options;
    char program[256]; /* name under which the program was started */
    uint64_t period_ns;
    uint64_t start_ns;     /* start of the process in ns, on CLOCK_MONOTONIC */
    uint32_t stopping;     /* 1: no more samples, and no more changes to the trees */
    bool exits;            /* the program's exit handlers are running */
    uint32_t paused;       /* 1: the program has asked for a pause */
    uint64_t paused_since; /* start of the current pause, clock_ticks() */
    uint64_t paused_ticks; /* length of the finished pauses, in ticks */
    char directory[4096];
    char file[4224]; /* path of the measurement file; outside the directory on network file systems */
    /* final path of the file, if an empty file was made there to reserve the name; empty: the file's final
     * place is `directory` */
    char target[4224];
    uint32_t process;      /* number of the process within its rank, in a job */
    const struct job *job; /* the job that shares the directory; NULL: the process has its own directory */
    char runtime[128];
};

extern struct session session;

/* Begins a measurement of this process. Resets the pauses, and the list of modules that are already in the
 * file. [init] */
void session_begin(uint64_t process_start_ns);

/* Returns true if a profile is to be written. A process that has loaded OpenMP but runs no region may get
 * none. [any] */
bool session_is_wanted(void);

/* Removes the measurement file and its directory. [init] */
void session_discard(void);

/* Pauses or continues the measurement for the program. Returns true if that changed anything. [owner] */
bool session_pause(bool pause);

/* Returns how long the measurement was paused until now_ticks, both in ticks of clock_ticks(). [handler] */
uint64_t session_paused_ticks(uint64_t now_ticks);

/* Writes to the file the modules that were loaded since the last call. [handler] */
void session_record_modules(void);

#endif
