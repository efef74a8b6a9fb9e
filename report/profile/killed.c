#include "report/profile/killed.h"

#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

/* Waiting at one lock: as waiters had it, less what holders took. */
struct lock_sum {
    uint64_t key;
    double open;
};

static int compare_keys(const void *left, const void *right)
{
    uint64_t a = ((const struct lock_sum *)left)->key, b = ((const struct lock_sum *)right)->key;
    return a < b ? -1 : a > b;
}

static void count_cut_off(struct profile *profile)
{
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct profile_thread *thread = &profile->threads[i];
        uint64_t known = thread->recorded;
        for (int reason = 0; reason < PROFILE_DROP_REASONS; reason++)
            known += thread->dropped[reason];
        if (thread->delivered > known)
            thread->dropped[PROFILE_DROP_CUT_OFF] += thread->delivered - known;
    }
}

static size_t sum_locks(const struct profile *profile, struct lock_sum *sums)
{
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        if (node->kind == PROFILE_NODE_LOCK)
            sums[count++] =
                (struct lock_sum){node->key, node->metric.lock_wait_here - node->metric.lock_wait};
    }
    qsort(sums, count, sizeof(*sums), compare_keys);
    for (size_t i = 0; i < count; i++) {
        if (distinct && sums[distinct - 1].key == sums[i].key)
            sums[distinct - 1].open += sums[i].open;
        else
            sums[distinct++] = sums[i];
    }
    return distinct;
}

static void add_node(struct profile *profile, uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    struct merged_node *node = &profile->nodes[profile->node_count++];
    memset(node, 0, sizeof(*node));
    node->parent = parent;
    node->kind = (uint8_t)kind;
    node->key = key;
}

/* How many were busy while they waited is not known: with all of them, nobody's idleness is added. */
static void book_open_locks(struct profile *profile, const struct lock_sum *sums, size_t count)
{
    profile->nodes =
        memory_check(reallocarray(profile->nodes, profile->node_count + 1 + count, sizeof *profile->nodes));
    uint32_t row = (uint32_t)profile->node_count;
    add_node(profile, 0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNRELEASED);
    for (size_t i = 0; i < count; i++) {
        if (sums[i].open <= 0)
            continue;
        add_node(profile, row, PROFILE_NODE_LOCK, sums[i].key);
        struct profile_sums *metric = &profile->nodes[profile->node_count - 1].metric;
        metric->lock_wait = sums[i].open;
        metric->inverse_busy = sums[i].open / (double)(profile->thread_count ? profile->thread_count : 1);
        timeline_add_at_end(&profile->timeline, (uint32_t)profile->node_count - 1,
                            &(struct profile_time_value){.lock_wait = (float)metric->lock_wait, .inverse_busy = (float)metric->inverse_busy});
    }
}

void profile_complete_killed(struct profile *profile)
{
    if (profile->header.finished || profile->header.merged) /* that was done to each rank */
        return;
    count_cut_off(profile);
    if (profile->tree) /* what one thread waited for, others released */
        return;
    struct lock_sum *sums = memory_array(profile->node_count, sizeof *sums);
    size_t count = sum_locks(profile, sums);
    bool open = false;
    for (size_t i = 0; i < count; i++)
        open = open || sums[i].open > 0;
    if (open)
        book_open_locks(profile, sums, count);
    free(sums);
}
