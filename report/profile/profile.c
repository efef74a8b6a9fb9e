/* Sums of what was measured from begin to end, and names. */
#include "report/profile/read.h"

void profile_add_counters(struct profile_counters *sum, const struct profile_counters *counters)
{
    for (size_t i = 0; i < PROFILE_COUNTERS; i++)
        sum->value[i] += counters->value[i];
}

void profile_add_probe(struct profile_probe *sum, const struct profile_probe *probe)
{
    if (probe->calls == 0)
        return;
    bool first = sum->calls == 0;
    sum->calls += probe->calls;
    sum->inclusive_ns += probe->inclusive_ns;
    sum->exclusive_ns += probe->exclusive_ns;
    sum->sum_of_squares += probe->sum_of_squares;
    if (first || probe->shortest_ns < sum->shortest_ns)
        sum->shortest_ns = probe->shortest_ns;
    if (probe->longest_ns > sum->longest_ns)
        sum->longest_ns = probe->longest_ns;
    if (first || probe->first_begin_ns < sum->first_begin_ns)
        sum->first_begin_ns = probe->first_begin_ns;
    if (probe->last_end_ns > sum->last_end_ns)
        sum->last_end_ns = probe->last_end_ns;
}

const struct profile_name *profile_name_of(const struct profile *profile, const struct merged_node *node)
{
    if (node->kind == PROFILE_NODE_INSTANCE)
        node = &profile->nodes[node->parent];
    bool named = node->kind >= PROFILE_NODE_PHASE && node->kind <= PROFILE_NODE_PARAMETER && node->key > 0 &&
                 node->key <= profile->name_count;
    return named ? &profile->names[node->key - 1] : NULL;
}
