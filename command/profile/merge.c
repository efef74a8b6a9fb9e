/* The file may come from a process that was killed at any time, or from an untrusted source. Every index is
 * therefore checked before use, and nodes whose path to a root is broken or circular are left out.
 * The node map has one entry for each node of the file: the merged node that receives the node's sums, or
 * MAP_SKIP. A node's entry depends on its parent's. Ancestors without an entry therefore go on a stack and
 * are mapped from the outermost inward. */
#include "command/profile/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cct/sums.h"
#include "command/profile/balance.h"
#include "command/profile/mapped.h"
#include "command/profile/node_tree.h"
#include "command/profile/probes.h"
#include "command/profile/spread.h"
#include "command/profile/timeline_read.h"
#include "command/profile/wakes.h"
#include "command/text/memory.h"

enum {
    MAP_UNKNOWN = 0,
    MAP_IN_PROGRESS = 1, /* the node is on the stack; meeting the node again means a cycle */
    MAP_SKIP = 2,
    MAP_MERGED = PROFILE_MAP_MERGED, /* MAP_MERGED + i means merged node i */
};

struct merge {
    const struct profile_chunks *chunks;
    struct profile *profile;
    uint32_t *node_map; /* entry of each node of the file, by node_idx */
    uint32_t *stack;
    size_t stack_count, stack_capacity;
    struct node_tree tree;
    /* whether a merged node, by its index, may have no children; looking at the node itself takes much longer, because nodes
     * are large */
    bool *leaf;
    size_t leaf_room;
};

void (*profile_read_progress)(size_t done, size_t total);

static bool profile_merge_node_is_leaf(const struct merge *merge, uint32_t merged)
{
    return merged < merge->leaf_room && merge->leaf[merged];
}

static void profile_merge_note_leaf(struct merge *merge, uint32_t merged)
{
    if (merged >= merge->leaf_room) {
        size_t room = 2 * ((size_t)merged + 1);
        merge->leaf = memory_check(realloc(merge->leaf, room));
        memset(merge->leaf + merge->leaf_room, 0, room - merge->leaf_room);
        merge->leaf_room = room;
    }
    merge->leaf[merged] = true;
}

/* Returns the child of this kind and key. */
static uint32_t profile_merge_child(struct merge *merge, uint32_t parent, const struct profile_node *node)
{
    uint32_t child = node_tree_child(&merge->tree, parent, node->kind, node->key);
    if (node->kind == PROFILE_NODE_LOCK || node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS)
        profile_merge_note_leaf(merge, child);
    return child;
}

static bool profile_merge_node_is_pseudo(uint8_t kind, uint64_t key, enum profile_pseudo pseudo)
{
    return kind == PROFILE_NODE_PSEUDO && key == pseudo;
}

/* Returns the node map's entry for a node. parent: the parent's entry, MAP_SKIP if the parent is invalid. */
static uint32_t profile_merge_map_one(struct merge *merge, const struct profile_node *node, uint32_t parent)
{
    switch (node->kind) {
    case PROFILE_NODE_ROOT:
        return node->parent == 0 ? MAP_MERGED : MAP_SKIP;
    case PROFILE_NODE_REGION: {
        if (node->parent != 0)
            return MAP_SKIP;
        uint32_t at = node_tree_child(&merge->tree, 0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNRESOLVED);
        if (node->key != 0)
            at = node_tree_child(&merge->tree, at, PROFILE_NODE_FRAME, node->key);
        return MAP_MERGED + at;
    }
    case PROFILE_NODE_FRAME:
    case PROFILE_NODE_HOLDER:
    case PROFILE_NODE_RUNTIME:
    case PROFILE_NODE_MPI:
    case PROFILE_NODE_LOCK:
    case PROFILE_NODE_PSEUDO:
    case PROFILE_NODE_WAITERS:
    case PROFILE_NODE_RANKS:
    case PROFILE_NODE_PHASE:
    case PROFILE_NODE_EVENT:
    case PROFILE_NODE_PARAMETER:
        if (parent == MAP_SKIP || profile_merge_node_is_leaf(merge, parent - MAP_MERGED))
            return MAP_SKIP;
        if (profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_BLOCKED))
            return parent;
        return MAP_MERGED + profile_merge_child(merge, parent - MAP_MERGED, node);
    case PROFILE_NODE_CORES: /* parts of their parents' sums */
    case PROFILE_NODE_NEIGHBOURS:
        return parent;
    case PROFILE_NODE_INSTANCE:
        if (parent == MAP_SKIP || merge->profile->nodes[parent - MAP_MERGED].kind != PROFILE_NODE_PHASE)
            return MAP_SKIP;
        return MAP_MERGED + node_tree_child(&merge->tree, parent - MAP_MERGED, node->kind, node->key);
    /* a recycled node, a node of the tree of region contexts, or a kind that this version does not know */
    default:
        return MAP_SKIP;
    }
}

