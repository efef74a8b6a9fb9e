/* Traces: the samples of each thread in order, which a run with BLAME_TRACE stores. */
#ifndef BLAME_COMMAND_PROFILE_TRACE_H
#define BLAME_COMMAND_PROFILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_trace.h"
#include "command/profile/profile.h"

/* Reading position in a trace chunk. At the start of a chunk, all fields except `bytes` and `have` are 0.
 * `have` may grow later. */
struct trace_stream {
    const unsigned char *bytes;
    uint32_t have, at; /* bytes that are available, in whole records, and bytes that have been read */
    bool damaged;
    uint64_t end_ns, period_ns;
    /* ns that the next record represents; 0: the record's number of samples times the period */
    uint64_t weight_ns;
    uint32_t last_node;
    uint32_t second; /* kind of the second sample in a record with two, which is returned next; 0: none */
    uint64_t table[PROFILE_TRACE_PLACES];
};

struct trace_record {
    uint64_t begin_ns, length_ns, count, pair; /* pair: PROFILE_TRACE_PAIR */
};

/* Reads the next record of samples. Returns false at the end, or if the chunk is damaged. */
bool trace_stream_next(struct trace_stream *stream, struct trace_record *record);

/* Consecutive samples of a thread with the same state and context. Nothing is known about the time between
 * two spans. */
struct trace_span {
    /* start and end of the time that the samples represent, on the clock of profile_header.start_ns */
    uint64_t begin_ns, end_ns;
    uint32_t node; /* index of the merged node; 0 for an idle thread or an unknown context */
    uint8_t state; /* enum profile_time_state */
    uint32_t samples;
};

struct trace_lane {
    uint64_t tree;
    /* index in profile.threads of the first thread that used the tree; other threads may have used the tree
     * later */
    uint32_t thread;
    uint32_t rank_record;     /* 1 + index in profile.ranks; 0: not in a job */
    struct trace_span *spans; /* spans in order of time, without overlap */
    size_t span_count;
};

struct trace {
    struct trace_lane *lanes;
    size_t lane_count;
    /* number of samples in the trace, and number of samples that the size limit removed */
    uint64_t samples, thinned;
};

/* Reads the trace in the profile's file, for the threads in the profile. If there is no trace, returns NULL
 * and writes one line, without a newline, to error[]. The traces of a job are in its ranks' files, never in
 * the merged profile. Needs 32 bytes of memory per span. If the file has grown since the profile was read, a
 * new context is replaced by its nearest caller in the profile. */
struct trace *trace_read(struct profile *profile, char *error, size_t error_bytes);

void trace_free(struct trace *trace);

#endif
