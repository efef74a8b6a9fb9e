/* Traces as formats of threads over time need them: by process, on one clock, with names, and with the phases that samples were in. */
#ifndef BLAME_EXPORT_TRACED_H
#define BLAME_EXPORT_TRACED_H

#include "export/sharing.h"
#include "report/profile/trace.h"
#include "report/rows/row.h"

/* Viewers need no more samples than this of a span that is long: one for each of the program's, but not more than 50 a second, nor more in a thread's
 * time than they can show, or a damaged file can ask for. */
#define TRACED_PIECE_NS 20000000u
#define TRACED_PIECES   500000u

struct traced_thread {
    const struct trace_lane *lane;
    int32_t tid;
    char *name;
};

/* What is to be exported: a program's run, or a rank of a job. */
struct traced_process {
    const struct rows *rows;
    struct trace *trace; /* its spans' times are changed to those of the common clock */
    int32_t pid; /* of several: made up, as pids of several nodes may be equal; the first thread's number is the process's */
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
