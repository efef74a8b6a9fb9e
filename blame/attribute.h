/* Books blame at nodes of the sampled thread's tree, once it is known what the sample hit
 * (docs/accounting.md). */
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

/* Returns the node's sums; NULL if node_idx is 0 or there is no room. [handler] */
static inline struct profile_metric *attribute_at(struct tree *tree, uint32_t node_idx)
{
    return node_idx ? tree_metric(tree, node_idx) : NULL;
}

/* Returns the sums of the lock's node below this node; NULL if node_idx is 0 or there is no room. [handler] */
static inline struct profile_metric *attribute_lock_at(struct tree *tree, uint32_t node_idx, uint64_t lock_key)
{
    return node_idx ? attribute_at(tree, tree_child(tree, node_idx, PROFILE_NODE_LOCK, lock_key)) : NULL;
}

/* Adds a value to the context's bins of time: to those of the whole run, and to those of the iterations that
 * contain the context. [handler] */
static inline void attribute_time(struct tree *tree, uint32_t node_idx, uint64_t time_ns,
                                  struct profile_time_value value)
{
    time_add(tree, node_idx, time_ns, value);
}

/* Books blame at the lock's node below the context and in the context's bins of time. Returns false if there
 * is no room. [handler] */
bool attribute_blame(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                     uint64_t time_ns);

/* Books the waiting that other threads have left so far for the locks that this thread holds. It is booked at
 * the context that the thread executes now, because that context makes them wait. The waiting after the
 * thread's last sample in the section is booked at the release (LMF13, 3.1.2). [handler] */
void attribute_held(struct tree *tree, const struct state_line *line, uint32_t node_idx, uint64_t time_ns);

/* Returns true if other threads wait for a lock that the thread holds. [owner] */
bool attribute_is_held(const struct state_line *line);

/* The share of a worksharing construct that a thread is executing. */
struct work_share {
    enum { SHARE_NONE, SHARE_SINGLE, SHARE_STATIC, SHARE_DYNAMIC, SHARE_SECTIONS } kind;
    double pieces; /* number of pieces of the construct; 0: unknown */
    double team;
};

/* Splits the context's idleness by the wait places of the idle threads; the places are keys. Each idle thread
 * adds `each` (p / b) to its place. If there is no room, the idleness stays without a place. [handler] */
void attribute_places(struct tree *tree, uint32_t node_idx, double each, const struct waiting_places *places,
                      const struct work_share *share);

/* Books cores that no thread used at one moment of a sample. If the sampled thread `runs`, one of `running` threads,
 * its share goes to the context. If no thread runs, each of the `asleep` threads books an equal part in a row of its
 * own below the root. If there is no room, nothing is booked. Returns the core idleness that was booked. [handler] */
double attribute_cores(struct tree *tree, uint32_t node_idx, double p, struct census census, bool runs, uint32_t cores);

/* Sends a waiter's blame to the table, for the lock's holder. If the table is full, the blame goes to a named
 * row below the waiter's context. Returns false if there is no room for that row. [handler] */
bool attribute_waiting(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                       uint32_t holder, uint64_t time_ns);

/* Books the waiting for a lock that nobody held, in a row of its own below the waiter's context: for the lock's
 * handover, or for the next owner's missing core. Returns false if there is no room. [handler] */
bool attribute_handover(struct tree *tree, uint32_t node_idx, uint64_t lock_key, const struct lock_blame *blame,
                        bool no_core, uint64_t time_ns);

/* Books the blame that is left at the end, in rows of its own: for locks that were never released, and for
 * waiting after a lock's last release. [init] */
void attribute_rest(struct tree *tree, uint64_t time_ns);

#endif
