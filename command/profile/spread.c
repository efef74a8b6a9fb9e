#include "command/profile/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

void profile_spread_add(struct profile_spread *to, const struct profile_spread *from)
{
    if (!to->ranks) {
        *to = *from;
        return;
    }
    double ranks = (double)to->ranks + from->ranks, apart = from->mean - to->mean;
    to->mean += apart * from->ranks / ranks;
    to->squares += from->squares + apart * apart * to->ranks * from->ranks / ranks;
    to->ranks += from->ranks;
    if (from->least < to->least || (from->least == to->least && from->least_rank < to->least_rank)) {
        to->least = from->least;
        to->least_rank = from->least_rank;
        to->least_process = from->least_process;
    }
    if (from->most > to->most || (from->most == to->most && from->most_rank < to->most_rank)) {
        to->most = from->most;
        to->most_rank = from->most_rank;
        to->most_process = from->most_process;
    }
}

struct spread_shown profile_spread_over(const struct profile_spread *spread, uint32_t ranks)
{
    struct profile_spread all = *spread;
    bool everywhere = spread->ranks >= ranks;
    if (!everywhere)
        profile_spread_add(&all, &(struct profile_spread){.ranks = ranks - spread->ranks});
    return (struct spread_shown){.mean = all.mean,
                                 .deviation = sqrt(all.squares / all.ranks),
                                 .least = all.least,
                                 .most = all.most,
                                 .least_known = everywhere};
}

static void spread_add(struct spread_sums *sums, uint32_t node, uint32_t key, const struct profile_spread *spread)
{
    uint32_t at = sums->first[node];
    while (at && sums->spread[at - 1].key != key)
        at = sums->next[at - 1];
    if (!at) {
        memory_grow(&sums->spread, &sums->room, sums->count, sizeof *sums->spread);
        memory_grow(&sums->next, &sums->next_room, sums->count, sizeof *sums->next);
        sums->spread[sums->count] = (struct merged_spread){.node = node, .key = key};
        sums->next[sums->count] = sums->first[node];
        at = sums->first[node] = (uint32_t)++sums->count;
    }
    profile_spread_add(&sums->spread[at - 1].spread, spread);
}

static void spread_add_value(struct spread_sums *sums, const struct profile *rank, uint32_t node, uint32_t key,
                             double value)
{
    const struct profile_header *header = &rank->header;
    if (value > 0)
        spread_add(sums, node, key,
                   &(struct profile_spread){.mean = value,
                                            .least = value,
                                            .most = value,
                                            .ranks = 1,
                                            .least_rank = header->rank,
                                            .least_process = header->process,
                                            .most_rank = header->rank,
                                            .most_process = header->process});
}

static double spread_time_of(const struct profile_sums *sums, enum profile_spread_metric metric)
{
    if (metric == PROFILE_SPREAD_WORK)
        return sums->work;
    if (metric == PROFILE_SPREAD_MPI_WAIT)
        return sums->mpi_wait;
    return sums->work + sums->overhead + sums->lock_wait_here + sums->no_core + sums->blocked + sums->mpi_wait;
}

/* Returns whether a node's sums count as its parent's own. */
static bool spread_node_is_part_of_parent(const struct merged_node *node)
{
    return node->kind == PROFILE_NODE_LOCK || node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS;
}

/* One metric of all nodes of a rank, summed for the comparison of ranks. */
struct values {
    double *own, *whole; /* for each node: ns in the node alone, and with its callees */
    /* for each node, sums over the frames directly below it: ns in each frame alone, and with its callees */
    double *callee_own, *callee_whole;
};

static void spread_sum_values(const struct profile *rank, enum profile_spread_metric metric, const uint32_t *same,
                              const struct values *values)
{
    const struct merged_node *nodes = rank->nodes;
    struct profile_sums lost, before = profile_sums_before_start(&rank->header, &lost);
    for (size_t i = 0; i < rank->node_count; i++)
        values->own[i] = values->whole[i] = values->callee_own[i] = values->callee_whole[i] = 0;
    for (size_t i = 0; i < rank->node_count; i++)
        if (nodes[i].kind != PROFILE_NODE_WAITERS && nodes[i].kind != PROFILE_NODE_RANKS)
            values->own[spread_node_is_part_of_parent(&nodes[i]) ? nodes[i].parent : i] +=
                spread_time_of(&nodes[i].metric, metric);
    values->whole[0] = spread_time_of(&before, metric) + spread_time_of(&lost, metric);
    for (size_t i = rank->node_count; i-- > 0;) {
        values->whole[i] += values->own[i];
        if (i)
            values->whole[nodes[i].parent] += values->whole[i];
    }
    for (size_t i = 1; i < rank->node_count; i++)
        if (nodes[i].kind == PROFILE_NODE_FRAME) {
            values->callee_own[same[nodes[i].parent]] += values->own[i];
            values->callee_whole[same[nodes[i].parent]] += values->whole[i];
        }
    for (size_t i = 1; i < rank->node_count; i++)
        if (same[i] != i) {
            values->own[same[i]] += values->own[i];
            values->whole[same[i]] += values->whole[i];
            values->own[i] = values->whole[i] = 0;
        }
}

