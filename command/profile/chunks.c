#include "command/profile/chunks.h"

#include <math.h>

#include "cct/profile_metrics.h"

bool profile_number_sane(double value)
{
    /* 1e24 ns is a thousand years on 30,000 threads */
    return isfinite(value) && fabs(value) <= 1e24;
}

const struct profile_node *profile_node_at(const struct profile_chunks *chunks, uint32_t node_idx)
{
    uint32_t chunk_no = node_idx / PROFILE_UNITS_PER_CHUNK, unit = node_idx % PROFILE_UNITS_PER_CHUNK;
    if (chunk_no >= chunks->count || unit == 0)
        return NULL;
    const struct profile_chunk *chunk = profile_chunk_at(chunks, chunk_no);
    if (chunk->kind != PROFILE_CHUNK_TREE || unit >= chunk->used || unit >= PROFILE_UNITS_PER_CHUNK)
        return NULL;
    return (const struct profile_node *)chunk + unit;
}

const struct profile_metric *profile_metric_at(const struct profile_chunks *chunks, uint32_t metric_idx)
{
    uint32_t chunk_no = metric_idx / PROFILE_UNITS_PER_CHUNK, unit = metric_idx % PROFILE_UNITS_PER_CHUNK;
    if (chunk_no >= chunks->count || unit == 0 || unit % 2 != 0)
        return NULL;
    const struct profile_chunk *chunk = profile_chunk_at(chunks, chunk_no);
    if (chunk->kind != PROFILE_CHUNK_TREE || unit < chunk->metric_unit || unit < chunk->used)
        return NULL;
    return (const struct profile_metric *)((const struct profile_node *)chunk + unit);
}

const void *profile_next_below(const struct profile_chunks *chunks, const uint32_t *node_map,
                               enum profile_node_kind kind, uint32_t *at, struct profile_below *found)
{
    while (++*at < chunks->count * PROFILE_UNITS_PER_CHUNK) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, *at / PROFILE_UNITS_PER_CHUNK);
        if (!profile_chunk_wanted(chunks, chunk) || *at % PROFILE_UNITS_PER_CHUNK >= chunk->used) {
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
