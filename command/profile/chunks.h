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
    uint64_t only_tree; /* identity of the only tree to read; 0: read all trees */
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

/* Return the node, and the metric record, with a given index; NULL if there is none. */
const struct profile_node *profile_node_at(const struct profile_chunks *chunks, uint32_t node_idx);
const struct profile_metric *profile_metric_at(const struct profile_chunks *chunks, uint32_t metric_idx);

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

/* Returns whether a sum read from a file is plausible: finite, and not larger than a time can be. */
bool profile_number_sane(double value);

#endif