static void profile_merge_push(struct merge *merge, uint32_t node_idx)
{
    memory_grow(&merge->stack, &merge->stack_capacity, merge->stack_count, sizeof *merge->stack);
    merge->stack[merge->stack_count++] = node_idx;
    merge->node_map[node_idx] = MAP_IN_PROGRESS;
}

static uint32_t profile_merge_map_node(struct merge *merge, uint32_t node_idx)
{
    uint32_t mapped = MAP_SKIP;
    for (uint32_t at = node_idx; at / PROFILE_UNITS_PER_CHUNK < merge->chunks->count;) {
        /* Before the node itself is looked at, which takes longer: only nodes have an entry. */
        if (merge->node_map[at] != MAP_UNKNOWN) {
            if (merge->node_map[at] != MAP_IN_PROGRESS)
                mapped = merge->node_map[at];
            break;
        }
        const struct profile_node *node = profile_node_at(merge->chunks, at);
        if (!node)
            break;
        profile_merge_push(merge, at);
        if (node->parent == 0 || node->kind == PROFILE_NODE_FREE)
            break;
        at = node->parent;
    }
    while (merge->stack_count) {
        uint32_t at = merge->stack[--merge->stack_count];
        mapped = profile_merge_map_one(merge, profile_node_at(merge->chunks, at), mapped);
        merge->node_map[at] = mapped;
    }
    return mapped;
}

static bool profile_merge_ranks_sane(const struct profile_ranks *ranks)
{
    const double sums[] = {ranks->blame, ranks->named, ranks->wall, ranks->waited, ranks->squares};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (!profile_number_sane(sums[i]) || sums[i] < 0)
            return false;
    return true;
}

static bool profile_merge_cores_sane(const struct profile_cores *cores)
{
    return profile_number_sane(cores->idle) && profile_number_sane(cores->beyond) && cores->idle >= 0 &&
           cores->beyond >= 0 && profile_number_sane(cores->squares) && cores->squares >= 0;
}

/* They are squares of times, and floats hold their sums. */
static bool profile_merge_neighbours_sane(const struct profile_neighbours *neighbours)
{
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_EACH; i++)
        if (!profile_number_sane(1e6 * sqrt(fabs(neighbours->variance[i]))))
            return false;
    return true;
}

static bool profile_merge_metric_sane(const struct profile_node *node, const struct profile_metric *metric)
{
    if (node->kind == PROFILE_NODE_RANKS)
        return profile_merge_ranks_sane((const void *)metric);
    if (node->kind == PROFILE_NODE_CORES)
        return profile_merge_cores_sane((const void *)metric);
    if (node->kind == PROFILE_NODE_NEIGHBOURS)
        return profile_merge_neighbours_sane((const void *)metric);
    /* In a `<no core>` node, `overhead` may be negative. It is minus the time whose inverse_busy belongs to
     * the parent. */
    double least = profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_NO_CORE) ? -metric->work - 1 : 0;
    return profile_number_sane(metric->work) && profile_number_sane(metric->overhead) &&
           profile_number_sane(metric->lock_wait) && profile_number_sane(metric->inverse_busy) &&
           profile_number_sane(metric->shared_idle) && profile_number_sane(metric->lock_wait_here) &&
           profile_number_sane((double)metric->idle_beside) && metric->work >= 0 && metric->overhead >= least &&
           metric->lock_wait >= 0 && metric->inverse_busy >= 0 && metric->lock_wait_here >= 0;
}

