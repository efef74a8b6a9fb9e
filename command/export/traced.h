/* Traces as formats of threads over time need them: by process, on one clock, with names, and with the phases that samples were in. */
#ifndef BLAME_COMMAND_EXPORT_TRACED_H
#define BLAME_COMMAND_EXPORT_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/profile/trace.h"
#include "command/rows/row.h"

#define SHARING_MOST 5 /* named; the rest are summed */

struct awaited {
    const struct row_label *label; /* a function of the program's own code */
    bool waits;                    /* not what it did, but its threads' waiting for a lock or for other ranks */
    double ns;                     /* idle thread time that it is blamed for */
};

/* Of one idle span, in nanoseconds: together its length. */
struct idle_share {
    float culprit[SHARING_MOST], others, nobody;
};

/* Threads, on average over a window. */
struct culprit_level {
    double busy, blamed, culprit[SHARING_MOST]; /* idle while somebody was busy, and the parts */
};

/* Of the lanes of one process. */
struct sharing {
    struct awaited top[SHARING_MOST]; /* the largest first */
    size_t count;
    double others_ns, nobody_ns;
    struct idle_share *share; /* of idle spans, by lane and time */
    size_t share_count;
    uint64_t begin_ns, end_ns, window_ns;
    struct culprit_level *level;
    size_t level_count;
};

void sharing_find(struct sharing *sharing, const struct rows *rows, const struct trace_lane *lanes, size_t lane_count);
/* Adds the share of an idle span to the sum and moves on to that of the next one; of other spans nothing. */
void sharing_add_share(const struct trace_span *span, const struct idle_share **share, struct idle_share *sum);
void sharing_free(struct sharing *sharing);

/* What stands at that offset of a window's struct culprit_level. */
static inline double sharing_level(const struct sharing *sharing, size_t window, size_t offset)
{
    return *(const double *)((const char *)&sharing->level[window] + offset);
}

/* "refine", "refine (waiting)"; malloc'ed. */
char *culprit_name(const struct awaited *culprit);

#define TRACED_PIECES 500000u

struct traced_thread {
    const struct trace_lane *lane;
    int32_t tid;
    char *name;
};

/* What is to be exported: a program's run, or a rank of a job. */
struct traced_process {
    const struct rows *rows;
    struct trace *trace; /* its spans' times are changed to those of the common clock */
    int32_t
        pid; /* of several: made up, as pids of several nodes may be equal; the first thread's number is the process's */
    char *name;
    struct traced_thread *threads;
    size_t thread_count; /* of those that have samples */
    struct sharing culprits;
};

struct traced {
    struct traced_process *processes;
    size_t count;
    int64_t start_realtime_ns; /* where time begins: the first process's start */
};

/* Of `count` processes whose rows and traces are set. */
void traced_make(struct traced *traced, struct traced_process *processes, size_t count);
void traced_free(struct traced *traced);

/* Part `piece` of a span of the lane that is cut into so many. */
uint32_t traced_pieces(const struct trace_lane *lane, const struct trace_span *span);
struct trace_span traced_piece(const struct trace_span *span, uint32_t pieces, uint32_t piece);

/* The end of a run of spans: those behind `first` that begin where the last one ended, in the same state. One behind the last. */
size_t traced_run_end(const struct trace_lane *lane, size_t first);

/* A phase or event as the samples of its process's first thread found it: from the first one in it to the last. In the order in which they
 * begin and end: what is inside another one begins after it and ends before. */
struct traced_phase {
    uint64_t time_ns;
    const char *name;
    bool begins;
};
size_t traced_phases(const struct traced_process *process, struct traced_phase **phases);

#endif
