/* Traces: the samples of each thread in order, kept by a run with BLAME_TRACE. */
#ifndef BLAME_COMMAND_PROFILE_TRACE_H
#define BLAME_COMMAND_PROFILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_trace.h"
#include "command/profile/profile.h"

/* Position in a chunk's records. Must be zeroed at the start of a chunk, except for bytes and have; `have`
 * may grow. */
struct trace_stream {
    const unsigned char *bytes;
    uint32_t have, at; /* bytes available, in whole records; bytes read */
    bool damaged;
    uint64_t end_ns, period_ns;
    uint64_t weight_ns; /* time that the next record represents; 0: its samples times the period */
    uint32_t last_node;
    uint32_t second; /* kind of the second sample in the last record; 0: none */
    uint64_t table[PROFILE_TRACE_PLACES];
};

struct trace_record {
    uint64_t begin_ns, length_ns, count, pair; /* pair: PROFILE_TRACE_PAIR */
};

/* Reads the next samples. Returns false at the end or if the chunk is damaged. */
bool trace_stream_next(struct trace_stream *stream, struct trace_record *record);

/* Consecutive samples of a thread with the same state and context. Nothing is known about times between
 * spans. */
struct trace_span {
    /* the sampling periods that the samples represent, on the clock of profile_header.start_ns */
    uint64_t begin_ns, end_ns;
    uint32_t node; /* the merged node; 0 for an idle thread, or if the context is unknown */
    uint8_t state; /* enum profile_time_state */
    uint32_t samples;
};

struct trace_lane {
    uint64_t tree;
    /* index in profile.threads of the first thread that used the tree; the others follow in time */
    uint32_t thread;
    uint32_t rank_record;     /* 1 + index in profile.ranks; 0: no job */
    struct trace_span *spans; /* in order of time, without overlap */
    size_t span_count;
};

struct trace {
    struct trace_lane *lanes;
    size_t lane_count;
    uint64_t samples, thinned; /* samples in the trace, and samples lost to the size limit */
};

/* Reads the trace of the profile's file, for the threads in the profile. Returns NULL with one line, without
 * newline, in error[] if there is none; a job's merged profile has none, as its traces are in the ranks'
 * files. Needs 32 bytes a span. The file may have grown since the profile was read; contexts that are new
 * since then become their nearest known caller. */
struct trace *trace_read(struct profile *profile, char *error, size_t error_bytes);

void trace_free(struct trace *trace);

#endif
