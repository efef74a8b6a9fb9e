/* Where blame is booked, once it is known what a sample hit: nodes of the sampled thread's tree (design: docs/accounting.md).
 */
#ifndef BLAME_BLAME_ATTRIBUTE_H
#define BLAME_BLAME_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blame/directed.h"
#include "blame/state.h"
#include "cct/profile_time.h"
#include "cct/profile_tree.h"
#include "cct/timeline/time.h"
#include "cct/tree.h"

struct profile_metric;

/* The sums of a node; NULL for node 0, or without room. [handler] */
static inline struct profile_metric *attribute_at(struct tree *tree, uint32_t node_idx)
{
    return node_idx ? tree_metric(tree, node_idx) : NULL;
}

/* The same of a lock below the node. [handler] */
static inline struct profile_metric *attribute_lock_at(struct tree *tree, uint32_t node_idx, uint64_t lock_key)
{
    return node_idx ? attribute_at(tree, tree_child(tree, node_idx, PROFILE_NODE_LOCK, lock_key)) : NULL;
}

/* The context has so much at that moment: of the run, and of the iterations that it is in. [handler] */
static inline void attribute_time(struct tree *tree, uint32_t node_idx, uint64_t time_ns,
                                  struct profile_time_value value)
{
    time_add(tree, node_idx, time_ns, value);
}

/* Blame that arrives at a context at that time: at the lock below it, and in the context's own bins. False without room. [handler] */
bool attribute_blame(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                     uint64_t time_ns);

/* Waiting that has gathered for what the thread with that line holds: the context that it executes now keeps the others
 * waiting. What gathers after its last sample in the section is left to the release (LMF13, 3.1.2). [handler] */
void attribute_held(struct tree *tree, const struct state_line *line, uint32_t node_idx, uint64_t time_ns);

/* Whether others wait for what it holds. [owner] */
bool attribute_is_held(const struct state_line *line);

/* A worksharing construct that a thread executes its share of. */
struct work_share {
    enum { SHARE_NONE, SHARE_SINGLE, SHARE_STATIC, SHARE_DYNAMIC } kind;
    double pieces; /* 0: not known */
    double team;
};

/* The context's idleness once more, by where the idle threads waited (places as keys): each of them that waits for that cause p / b. Without room it
 * is idleness whose place is not known. [handler] */
void attribute_places(struct tree *tree, uint32_t node_idx, double each, const struct waiting_places *places,
                      enum state_cause cause, const struct work_share *share);

/* Where a waiter's blame goes: to the table for the holder; to a named row below the waiter's context when nobody holds the
 * lock (handoff: not the next holder's doing) or the table is full. False without room for that. [handler] */
bool attribute_waiting(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                       uint32_t holder, uint64_t time_ns);

/* At the end: blame on locks that nobody released, and what came after the last release, in rows of their own. [init] */
void attribute_rest(struct tree *tree, uint64_t time_ns);

#endif
