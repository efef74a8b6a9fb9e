#include "cct/tree_valid.h"

#include <stddef.h>

#include "base/atomics.h"
#include "cct/arena.h"
#include "cct/profile_format.h"
#include "cct/profile_metrics.h"
#include "cct/profile_time.h"

/* What the chunks of a tree contain. */
struct contents {
    uint32_t children;     /* number of nodes that have a parent */
    uint32_t free_nodes;   /* number of recycled nodes */
    uint32_t records;      /* number of nodes' records in chunks of kind TREE */
    uint32_t record_units; /* number of units of all records in these chunks, recycled records included */
};

/* Returns the chunk if it is of this kind and belongs to the tree; otherwise NULL. */
static const struct profile_chunk *tree_chunk_of_kind(const struct tree *tree, uint32_t chunk_no,
                                                      enum profile_chunk_kind kind)
{
    const struct profile_chunk *chunk =
        chunk_no < load_relaxed(&arena_header()->chunk_count) ? arena_unit(chunk_no * PROFILE_UNITS_PER_CHUNK) : NULL;
    return chunk && chunk->kind == kind && chunk->owner == tree->number ? chunk : NULL;
}

static bool is_node_of_tree(const struct tree *tree, uint32_t node_idx)
{
    const struct profile_chunk *chunk =
        tree_chunk_of_kind(tree, node_idx / PROFILE_UNITS_PER_CHUNK, PROFILE_CHUNK_TREE);
    uint32_t unit = node_idx % PROFILE_UNITS_PER_CHUNK;
    return chunk && unit > 0 && unit < chunk->used;
}

static bool tree_node_is_in_use(const struct tree *tree, uint32_t node_idx)
{
    return is_node_of_tree(tree, node_idx) && tree_node(node_idx)->kind != PROFILE_NODE_FREE &&
           tree_node(node_idx)->kind != PROFILE_NODE_MOVED;
}

static bool is_record_of_tree(const struct tree *tree, uint32_t unit_idx)
{
    const struct profile_chunk *chunk =
        tree_chunk_of_kind(tree, unit_idx / PROFILE_UNITS_PER_CHUNK, PROFILE_CHUNK_TREE);
    uint32_t unit = unit_idx % PROFILE_UNITS_PER_CHUNK;
    return chunk && unit >= chunk->metric_unit && (PROFILE_UNITS_PER_CHUNK - unit) % 2 == 0;
}

/* Returns true if the unit is the first of dense bins or of a lane. */
static bool is_time_of_tree(const struct tree *tree, uint32_t unit_idx)
{
    const struct profile_chunk *chunk =
        tree_chunk_of_kind(tree, unit_idx / PROFILE_UNITS_PER_CHUNK, PROFILE_CHUNK_TIME);
    return chunk && unit_idx % PROFILE_UNITS_PER_CHUNK < chunk->used;
}

static bool tree_sums_are_not_negative(const double *sums, size_t count)
{
    size_t i = 0;
    while (i < count && sums[i] >= 0)
        i++;
    return i == count;
}

static bool tree_sums_are_valid(enum profile_node_kind kind, const void *record)
{
    const struct profile_metric *metric = record;
    const struct profile_probe *probe = record;
    const struct profile_waits *waits = record;
    const struct profile_idle *idle = record;
    switch (kind) {
    case PROFILE_NODE_COUNTERS:
        return tree_sums_are_not_negative(((const struct profile_counters *)record)->value, PROFILE_COUNTERS);
    case PROFILE_NODE_PROBE:
        return probe->inclusive_ns >= 0 && probe->sum_of_squares >= 0;
    case PROFILE_NODE_RANKS:
        return tree_sums_are_not_negative(record, 5);
    case PROFILE_NODE_CORES:
        return tree_sums_are_not_negative(record, 3);
    case PROFILE_NODE_WOKEN:
        return tree_sums_are_not_negative(record, 2);
    case PROFILE_NODE_WAITS:
    case PROFILE_NODE_INITIALISER:
        return waits->longest_ns >= 0 && waits->sum_ns >= waits->longest_ns;
    case PROFILE_NODE_WAITERS:
        return tree_sums_are_not_negative(&idle->loops, 6);
    case PROFILE_NODE_NEIGHBOURS: /* a variance's estimate may be negative */
        return true;
    default:
        return tree_sums_are_not_negative(&metric->work, 6) && metric->idle_beside >= 0;
    }
}

