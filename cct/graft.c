#include "cct/graft.h"

#include <string.h>

#include "base/atomics.h"
#include "cct/arena.h"
#include "cct/sums.h"
#include "cct/time.h"

/* What stands in a metric's place depends on the node's kind. */
static void add_record(enum profile_node_kind kind, void *to, const void *from)
{
    switch (kind) {
    case PROFILE_NODE_COUNTERS:
        sums_add_counters(to, from);
        break;
    case PROFILE_NODE_PROBE:
        sums_add_probe(to, from);
        break;
    case PROFILE_NODE_RANKS:
        sums_add_ranks(to, from);
        break;
    default:
        sums_add(to, from);
    }
}

/* Moves one node's metrics to its counterpart. */
static bool move_metric(struct tree *tree, uint32_t from_idx, uint32_t to_idx)
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
    add_record((enum profile_node_kind)from->kind, to, source);
    memset(source, 0,
           sizeof(struct profile_metric)); /* a second visit after a failure must not add it again */
    return true;
}

static inline void tell(struct tree *tree, uint32_t from, uint32_t into)
{
    if (likely(!tree_node(from)->marks))
        return;
    for (uint32_t i = 0; i < TREE_TOLD; i++)
        if (tree->moved[i])
            tree->moved[i](tree, from, into);
}

/* Walks `from` depth first, in step with its counterpart below `into`; both find their way back by parents,
 * so no stack is needed. A node is recycled when its last child has gone. */
static bool graft(struct tree *tree, uint32_t from, uint32_t into)
{
    if (!move_metric(tree, from, into))
        return false;
    uint32_t at = from, target = into;
    for (;;) {
        struct profile_node *node = tree_node(at);
        uint32_t child_idx = node->first_child;
        if (child_idx) {
            struct profile_node *child = tree_node(child_idx);
            uint32_t twin = tree_child(tree, target, (enum profile_node_kind)child->kind, child->key);
            if (!twin || !move_metric(tree, child_idx, twin))
                return false;
            child->joined = twin == target; /* the tree is full */
            at = child_idx;
            target = twin;
            continue;
        }
        if (at == from)
            break;
        tell(tree, at, target);
        uint32_t parent_idx = node->parent, above = node->joined ? target : tree_node(target)->parent;
        tree_remove(tree, at, target); /* always the first child: depth first */
        at = parent_idx;
        target = above;
    }
    tell(tree, from, into);
    tree_remove(tree, from, into);
    return true;
}

bool tree_graft(struct tree *tree, uint32_t from, uint32_t into)
{
    for (size_t i = 0; i < 2; i++)
        tree->last[i].base = tree->last[i].count = 0;
    tree->grafts++;
    time_fix(&tree->times, true);
    bool done = graft(tree, from, into);
    time_fix(&tree->times, false);
    return done;
}