/* Adds a node's record to the sums of its merged node and of its tree. A `<no core>` node also changes its parent's
 * sums. */
static void profile_merge_metric(struct merge *merge, const struct profile_node *node, uint32_t merged,
                                 const struct profile_metric *metric, uint32_t owner)
{
    struct merged_node *nodes = merge->profile->nodes;
    struct profile_tree_set *set =
        merge->profile->tree_sets ? &merge->profile->tree_sets[owner % PROFILE_TREE_SETS] : NULL;
    uint64_t trees = set ? 1ull << owner % PROFILE_TREE_SETS : 0;
    /* For nearly all nodes, the other fields are 0. */
    if (node->kind == PROFILE_NODE_FRAME || node->kind == PROFILE_NODE_WAITERS) {
        sums_add(&nodes[merged].metric.metric, metric);
        nodes[merged].metric.trees |= trees;
        if (set && node->kind == PROFILE_NODE_FRAME)
            sums_add(&set->sums.metric, metric);
        return;
    }
    struct profile_sums sums = {.metric = *metric, .trees = trees};
    if (node->kind == PROFILE_NODE_RANKS) {
        sums = profile_sums_of_ranks((const void *)metric);
        sums.trees = trees;
    } else if (node->kind == PROFILE_NODE_CORES) {
        const struct profile_cores *cores = (const void *)metric;
        sums = (struct profile_sums){
            .core_idle = cores->idle, .core_beyond = cores->beyond, .core_squares = cores->squares, .trees = trees};
    } else if (profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_BLOCKED) ||
               profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_STOPPED)) {
        sums.blocked = sums.work;
        sums.blocked_idle = sums.shared_idle;
        sums.work = 0;
    } else if (node->kind == PROFILE_NODE_MPI) {
        sums.mpi_wait = sums.work;
        sums.mpi_calls = sums.waits;
        sums.mpi_ranks = sums.overhead;
        sums.mpi_bytes = sums.lock_wait_here;
        sums.work = sums.overhead = sums.lock_wait_here = sums.waits = 0;
    } else if (profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_NO_CORE)) {
        /* own time of the parent that inverse_busy counts in this node */
        sums.no_core = sums.work;
        sums.own_elsewhere = -sums.overhead;
        nodes[nodes[merged].parent].metric.own_elsewhere += sums.overhead;
        sums.work = sums.overhead = 0;
    }
    profile_sums_add(&nodes[merged].metric, &sums);
    sums.own_elsewhere = 0; /* it is in another node of the same tree */
    if (set)
        profile_sums_add(&set->sums, &sums);
}

static void profile_merge_neighbours(struct profile *profile, uint64_t record, const struct profile_neighbours *from,
                                     uint32_t owner)
{
    size_t first = record * PROFILE_NEIGHBOURS_EACH;
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_EACH && first + i < PROFILE_NEIGHBOURS_SUMS; i++) {
        profile->variance[first + i] += from->variance[i];
        if (profile->tree_sets)
            profile->tree_sets[owner % PROFILE_TREE_SETS].variance[first + i] += from->variance[i];
    }
    profile->has_variance[record] = true;
}

/* Adds what is known of the stays in the context `below`. Idle cores during sleep are in the row <no thread ran>. */
static void profile_merge_stays(struct merge *merge, const struct profile_node *node, const struct profile_node *below,
                                uint32_t merged, const struct profile_neighbours *from)
{
    bool stopped = profile_merge_node_is_pseudo(below->kind, below->key, PROFILE_PSEUDO_STOPPED),
         asleep = profile_merge_node_is_pseudo(below->kind, below->key, PROFILE_PSEUDO_BLOCKED);
    size_t first = node->key * PROFILE_NEIGHBOURS_EACH;
    for (size_t i = 0; i < PROFILE_NEIGHBOURS_EACH && first + i < PROFILE_NEIGHBOURS_SUMS; i++) {
        uint32_t to = merged;
        if (stopped && first + i != PROFILE_NEIGHBOURS_BLOCKED) /* readers replace its other sums */
            continue;
        if (asleep && first + i == PROFILE_NEIGHBOURS_CORES && from->variance[i] != 0)
            to = node_tree_child(&merge->tree, 0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_THREAD_RAN);
        merge->profile->nodes[to].metric.beyond[first + i] += (float)from->variance[i];
    }
}