static void spread_add_metric(struct spread_sums *sums, const struct profile *rank, const uint32_t *node_map,
                              enum profile_spread_metric metric, const struct values *values)
{
    for (size_t i = 0; i < rank->node_count; i++) {
        const struct merged_node *node = &rank->nodes[i];
        if (spread_node_is_part_of_parent(node))
            continue;
        spread_add_value(sums, rank, node_map[i], PROFILE_SPREAD_KEY(metric, false, true), values->callee_whole[i]);
        spread_add_value(sums, rank, node_map[i], PROFILE_SPREAD_KEY(metric, true, true), values->callee_own[i]);
        if (node->kind == PROFILE_NODE_FRAME)
            continue;
        spread_add_value(sums, rank, node_map[i], PROFILE_SPREAD_KEY(metric, false, false), values->whole[i]);
        spread_add_value(sums, rank, node_map[i], PROFILE_SPREAD_KEY(metric, true, false), values->own[i]);
    }
}

/* Returns a map of the rank's nodes. It gives each node the first of the nodes that were merged into the same
 * node of the job. */
static uint32_t *spread_first_of_node(struct spread_sums *sums, const struct profile *rank, const uint32_t *node_map)
{
    uint32_t *same = memory_array(rank->node_count, sizeof *same);
    for (uint32_t i = 0; i < rank->node_count; i++) {
        if (!sums->seen[node_map[i]])
            sums->seen[node_map[i]] = i + 1;
        same[i] = sums->seen[node_map[i]] - 1;
    }
    for (uint32_t i = 0; i < rank->node_count; i++)
        sums->seen[node_map[i]] = 0;
    return same;
}

static void spread_add_rank(struct spread_sums *sums, const struct profile *rank, const uint32_t *node_map)
{
    uint32_t *same = spread_first_of_node(sums, rank, node_map);
    double *room = memory_array(4 * rank->node_count, sizeof *room);
    struct values values = {room, room + rank->node_count, room + 2 * rank->node_count, room + 3 * rank->node_count};
    for (int metric = 0; metric < PROFILE_SPREAD_METRICS; metric++) {
        spread_sum_values(rank, (enum profile_spread_metric)metric, same, &values);
        spread_add_metric(sums, rank, node_map, (enum profile_spread_metric)metric, &values);
    }
    free(room);
    free(same);
}

static void *spread_grow_zeroed(void *array, size_t from, size_t to)
{
    uint32_t *grown = memory_check(reallocarray(array, to, sizeof *grown));
    memset(grown + from, 0, (to - from) * sizeof *grown);
    return grown;
}

void spread_sums_add(struct spread_sums *sums, const struct profile *rank, const uint32_t *node_map, size_t nodes)
{
    if (nodes > sums->nodes) {
        sums->first = spread_grow_zeroed(sums->first, sums->nodes, 2 * nodes);
        sums->seen = spread_grow_zeroed(sums->seen, sums->nodes, 2 * nodes);
        sums->nodes = 2 * nodes;
    }
    if (!rank->header.merged)
        spread_add_rank(sums, rank, node_map);
    for (size_t i = 0; i < rank->spread_count; i++)
        spread_add(sums, node_map[rank->spreads[i].node], rank->spreads[i].key, &rank->spreads[i].spread);
}

static int spread_compare_keys(const void *left, const void *right)
{
    const struct merged_spread *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

void spread_sums_end(struct spread_sums *sums, struct profile *profile)
{
    if (sums->count)
        qsort(sums->spread, sums->count, sizeof *sums->spread, spread_compare_keys);
    profile->spreads = sums->spread;
    profile->spread_count = sums->count;
    free(sums->next);
    free(sums->first);
    free(sums->seen);
    *sums = (struct spread_sums){0};
}

static bool spread_sane(const struct profile_spread *spread)
{
    const double numbers[] = {spread->mean, spread->least, spread->most};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!profile_number_sane(numbers[i]) || numbers[i] < 0)
            return false;
    return spread->squares >= 0 && spread->squares <= 1e60 && spread->ranks > 0;
}

const char *profile_read_spreads(const struct profile_chunks *chunks, const uint32_t *node_map, struct profile *profile)
{
    struct profile_below below;
    const struct profile_spread *spread;
    size_t room = 0;
    uint32_t at = 0;
    while (profile->header.merged &&
           (spread = profile_next_below(chunks, node_map, PROFILE_NODE_SPREAD, &at, &below))) {
        if (below.node->key >= PROFILE_SPREAD_KEYS)
            continue;
        if (!spread_sane(spread))
            return "damaged: the difference between ranks is not a possible value";
        memory_grow(&profile->spreads, &room, profile->spread_count, sizeof *profile->spreads);
        profile->spreads[profile->spread_count++] =
            (struct merged_spread){.node = below.merged, .key = (uint32_t)below.node->key, .spread = *spread};
    }
    if (profile->spread_count)
        qsort(profile->spreads, profile->spread_count, sizeof *profile->spreads, spread_compare_keys);
    return NULL;
}
