/* The trace of one tree's samples as it is written (cct/profile_trace.h), by the thread that the tree belongs to: its handler and its
 * callbacks, never both at once (guarantee T1).
 *
 * Samples wait in a ring until their node is the one that stays: a region's placeholder, and what hangs below, is another when the region's context is
 * known (tree->moved), and the runtime's own time at a wait's begin is booked at the wait's end. One that has waited for too long
 * is written all the same; its node, when it is recycled, stays to say what it became. */
#ifndef BLAME_CCT_TIMELINE_TRACER_H
#define BLAME_CCT_TIMELINE_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_time.h"
#include "cct/profile_trace.h"
#include "cct/tree.h"

#define TRACER_RING    256u
#define TRACER_WAIT_NS 1000000000ull /* no sample waits longer, once there is another */

/* In a node's place, of samples whose node is told later. */
#define TRACER_LATER 2u
enum tracer_later {
    TRACER_DISPATCH = -1, /* booked when the wait ends */
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
    uint64_t cursor_ns; /* where the samples so far end */
    uint64_t period_ns;
    uint32_t later[TRACER_LATER]; /* the node that stands in the file for one that is told later; 0: none does */
    /* What has been written: */
    struct profile_trace_chunk *chunk; /* the last; NULL: none, or there was no room */
    uint32_t chunks, newest, oldest;   /* its chunks, by number; each says which comes behind it */
    uint32_t numbered;                 /* number of the last */
    uint64_t end_ns, chunk_period_ns;  /* as a reader of the chunk has them */
    uint32_t last_node;
    uint64_t table[PROFILE_TRACE_PLACES];
};

/* So many bytes of chunks are there for the traces of all trees together. [init] */
void tracer_limit(uint64_t bytes);

/* The samples that come now are of periods that begin then; where those before them end as near as slack_ns to that, they go on from
 * there. [handler] */
void tracer_begin(struct tracer *tracer, uint64_t begin_ns, uint64_t period_ns, uint64_t slack_ns);

/* So many samples, which stand for so long in all, found that. [handler] */
void tracer_add(struct tracer *tracer, struct tree *tree, uint32_t node, enum profile_time_state state, uint64_t count,
                double ns);

/* Of so long nothing is known. [handler] */
void tracer_skip(struct tracer *tracer, double ns);

/* The node of samples that were added with TRACER_DISPATCH or TRACER_CARRIED: it may be 0, or TRACER_CARRIED. [owner] */
void tracer_tell(struct tracer *tracer, struct tree *tree, enum tracer_later later, uint32_t node);

/* What was added with TRACER_DISPATCH, and is not written, is lost. [owner] */
void tracer_lose(struct tracer *tracer);

/* As tree->moved. [handler] */
void tracer_moved(struct tracer *tracer, uint32_t from, uint32_t into);

/* Writes what has waited: all that has its node, if no node of the tree will be moved any more; else what has waited for too
 * long. A few runs at a time. [handler] */
void tracer_write(struct tracer *tracer, struct tree *tree, uint64_t now_ns, bool settled);

/* Writes all that waits. [owner] */
void tracer_flush(struct tracer *tracer, struct tree *tree);

#endif