/* Returns a bit mask of the trees that were merged into a node. In a merged file, the node itself stores the
 * mask, because the chunk's owner does not name a tree. */
static uint64_t profile_merge_node_thread_bits(const struct merge *merge, const struct profile_node *node,
                                               uint32_t owner)
{
    return merge->profile->header.merged ? PROFILE_NODE_THREADS(node) : 1ull << owner % 64;
}

/* Has the processor load what the next nodes of a chunk need. In a large profile, nearly all time is waiting for memory. */
static void profile_merge_expect(const struct merge *merge, const struct profile_chunk *chunk, uint32_t unit,
                                 uint32_t used)
{
    const struct profile_node *node = (const struct profile_node *)chunk + unit;
    uint32_t limit = merge->chunks->count * PROFILE_UNITS_PER_CHUNK;
    if (unit + 24 < used && node[24].parent < limit)
        __builtin_prefetch(&merge->node_map[node[24].parent]);
    for (uint32_t ahead = 16; ahead; ahead -= 8) {
        if (unit + ahead >= used || node[ahead].parent >= limit || merge->node_map[node[ahead].parent] < MAP_MERGED)
            continue;
        uint32_t parent = merge->node_map[node[ahead].parent] - MAP_MERGED;
        (ahead == 16 ? node_tree_expect : node_tree_expect_node)(&merge->tree, parent, node[ahead].kind,
                                                                 node[ahead].key);
    }
}

static const char *profile_merge_chunk(struct merge *merge, uint32_t chunk_no)
{
    const struct profile_chunk *chunk = profile_chunk_at(merge->chunks, chunk_no);
    uint32_t used = chunk->used < PROFILE_UNITS_PER_CHUNK ? chunk->used : PROFILE_UNITS_PER_CHUNK;
    uint32_t kinds = 0;
    for (uint32_t unit = 1; unit < used; unit++) {
        uint32_t node_idx = chunk_no * PROFILE_UNITS_PER_CHUNK + unit;
        uint32_t mapped = merge->node_map[node_idx];
        profile_merge_expect(merge, chunk, unit, used);
        if (mapped == MAP_UNKNOWN)
            mapped = profile_merge_map_node(merge, node_idx);
        kinds |= PROFILE_KIND_BIT(((const struct profile_node *)chunk)[unit].kind);
        uint32_t metric_idx = ((const struct profile_node *)chunk)[unit].metric;
        const struct profile_metric *metric = metric_idx ? profile_metric_at(merge->chunks, metric_idx) : NULL;
        if (mapped == MAP_SKIP || !metric)
            continue;
        if (!profile_merge_metric_sane((const struct profile_node *)chunk + unit, metric))
            return "damaged: a metric is not a possible value";
        uint8_t kind = ((const struct profile_node *)chunk)[unit].kind;
        if (kind == PROFILE_NODE_NEIGHBOURS) {
            const struct profile_node *node = (const struct profile_node *)chunk + unit;
            const struct profile_node *below = profile_node_at(merge->chunks, node->parent);
            if (node->key < PROFILE_NEIGHBOURS_RECORDS && below->kind == PROFILE_NODE_ROOT)
                profile_merge_neighbours(merge->profile, node->key, (const void *)metric, chunk->owner);
            else if (node->key < PROFILE_NEIGHBOURS_RECORDS)
                profile_merge_stays(merge, node, below, mapped - MAP_MERGED, (const void *)metric);
            continue;
        }
        if (kind != PROFILE_NODE_RANKS && kind != PROFILE_NODE_CORES && metric->work + metric->overhead > 0)
            merge->profile->nodes[mapped - MAP_MERGED].threads |=
                profile_merge_node_thread_bits(merge, (const struct profile_node *)chunk + unit, chunk->owner);
        profile_merge_metric(merge, (const struct profile_node *)chunk + unit, mapped - MAP_MERGED, metric,
                             chunk->owner);
    }
    if (merge->chunks->node_kinds)
        merge->chunks->node_kinds[chunk_no] = kinds;
    return NULL;
}