static bool is_record_valid(const struct tree *tree, const struct profile_node *node, struct contents *contents)
{
    if (!node->metric)
        return true;
    if (is_time_of_tree(tree, node->metric))
        return node->kind == PROFILE_NODE_TIME || node->kind == PROFILE_NODE_LANE;
    contents->records++;
    return is_record_of_tree(tree, node->metric) && node->kind != PROFILE_NODE_LANE &&
           (node->kind == PROFILE_NODE_TIME ||
            tree_sums_are_valid((enum profile_node_kind)node->kind, arena_unit(node->metric)));
}

static bool is_node_valid(const struct tree *tree, uint32_t node_idx, struct contents *contents)
{
    const struct profile_node *node = tree_node(node_idx);
    if (node->kind == PROFILE_NODE_FREE) {
        contents->free_nodes++;
        return true;
    }
    if (node->kind == PROFILE_NODE_MOVED)
        return is_node_of_tree(tree, (uint32_t)node->key) && tree_node((uint32_t)node->key)->kind != PROFILE_NODE_FREE;
    if (!is_record_valid(tree, node, contents))
        return false;
    if (node->parent) {
        contents->children++;
        return tree_node_is_in_use(tree, node->parent) && node->pending == tree_node(node->parent)->pending;
    }
    return node_idx == tree->root || node_idx == tree->trie ? !node->pending
                                                            : node->kind == PROFILE_NODE_REGION && node->pending;
}

/* Returns true if all nodes are valid on their own. Counts what the tree's chunks contain. */
static bool tree_nodes_are_valid(const struct tree *tree, struct contents *contents)
{
    for (uint32_t n = 0; n < load_relaxed(&arena_header()->chunk_count); n++) {
        const struct profile_chunk *chunk = tree_chunk_of_kind(tree, n, PROFILE_CHUNK_TREE);
        if (!chunk)
            continue;
        if (chunk->used > chunk->metric_unit)
            return false;
        contents->record_units += PROFILE_UNITS_PER_CHUNK - chunk->metric_unit;
        for (uint32_t unit = 1; unit < chunk->used; unit++)
            if (!is_node_valid(tree, n * PROFILE_UNITS_PER_CHUNK + unit, contents))
                return false;
    }
    return true;
}

/* Visits the nodes below `top` through the lists of children, and subtracts their number from *left. Returns
 * false if a node names another parent, or if more than *left nodes are reached, as in a circle. */
static bool tree_lists_are_valid(const struct tree *tree, uint32_t top, uint32_t *left)
{
    uint32_t at = top;
    while (true) {
        uint32_t parent = at, next = tree_node(at)->first_child;
        while (!next && at != top) { /* `at` was a last child: go up to a node that has a next sibling */
            next = tree_node(at)->next_sibling;
            at = parent = tree_node(at)->parent;
        }
        if (!next)
            return true;
        if (!tree_node_is_in_use(tree, next) || tree_node(next)->parent != parent || *left == 0)
            return false;
        if (tree_node(top)->kind == PROFILE_NODE_TRIE && tree_node(next)->metric)
            return false;
        --*left;
        at = next;
    }
}

/* Returns the number of nodes in the bucket; TREE_CHAIN_MOST + 1 if it is too long or has a node that is not in
 * use. */
static uint32_t tree_bucket_length(const struct tree *tree, uint32_t node_idx)
{
    uint32_t length = 0;
    for (; node_idx && length <= TREE_CHAIN_MOST; node_idx = tree_node(node_idx)->hash_next)
        length = tree_node_is_in_use(tree, node_idx) && tree_node(node_idx)->parent ? length + 1 : TREE_CHAIN_MOST + 1;
    return length;
}

/* Returns true if no bucket is too long, and the buckets together contain as many nodes as the tree counts. */
static bool tree_buckets_are_valid(const struct tree *tree)
{
    uint32_t entries = 0, number = 0;
    if (tree->buckets < tree->level_size || tree->buckets >= 2 * tree->level_size)
        return false;
    for (uint32_t segment = 0; number < tree->buckets; segment++) {
        uint32_t size = segment ? TREE_FIRST_SEGMENT << (segment - 1) : TREE_FIRST_SEGMENT;
        for (uint32_t i = 0; i < size && number < tree->buckets; i++, number++) {
            uint32_t length = tree_bucket_length(tree, tree->segments[segment][i]);
            if (length > TREE_CHAIN_MOST)
                return false;
            entries += length;
        }
    }
    return entries == tree->entries;
}

