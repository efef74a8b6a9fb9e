/* Who did what in which order: the samples of each thread, as a run with BLAME_TRACE keeps them. */
#ifndef BLAME_COMMAND_PROFILE_TRACE_H
#define BLAME_COMMAND_PROFILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_trace.h"
#include "command/profile/profile.h"

/* All zero but for bytes at a chunk's begin; `have` may grow. */
struct trace_stream {
    const unsigned char *bytes;
    uint32_t have, at; /* whole records that are there, and what has been read */
    bool damaged;
    uint64_t end_ns, period_ns;
    uint64_t weight_ns; /* of the next record; 0: so many periods */
    uint32_t last_node;
    uint32_t second; /* place of a sample that the record before had, too; 0: none */
    uint64_t table[PROFILE_TRACE_PLACES];
};

struct trace_record {
    uint64_t begin_ns, length_ns, count, pair; /* pair: PROFILE_TRACE_PAIR */
};

/* The next samples; false: there are none, or it is damaged. */
bool trace_stream_next(struct trace_stream *stream, struct trace_record *record);

/* Samples in a row that found a thread in one state and context. Between spans, of a thread that lived, nothing is known. */
struct trace_span {
    uint64_t begin_ns, end_ns; /* on the clock of profile_header.start_ns: of the periods that the samples stand for */
    uint32_t node;             /* the merged node; 0 of an idle thread, and where the context is not known */
    uint8_t state;             /* enum profile_time_state */
    uint32_t samples;
};

struct trace_lane {
    uint64_t tree;
    uint32_t thread; /* index in profile.threads of the first one that had the tree; the others follow it in time */
    uint32_t rank_record;     /* 1 + index in profile.ranks; 0: no job */
    struct trace_span *spans; /* in time's order; none reaches into the next */
    size_t span_count;
};

struct trace {
    struct trace_lane *lanes;
    size_t lane_count;
    uint64_t samples, thinned; /* kept; lost to the limit */
};

/* The trace of the file that the profile was read from, of the threads that were read: NULL with one line (no newline) in error[] if there is
 * none, as in a job's merged profile: the ranks' own files have theirs. It takes 32 bytes a span. The file may have grown since: what the profile has no node for
 * has that of the nearest caller. */
struct trace *trace_read(struct profile *profile, char *error, size_t error_bytes);

void trace_free(struct trace *trace);

#endif
