/* Writes the trace of one tree's samples (cct/profile_trace.h). Only the tree's thread writes: its handler
 * and its callbacks, never both at once (guarantee T1). A run is a sequence of samples with the same node and
 * state.
 *
 * Samples wait in a ring until their final node is known. A placeholder and the nodes below it move when the
 * region's context becomes known (tree->moved). The runtime's own time at the start of a wait is booked at
 * the end of the wait. A sample that has waited for TRACER_WAIT_NS is written with its present node. When
 * that node is recycled, it becomes PROFILE_NODE_MOVED and names the node to which its contents moved. */
#ifndef BLAME_CCT_TIMELINE_TRACER_H
#define BLAME_CCT_TIMELINE_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_time.h"
#include "cct/profile_trace.h"
#include "cct/tree.h"

#define TRACER_RING    256u
#define TRACER_WAIT_NS 1000000000ull /* ns after which a run is written even if it may still change */

/* Stand-ins for nodes that are not yet known; tracer_tell() replaces them. */
#define TRACER_LATER 2u
enum tracer_later {
    /* for the runtime's time at the start of a wait, which is booked at the end of the wait */
    TRACER_DISPATCH = -1,
    TRACER_CARRIED = -2, /* for time that is booked when the thread's next region is known */
};

struct tracer_run {
    uint64_t begin_ns, weight_ns, period_ns, count;
    uint32_t node;
    uint8_t state; /* enum profile_time_state */
};

struct tracer {
    struct tracer_run ring[TRACER_RING];
    uint32_t first, count;
    uint64_t cursor_ns; /* end of the last sample that was added */
    uint64_t period_ns;
    /* for each stand-in, the node that the trace names in its place; 0: none yet */
    uint32_t later[TRACER_LATER];
    /* The next fields describe what has been written. */
    struct profile_trace_chunk *chunk; /* chunk being filled; NULL: none yet, or there was no room */
    /* number of the tree's chunks, and the chunk_no of the newest and of the oldest; profile_trace_chunk.next
     * leads from a chunk to the next newer one */
    uint32_t chunks, newest, oldest;
    uint32_t numbered; /* profile_trace_chunk.number of the chunk that was begun last */
    /* end of the last sample, and length of the period, as a reader of the chunk would compute them */
    uint64_t end_ns, chunk_period_ns;
    uint32_t last_node;
    uint64_t table[PROFILE_TRACE_PLACES];
};

/* Sets the maximum total size of all trees' trace chunks in bytes. [init] */
void tracer_limit(uint64_t bytes);

/* Sets the start and the period of the next samples. If the previous sample ended within slack_ns of
 * begin_ns, the next one begins at that end instead. [handler] */
void tracer_begin(struct tracer *tracer, uint64_t begin_ns, uint64_t period_ns, uint64_t slack_ns);

/* Adds `count` samples with this node and state, which represent `ns` in total. [handler] */
void tracer_add(struct tracer *tracer, struct tree *tree, uint32_t node, enum profile_time_state state, uint64_t count,
                double ns);

/* Leaves a gap of `ns`, for a time without samples. [handler] */
void tracer_skip(struct tracer *tracer, double ns);

/* Sets the node of all samples that were added with this stand-in. `node` may be 0 or TRACER_CARRIED. [owner] */
void tracer_tell(struct tracer *tracer, struct tree *tree, enum tracer_later later, uint32_t node);

/* Discards those samples added with TRACER_DISPATCH that have not been written yet. [owner] */
void tracer_lose(struct tracer *tracer);

/* Changes the node of waiting samples from `from`, which is about to be recycled, to `into`. Called through
 * tree->moved. [handler] */
void tracer_moved(struct tracer *tracer, uint32_t from, uint32_t into);

/* Writes up to 32 runs. `settled` says that the tree's nodes will not move any more; all runs with a known
 * node are then written, otherwise only runs that have waited for TRACER_WAIT_NS. [handler] */
void tracer_write(struct tracer *tracer, struct tree *tree, uint64_t now_ns, bool settled);

/* Writes all samples in the ring. [owner] */
void tracer_flush(struct tracer *tracer, struct tree *tree);

#endif
