/* Traces prepared for formats that show threads over time: grouped by process, on one clock, with names and
 * phases. A culprit is a function that some threads executed while others were idle; idle time is blamed on
 * it. */
#ifndef BLAME_COMMAND_EXPORT_TRACED_H
#define BLAME_COMMAND_EXPORT_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/profile/trace.h"
#include "command/rows/row.h"

#define SHARING_MOST 5 /* number of culprits with a name; all others are summed */

struct awaited {
    const struct row_label *label; /* function of the program's own code */
    /* whether the function's threads were waiting themselves, for a lock or for other ranks */
    bool waits;
    double ns; /* ns of idle thread time for which the function is blamed */
};

/* The parts of one idle span's time, in ns. Their sum is the span's length. */
struct idle_share {
    float culprit[SHARING_MOST], others, nobody;
};

/* Numbers of threads, averaged over a window. */
struct culprit_level {
    /* `blamed` counts idle threads while another thread was busy; culprit[i] is the part of `blamed` that is
     * due to top[i] */
    double busy, blamed, culprit[SHARING_MOST];
};

/* Who is blamed for the idle time of one process's threads. */
struct sharing {
    struct awaited top[SHARING_MOST]; /* largest first */
    size_t count;
    double others_ns, nobody_ns;
    struct idle_share *share; /* the shares of all idle spans, sorted by lane and time */
    size_t share_count;
    uint64_t begin_ns, end_ns, window_ns;
    struct culprit_level *level;
    size_t level_count;
};

void sharing_find(struct sharing *sharing, const struct rows *rows, const struct trace_lane *lanes, size_t lane_count);
/* If the span is idle, adds its share to `sum` and advances `*share` to the next idle span's. Otherwise, does
 * nothing. */
void sharing_add_share(const struct trace_span *span, const struct idle_share **share, struct idle_share *sum);
void sharing_free(struct sharing *sharing);

/* Returns the member of struct culprit_level at that offset, for one window. */
static inline double sharing_level(const struct sharing *sharing, size_t window, size_t offset)
{
    return *(const double *)((const char *)&sharing->level[window] + offset);
}

/* Returns a malloc'ed name such as "refine" or "refine (waiting)". */
char *culprit_name(const struct awaited *culprit);

#define TRACED_PIECES 500000u

struct traced_thread {
    const struct trace_lane *lane;
    int32_t tid;
    char *name;
};

/* A process to be exported: a run, or one rank of a job. */
struct traced_process {
    const struct rows *rows;
    struct trace *trace; /* its spans' times are moved to the common clock */
    int32_t
        /* process number; invented if there are several processes, because processes on different nodes may
         * have equal numbers. It is then the number of the first thread */
        pid;
    char *name;
    struct traced_thread *threads;
    size_t thread_count; /* number of threads that have samples */
    struct sharing culprits;
};

struct traced {
    struct traced_process *processes;
    size_t count;
    int64_t start_realtime_ns; /* time 0 of the common clock: the start of the first process */
};

/* Prepares processes whose `rows` and `trace` are set. */
void traced_make(struct traced *traced, struct traced_process *processes, size_t count);
void traced_free(struct traced *traced);

/* traced_pieces returns the number of samples to export for a span. traced_piece returns the span's part
 * number `piece`. */
uint32_t traced_pieces(const struct trace_lane *lane, const struct trace_span *span);
struct trace_span traced_piece(const struct trace_span *span, uint32_t pieces, uint32_t piece);

/* Returns the index after the last span of a run that starts at `first`. A run consists of spans in the same
 * state without gaps between them. */
size_t traced_run_end(const struct trace_lane *lane, size_t first);

/* The start or end of a phase or event, as seen in the samples of the process's first thread. A phase lasts
 * from the first sample in it to the last. Starts and ends are in order of time and properly nested. */
struct traced_phase {
    uint64_t time_ns;
    const char *name;
    bool begins;
};
size_t traced_phases(const struct traced_process *process, struct traced_phase **phases);

#endif
