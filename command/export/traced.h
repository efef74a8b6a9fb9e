/* Prepares traces for formats that show threads over time. Threads are grouped by process, all times are on
 * one clock, and threads and phases have names. Idle time is blamed on culprits: functions that threads
 * executed while other threads were idle. */
#ifndef BLAME_COMMAND_EXPORT_TRACED_H
#define BLAME_COMMAND_EXPORT_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/profile/trace.h"
#include "command/rows/row.h"

#define SHARING_MOST 5 /* number of culprits shown by name; the others are shown as one sum */

struct awaited {
    const struct row_label *label; /* function in the program's own code */
    /* whether the threads in the function were waiting themselves, for a lock or for other ranks */
    bool waits;
    double ns; /* ns of other threads' idle time that is blamed on the function */
};

/* How the time of an idle span is divided between the culprits, in ns. All parts together are the length of
 * the span. */
struct idle_share {
    float culprit[SHARING_MOST], others, nobody;
};

/* Average numbers of threads in a window of time. */
struct culprit_level {
    /* `busy` is the number of busy threads. `blamed` is the number of idle threads, counted only while some
     * thread was busy. culprit[i] is the part of `blamed` for which top[i] is responsible. */
    double busy, blamed, culprit[SHARING_MOST];
};

/* The culprits of the idle time in one process. */
struct sharing {
    struct awaited top[SHARING_MOST]; /* largest first */
    size_t count;
    double others_ns, nobody_ns;
    struct idle_share *share; /* shares of all idle spans, sorted by lane, then by time */
    size_t share_count;
    uint64_t begin_ns, end_ns, window_ns;
    struct culprit_level *level;
    size_t level_count;
};

void export_sharing_find(struct sharing *sharing, const struct rows *rows, const struct trace_lane *lanes,
                         size_t lane_count);
/* If the span is idle, adds its share to `sum`, and advances `*share` to the share of the next idle span.
 * Does nothing for other spans. */
void export_sharing_add_share(const struct trace_span *span, const struct idle_share **share, struct idle_share *sum);
void export_sharing_free(struct sharing *sharing);

/* Returns one member of struct culprit_level, given by its offset, for one window. */
static inline double export_sharing_level(const struct sharing *sharing, size_t window, size_t offset)
{
    return *(const double *)((const char *)&sharing->level[window] + offset);
}

/* Returns a name such as "refine" or "refine (waiting)", which the caller frees. */
char *export_culprit_name(const struct awaited *culprit);

#define TRACED_PIECES 500000u

struct traced_thread {
    const struct trace_lane *lane;
    int32_t tid;
    char *name;
};

/* An exported process: the only process of a run, or one rank of a job. */
struct traced_process {
    const struct rows *rows;
    struct trace *trace; /* trace, whose times export_traced_make() converts to the common clock */
    int32_t
        /* process id. If there are several processes, the number of the process's first thread is used,
         * because processes on different nodes may have the same id */
        pid;
    char *name;
    struct traced_thread *threads;
    size_t thread_count; /* number of threads that have samples */
    struct sharing culprits;
};

struct traced {
    struct traced_process *processes;
    size_t count;
    /* start of the first process in ns since the epoch; the common clock is 0 then */
    int64_t start_realtime_ns;
};

/* Prepares processes for which the caller has set `rows` and `trace`. */
void export_traced_make(struct traced *traced, struct traced_process *processes, size_t count);
void export_traced_free(struct traced *traced);

/* export_traced_pieces returns how many samples of the output represent a span. export_traced_piece returns
 * one of these pieces of the span, numbered from 0. */
uint32_t export_traced_pieces(const struct trace_lane *lane, const struct trace_span *span);
struct trace_span export_traced_piece(const struct trace_span *span, uint32_t pieces, uint32_t piece);

/* Returns the index after the last span of the run that starts at `first`. A run is a sequence of spans in
 * one state, without gaps. */
size_t export_traced_run_end(const struct trace_lane *lane, size_t first);

/* The start or end of a phase or event, derived from the samples of the process's first thread. A phase lasts
 * from its first sample to its last. Starts and ends are sorted by time and properly nested. */
struct traced_phase {
    uint64_t time_ns;
    const char *name;
    bool begins;
};
size_t export_traced_phases(const struct traced_process *process, struct traced_phase **phases);

#endif
