/* Access to the chunks of one measurement file. Finds records and checks that they can be valid. */
#ifndef BLAME_COMMAND_PROFILE_CHUNKS_H
#define BLAME_COMMAND_PROFILE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"

struct profile_metric;

/* The chunks of a file in memory, aligned for their records. Their contents are not trusted. */
struct profile_chunks {
    const unsigned char *bytes;
    uint32_t count;
    uint64_t only_tree;  /* identity of the only tree to read; 0: read all trees */
    uint8_t *chunk_kind; /* enum profile_chunk_kind of each chunk; NULL: look at the chunk */
    /* for each chunk, PROFILE_KIND_BIT of the kinds of its nodes, as found by profile_merge(); NULL: unknown */
    uint32_t *node_kinds;
    /* called after some chunks have been read, with their number; NULL: nothing is called */
    void (*done)(const struct profile_chunks *chunks, uint32_t count);
};

/* Returns whether a chunk belongs to a tree that is to be read. */
static inline bool profile_chunk_wanted(const struct profile_chunks *chunks, const struct profile_chunk *chunk)
{
    return chunk->kind == PROFILE_CHUNK_TREE && (!chunks->only_tree || chunk->owner == chunks->only_tree);
}

/* Returns the header of chunk n. */
static inline const struct profile_chunk *profile_chunk_at(const struct profile_chunks *chunks, uint32_t n)
{
    return (const struct profile_chunk *)(chunks->bytes + (size_t)n * PROFILE_CHUNK_BYTES);
}

static inline uint32_t profile_chunk_kind(const struct profile_chunks *chunks, uint32_t n)
{
    return chunks->chunk_kind ? chunks->chunk_kind[n] : profile_chunk_at(chunks, n)->kind;
}

#define PROFILE_KIND_BIT(kind) (1u << ((kind) & 31u))

/* Returns whether a chunk belongs to a tree that is to be read, and may have nodes of one of these kinds. */
static inline bool profile_chunk_may_have(const struct profile_chunks *chunks, uint32_t n, uint32_t kinds)
{
    return (!chunks->node_kinds || (chunks->node_kinds[n] & kinds)) &&
           profile_chunk_wanted(chunks, profile_chunk_at(chunks, n));
}

/* Return the node, and the metric record, with a given index; NULL if there is none. */
static inline const struct profile_node *profile_node_at(const struct profile_chunks *chunks, uint32_t node_idx)
{
    uint32_t chunk_no = node_idx / PROFILE_UNITS_PER_CHUNK, unit = node_idx % PROFILE_UNITS_PER_CHUNK;
    if (chunk_no >= chunks->count || unit == 0)
        return NULL;
    const struct profile_chunk *chunk = profile_chunk_at(chunks, chunk_no);
    if (chunk->kind != PROFILE_CHUNK_TREE || unit >= chunk->used || unit >= PROFILE_UNITS_PER_CHUNK)
        return NULL;
    return (const struct profile_node *)chunk + unit;
}

static inline const struct profile_metric *profile_metric_at(const struct profile_chunks *chunks, uint32_t metric_idx)
{
    uint32_t chunk_no = metric_idx / PROFILE_UNITS_PER_CHUNK, unit = metric_idx % PROFILE_UNITS_PER_CHUNK;
    if (chunk_no >= chunks->count || unit == 0 || unit % 2 != 0)
        return NULL;
    const struct profile_chunk *chunk = profile_chunk_at(chunks, chunk_no);
    if (chunk->kind != PROFILE_CHUNK_TREE || unit < chunk->metric_unit || unit < chunk->used)
        return NULL;
    return (const struct profile_metric *)((const struct profile_node *)chunk + unit);
}

/* value in a node map, which is indexed by node_idx: PROFILE_MAP_MERGED + i means merged node i */
#define PROFILE_MAP_MERGED 3u

/* Iterates over the file's nodes of one kind. Finds the next node after *at (0 at first) that has a record
 * and whose parent was merged. Returns the node's record and sets *found; returns NULL at the end. node_map:
 * as made by profile_merge(). */
struct profile_below {
    const struct profile_node *node;
    uint32_t merged;
};
const void *profile_next_below(const struct profile_chunks *chunks, const uint32_t *node_map,
                               enum profile_node_kind kind, uint32_t *at, struct profile_below *found);

/* Returns whether a sum read from a file is plausible: finite, and not larger than a time can be: 1e24 ns is a thousand
 * years on 30,000 threads. */
static inline bool profile_number_sane(double value)
{
    return __builtin_fabs(value) <= 1e24; /* false for NaN and infinity */
}

#endif
