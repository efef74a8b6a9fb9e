/* Writes the trace of one tree's samples (cct/profile_trace.h). Only the tree's thread writes: its handler
 * and its callbacks, never both at once (guarantee T1).
 *
 * Samples wait in a ring until their final node is known. A region's placeholder, and the nodes below it,
 * change when the region's context becomes known (tree->moved). The runtime's own time at the start of a wait
 * is booked at the end of the wait. A sample that has waited too long is written anyway; when its node is
 * recycled, the node stays and says what it became. */
#ifndef BLAME_CCT_TIMELINE_TRACER_H
#define BLAME_CCT_TIMELINE_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_time.h"
#include "cct/profile_trace.h"
#include "cct/tree.h"

#define TRACER_RING    256u
#define TRACER_WAIT_NS 1000000000ull /* longest time that a sample waits once another follows it */

/* Stand for a node that is set later. */
#define TRACER_LATER 2u
enum tracer_later {
    TRACER_DISPATCH = -1, /* booked at the end of the wait */
    TRACER_CARRIED = -2,  /* booked when the next region is known */
};

struct tracer_run {
    uint64_t begin_ns, weight_ns, period_ns, count;
    uint32_t node;
    uint8_t state; /* enum profile_time_state */
};

struct tracer {
    struct tracer_run ring[TRACER_RING];
    uint32_t first, count;
    uint64_t cursor_ns; /* end of the samples so far */
    uint64_t period_ns;
    uint32_t later[TRACER_LATER]; /* node in the file that stands for one set later; 0: none */
    /* The written part: */
    struct profile_trace_chunk *chunk; /* last chunk; NULL: none, or there was no room */
    /* number of its chunks, the newest and the oldest; each names the next */
    uint32_t chunks, newest, oldest;
    uint32_t numbered; /* number of the last chunk */
    /* end of the samples and the period, as a reader of the chunk knows them */
    uint64_t end_ns, chunk_period_ns;
    uint32_t last_node;
    uint64_t table[PROFILE_TRACE_PLACES];
};

/* Sets the limit in bytes on the trace chunks of all trees together. [init] */
void tracer_limit(uint64_t bytes);

/* Announces the period of the next samples, which begin at begin_ns. If the previous samples end within
 * slack_ns of that time, the next ones begin where those ended. [handler] */
void tracer_begin(struct tracer *tracer, uint64_t begin_ns, uint64_t period_ns, uint64_t slack_ns);

/* Adds samples with this node and state; together they stand for `ns`. [handler] */
void tracer_add(struct tracer *tracer, struct tree *tree, uint32_t node, enum profile_time_state state, uint64_t count,
                double ns);

/* Leaves a gap of `ns` in the timeline, for time without data. [handler] */
void tracer_skip(struct tracer *tracer, double ns);

/* Sets the node of samples that were added with TRACER_DISPATCH or TRACER_CARRIED. The node may be 0 or
 * TRACER_CARRIED. [owner] */
void tracer_tell(struct tracer *tracer, struct tree *tree, enum tracer_later later, uint32_t node);

/* Discards samples added with TRACER_DISPATCH that are not written yet. [owner] */
void tracer_lose(struct tracer *tracer);

/* Follows a moved node, as tree->moved. [handler] */
void tracer_moved(struct tracer *tracer, uint32_t from, uint32_t into);

/* Writes samples that have waited. If the tree's nodes are settled, it writes all samples with a node,
 * otherwise those that have waited too long. Each call writes a few runs. [handler] */
void tracer_write(struct tracer *tracer, struct tree *tree, uint64_t now_ns, bool settled);

/* Writes all waiting samples. [owner] */
void tracer_flush(struct tracer *tracer, struct tree *tree);

#endif