static void profile_merge_sum_unresolved(struct profile *profile)
{
    bool *unresolved = memory_array(profile->node_count, sizeof *unresolved);
    for (size_t i = 1; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        unresolved[i] =
            unresolved[node->parent] || profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_UNRESOLVED);
        if (unresolved[i] && node->kind != PROFILE_NODE_WAITERS)
            profile->unresolved_ns += profile_sums_own(&node->metric);
    }
    free(unresolved);
}

/* Divides the time in which the process was stopped among all threads that ever existed, so that no thread
 * counts as idle. The tool could not do this, because it did not know the final number of threads. */
static void profile_merge_stopped(struct profile *profile)
{
    double threads = profile->header.threads_max ? profile->header.threads_max : 1;
    for (size_t i = 0; i < profile->node_count; i++) {
        struct merged_node *node = &profile->nodes[i];
        if (!profile_merge_node_is_pseudo(node->kind, node->key, PROFILE_PSEUDO_STOPPED))
            continue;
        profile->stopped_ns += node->metric.inverse_busy;
        node->metric.inverse_busy = node->metric.blocked / threads;
    }
    for (size_t i = 0; i < profile->timeline.cell_count; i++) {
        struct timeline_cell *cell = &profile->timeline.cells[i];
        if (profile_merge_node_is_pseudo(profile->nodes[cell->node].kind, profile->nodes[cell->node].key,
                                         PROFILE_PSEUDO_STOPPED))
            cell->value.inverse_busy = (float)((double)cell->value.own / threads);
    }
}

const char *profile_merge(const struct profile_chunks *chunks, struct profile *profile, uint32_t **node_map)
{
    struct merge merge = {.chunks = chunks, .profile = profile};
    const char *wrong = NULL;
    merge.node_map = memory_array((size_t)chunks->count * PROFILE_UNITS_PER_CHUNK + 1, sizeof *merge.node_map);
    node_tree_start(&merge.tree, profile);
    if (!profile->header.merged && !profile->tree_sets)
        profile->tree_sets = memory_array(PROFILE_TREE_SETS, sizeof *profile->tree_sets);
    for (uint32_t n = 0; n < chunks->count && !wrong; n++)
        if (profile_chunk_kind(chunks, n) == PROFILE_CHUNK_TREE &&
            profile_chunk_wanted(chunks, profile_chunk_at(chunks, n))) {
            wrong = profile_merge_chunk(&merge, n);
            if (chunks->done && n % MAPPED_CHUNKS == 0)
                chunks->done(chunks, n);
            if (profile_read_progress && n % 64 == 0)
                profile_read_progress(n, chunks->count);
        }
    if (!wrong)
        profile_merge_sum_unresolved(profile);
    if (!wrong)
        wrong = profile_read_probes(chunks, merge.node_map, profile);
    if (!wrong)
        wrong = profile_read_spreads(chunks, merge.node_map, profile);
    if (!wrong)
        wrong = profile_read_balances(chunks, merge.node_map, profile);
    if (!wrong)
        wrong = profile_read_wakes(chunks, merge.node_map, profile);
    if (!wrong)
        wrong = profile_read_timeline(chunks, merge.node_map, profile);
    if (!wrong)
        profile_merge_stopped(profile);
    if (node_map)
        *node_map = merge.node_map;
    else
        free(merge.node_map);
    free(merge.stack);
    free(merge.leaf);
    node_tree_end(&merge.tree);
    return wrong;
}
