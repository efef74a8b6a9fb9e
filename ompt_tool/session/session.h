/* One measurement: from the tool's start, or the first event of a forked child, to its end. */
#ifndef BLAME_OMPT_TOOL_SESSION_SESSION_H
#define BLAME_OMPT_TOOL_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/run_options.h"

struct job;

struct session {
    struct run_options options;
    char program[256]; /* the name that the program was started under */
    uint64_t period_ns;
    uint64_t start_ns;     /* start of the process, CLOCK_MONOTONIC */
    uint32_t stopping;     /* 1: no more samples and no more changes to trees */
    bool exits;            /* the program's exit handlers are running */
    uint32_t paused;       /* 1: the program has asked for a pause */
    uint64_t paused_since; /* start of the current pause, clock_ticks() */
    uint64_t paused_ticks; /* length of the finished pauses, in ticks */
    char directory[4096];
    char file[4224];       /* path of the measurement file; outside the directory on network file systems */
    char target[4224];     /* final path of the file, if it was claimed; empty: below directory */
    uint32_t process;      /* number of the process within its rank, in a job */
    const struct job *job; /* the job that shares the directory; NULL: the process has its own directory */
    char runtime[128];
};

extern struct session session;

/* Begins a measurement of this process, without pauses and with no module in the file. [init] */
void session_begin(uint64_t process_start_ns);

/* Returns whether a profile is to be written. A process that loads OpenMP and runs no region gets none. [any] */
bool session_is_wanted(void);

/* Removes the directory and the file. [init] */
void session_discard(void);

/* Begins or ends a pause for the program; returns true if that changed anything. [owner] */
bool session_pause(bool pause);

/* Returns the ticks spent in pauses until now_ticks (clock_ticks()). [handler] */
uint64_t session_paused_ticks(uint64_t now_ticks);

/* Writes to the file the modules that were loaded since the last call. [handler] */
void session_record_modules(void);

#endif
