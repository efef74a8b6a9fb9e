/* Merged trees made by hand. */
#ifndef BLAME_TESTS_UNIT_MERGED_TREE_H
#define BLAME_TESTS_UNIT_MERGED_TREE_H

#include "report/profile/profile.h"

/* Appends a node to profile->nodes, which have room for it; returns its index. */
static inline uint32_t merged_add(struct profile *profile, uint32_t parent, uint8_t kind, uint64_t key,
                                  struct profile_metric metric)
{
    uint32_t i = (uint32_t)profile->node_count++;
    profile->nodes[i] = (struct merged_node){.parent = parent, .kind = kind, .key = key, .metric = metric};
    return i;
}

/* A frame in which one thread worked alone, in one sample (none, if it did not). */
static inline uint32_t merged_add_work(struct profile *profile, uint32_t parent, uint64_t key, double work_s)
{
    struct profile_metric metric = {
        .samples = work_s > 0, .work = work_s * 1e9, .inverse_busy = work_s * 1e9};
    return merged_add(profile, parent, PROFILE_NODE_FRAME, key, metric);
}

#endif
