#include "cct/deferred/graft.h"

#include <string.h>

#include "base/atomics.h"
#include "base/invariant.h"
#include "cct/arena.h"
#include "cct/profile_metrics.h"
#include "cct/sums.h"
#include "cct/timeline/time.h"
#include "cct/tree_valid.h"

/* cost of telling the tracer that a node moves, in moved nodes */
#define TRACE_STEPS 4u
/* searching dense bins in this many contexts costs as much as moving one node */
#define CLIMBS 8u

/* Adds the record `from` to the record `to`. The kind of their nodes determines their type. */
static void graft_add_record(enum profile_node_kind kind, void *to, const void *from)
{
    switch (kind) {
    case PROFILE_NODE_COUNTERS:
    case PROFILE_NODE_NEIGHBOURS: /* as many doubles */
        sums_add_counters(to, from);
        break;
    case PROFILE_NODE_PROBE:
        sums_add_probe(to, from);
        break;
    case PROFILE_NODE_RANKS:
        sums_add_ranks(to, from);
        break;
    case PROFILE_NODE_CORES:
        sums_add_cores(to, from);
        break;
    case PROFILE_NODE_WOKEN:
        sums_add_woken(to, from);
        break;
    default:
        sums_add(to, from);
    }
}

/* Moves the record of the node `from` to its counterpart `to`. Returns false if there is no memory. */
static bool graft_metric(struct tree *tree, uint32_t from_idx, uint32_t to_idx)
{
    struct profile_node *from = tree_node(from_idx);
    if (!from->metric)
        return true;
    if (from->kind == PROFILE_NODE_TIME) {
        time_move(tree, from_idx, to_idx);
        return true;
    }
    void *to = tree_metric(tree, to_idx), *source = arena_unit(from->metric);
    if (!to)
        return false;
    graft_add_record((enum profile_node_kind)from->kind, to, source);
    /* if this graft fails later and is repeated, the record must not be added again */
    memset(source, 0, sizeof(struct profile_metric));
    return true;
}

static inline void spend_graft_steps(uint64_t *steps, uint64_t spent)
{
    *steps -= spent < *steps ? spent : *steps;
}

static inline void graft_announce_move(struct tree *tree, uint32_t from, uint32_t into, uint64_t *steps)
{
    if (likely(!tree_node(from)->marks))
        return;
    spend_graft_steps(steps, TRACE_STEPS);
    if (tree->moved)
        tree->moved(tree, from, into);
}

/* Moves the contents of `from` and of all nodes below it to the same paths below `into`, creating missing
 * counterparts. The walk is depth first and returns by parent links on both sides, so it needs no stack. A
 * node is recycled after its last child. When a call stops early, everything that it has moved is gone, so a
 * repeated call continues where this one stopped. */
static bool graft_below(struct tree *tree, uint32_t from, uint32_t into, uint64_t *steps)
{
    if (!graft_metric(tree, from, into))
        return false;
    uint32_t at = from, target = into;
    while (*steps) {
        struct profile_node *node = tree_node(at);
        uint32_t child_idx = node->first_child;
        if (child_idx) {
            struct profile_node *child = tree_node(child_idx);
            uint32_t twin = tree_child(tree, target, (enum profile_node_kind)child->kind, child->key);
            uint32_t climbed = tree->times.climbed;
            if (!twin || !graft_metric(tree, child_idx, twin))
                return false;
            spend_graft_steps(steps, (tree->times.climbed - climbed) / CLIMBS);
            child->joined = twin == target; /* true only in a full tree */
            at = child_idx;
            target = twin;
            continue;
        }
        graft_announce_move(tree, at, target, steps);
        uint32_t parent_idx = node->parent, above = node->joined ? target : tree_node(target)->parent;
        /* because the walk is depth first, the node is always the first child of its parent */
        tree_remove(tree, at, target);
        if (at == from)
            return true;
        spend_graft_steps(steps, 1);
        at = parent_idx;
        target = above;
    }
    return false;
}

/* Returns the node without a parent above `node_idx`; 0 if parent links form a circle. */
static uint32_t graft_top_above(const struct tree *tree, uint32_t node_idx)
{
    uint32_t left = tree->entries;
    while (tree_node(node_idx)->parent && left--)
        node_idx = tree_node(node_idx)->parent;
    return tree_node(node_idx)->parent ? 0 : node_idx;
}

static bool graft_all_pending_below(uint32_t top)
{
    uint32_t at = top;
    while (true) {
        uint32_t next = tree_node(at)->first_child;
        for (; !next && at != top; at = tree_node(at)->parent)
            next = tree_node(at)->next_sibling;
        if (!next)
            return true;
        const struct profile_node *node = tree_node(next);
        if (!node->pending || node->kind == PROFILE_NODE_ROOT || node->kind == PROFILE_NODE_TRIE ||
            node->kind == PROFILE_NODE_REGION)
            return false;
        at = next;
    }
}

bool graft_is_valid(const struct tree *tree, uint32_t from, uint32_t into)
{
    const struct profile_node *placeholder = tree_node(from);
    if (!from || placeholder->kind != PROFILE_NODE_REGION || placeholder->parent || !placeholder->pending || !into)
        return false;
    uint32_t top = graft_top_above(tree, into);
    bool is_target = top == tree->root || (top && top != from && tree_node(top)->kind == PROFILE_NODE_REGION);
    return is_target && graft_all_pending_below(from);
}

/* Returns true if a debug build checks this graft by visiting the whole tree. Only grafts number 1, 2, 4, 8 ... are
 * checked, so that all checks together take linear time. */
static inline __attribute__((unused)) bool graft_is_checked(const struct tree *tree)
{
    return (tree->grafts & (tree->grafts - 1)) == 0;
}

bool tree_graft(struct tree *tree, uint32_t from, uint32_t into, uint64_t *steps)
{
    for (size_t i = 0; i < 2; i++)
        tree->last[i].base = tree->last[i].count = 0;
    tree->grafts++;
    INVARIANT(!graft_is_checked(tree) || graft_is_valid(tree, from, into));
    time_fix(&tree->times, true);
    bool done = graft_below(tree, from, into, steps);
    time_fix(&tree->times, false);
    INVARIANT(!graft_is_checked(tree) || (tree_is_valid(tree) && (done || graft_is_valid(tree, from, into))));
    return done;
}
