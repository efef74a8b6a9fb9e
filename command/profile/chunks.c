#include "command/profile/chunks.h"

#include "cct/profile_metrics.h"

const void *profile_next_below(const struct profile_chunks *chunks, const uint32_t *node_map,
                               enum profile_node_kind kind, uint32_t *at, struct profile_below *found)
{
    while (++*at < chunks->count * PROFILE_UNITS_PER_CHUNK) {
        uint32_t n = *at / PROFILE_UNITS_PER_CHUNK;
        if (!profile_chunk_may_have(chunks, n, PROFILE_KIND_BIT(kind)) ||
            *at % PROFILE_UNITS_PER_CHUNK >= profile_chunk_at(chunks, n)->used) {
            *at |= PROFILE_UNITS_PER_CHUNK - 1; /* skip to the last unit of the chunk */
            continue;
        }
        const struct profile_node *node = profile_node_at(chunks, *at);
        if (!node || node->kind != kind || !node->metric || !profile_node_at(chunks, node->parent) ||
            node_map[node->parent] < PROFILE_MAP_MERGED)
            continue;
        const void *record = profile_metric_at(chunks, node->metric);
        *found = (struct profile_below){node, node_map[node->parent] - PROFILE_MAP_MERGED};
        if (record)
            return record;
    }
    return NULL;
}