/* Returns true if tree_find() finds the node: it is in its bucket, and no other node has its parent, kind and
 * key. The buckets must be valid. */
static bool tree_finds_node(const struct tree *tree, uint32_t node_idx)
{
    const struct profile_node *node = tree_node(node_idx);
    return tree_find(tree, node->parent, (enum profile_node_kind)node->kind, node->key) == node_idx;
}

/* Returns true if all nodes that have a parent are found, and are in the lists of children. */
static bool tree_nodes_are_reached(const struct tree *tree, const struct contents *contents)
{
    uint32_t left = contents->children;
    for (uint32_t n = 0; n < load_relaxed(&arena_header()->chunk_count); n++) {
        const struct profile_chunk *chunk = tree_chunk_of_kind(tree, n, PROFILE_CHUNK_TREE);
        for (uint32_t unit = 1; chunk && unit < chunk->used; unit++) {
            uint32_t node_idx = n * PROFILE_UNITS_PER_CHUNK + unit;
            if (!tree_node_is_in_use(tree, node_idx))
                continue;
            if (tree_node(node_idx)->parent ? !tree_finds_node(tree, node_idx)
                                            : !tree_lists_are_valid(tree, node_idx, &left))
                return false;
        }
    }
    return left == 0;
}

/* Returns true if the free lists contain all recycled nodes, and no more records than the chunks have. */
static bool tree_free_lists_are_valid(const struct tree *tree, const struct contents *contents)
{
    uint32_t nodes = 0, records = contents->records, most = contents->record_units / 2;
    for (uint32_t idx = tree->free_nodes; idx; idx = tree_node(idx)->hash_next)
        if (!is_node_of_tree(tree, idx) || tree_node(idx)->kind != PROFILE_NODE_FREE || nodes++ == contents->free_nodes)
            return false;
    for (uint32_t idx = tree->free_metrics; idx; idx = *(const uint32_t *)arena_unit(idx))
        if (!is_record_of_tree(tree, idx) || records++ >= most)
            return false;
    return nodes == contents->free_nodes && records <= most;
}

static bool tree_times_are_valid(const struct tree *tree)
{
    const struct times *times = &tree->times;
    if (times->used > times->made || times->made > TIME_DENSE)
        return false;
    /* without a lane, the root's dense bins do not belong to a node yet */
    for (uint32_t place = times->lane_ns ? 0 : 1; place < times->used; place++) {
        if (!is_time_of_tree(tree, times->dense[place]))
            return false;
        const struct profile_bins *bins = arena_unit(times->dense[place]);
        if (bins->form != PROFILE_TIME_DENSE || bins->place != place || !tree_node_is_in_use(tree, bins->node) ||
            tree_node(bins->node)->kind != PROFILE_NODE_TIME || tree_node(bins->node)->metric != times->dense[place])
            return false;
    }
    return true;
}

static bool tree_last_path_is_valid(const struct tree *tree, const struct tree_last *last)
{
    uint32_t above = last->base;
    for (uint32_t i = 0; i < last->count; i++) {
        uint32_t idx = last->nodes[i];
        /* in a full tree, a call may have the same node <tree full> as the call above it */
        if (i >= TREE_LAST_FRAMES || !tree_node_is_in_use(tree, idx) ||
            (idx != above && tree_node(idx)->parent != above))
            return false;
        above = idx;
    }
    return true;
}

bool tree_is_valid(const struct tree *tree)
{
    struct contents contents = {0};
    return tree_node_is_in_use(tree, tree->root) && tree_node(tree->root)->kind == PROFILE_NODE_ROOT &&
           tree_node_is_in_use(tree, tree->trie) && tree_node(tree->trie)->kind == PROFILE_NODE_TRIE &&
           tree_nodes_are_valid(tree, &contents) && contents.children == tree->entries &&
           tree_buckets_are_valid(tree) && tree_nodes_are_reached(tree, &contents) &&
           tree_free_lists_are_valid(tree, &contents) && tree_times_are_valid(tree) &&
           tree_last_path_is_valid(tree, &tree->last[0]) && tree_last_path_is_valid(tree, &tree->last[1]);
}
