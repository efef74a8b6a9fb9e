/* One measurement: from the tool's start, or a fork's child's first event, to its end. */
#ifndef BLAME_OMPT_TOOL_SESSION_SESSION_H
#define BLAME_OMPT_TOOL_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/run_options.h"

struct job;

struct session {
    struct run_options options;
    char program[256]; /* the name that it was started by */
    uint64_t period_ns;
    uint64_t start_ns;     /* process start, CLOCK_MONOTONIC */
    uint32_t stopping;     /* 1: no more samples, no more trees */
    bool exits;            /* the program's exit handlers run */
    uint32_t paused;       /* 1: the program asked for a pause */
    uint64_t paused_since; /* clock_ticks() */
    uint64_t paused_ticks; /* of the pauses that are over */
    char directory[4096];
    char file[4224];       /* the measurement file, perhaps elsewhere (network file systems) */
    char target[4224];     /* where it goes then, if that was claimed; empty: below directory */
    uint32_t process;      /* of its rank, in a job */
    const struct job *job; /* the job whose directory this is; NULL: the process has a directory of its own */
    char runtime[128];
};

extern struct session session;

/* A measurement of this process begins: nothing is paused, and no module in the file. [init] */
void session_begin(uint64_t process_start_ns);

/* Whether there is to be a profile: a process that loads OpenMP and runs no region is none of the user's. [any] */
bool session_is_wanted(void);

/* Removes the directory and the file. [init] */
void session_discard(void);

/* The program's wish to begin or to end a pause; true if that changed anything. [owner] */
bool session_pause(bool pause);

/* Ticks spent in pauses until then (clock_ticks()). [handler] */
uint64_t session_paused_ticks(uint64_t now_ticks);

/* Writes modules that were loaded since the last call to the file. [handler] */
void session_record_modules(void);

#endif
