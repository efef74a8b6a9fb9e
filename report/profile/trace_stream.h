/* The records of one chunk of a trace (cct/profile_trace.h), which may come from anywhere. */
#ifndef BLAME_REPORT_PROFILE_TRACE_STREAM_H
#define BLAME_REPORT_PROFILE_TRACE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_trace.h"

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

#endif
