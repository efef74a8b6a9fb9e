/* The chunks of one measurement file: where records stand in them, and whether what stands there can be one. */
#ifndef BLAME_COMMAND_PROFILE_CHUNKS_H
#define BLAME_COMMAND_PROFILE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"

struct profile_metric;

/* The chunks of a file in memory, aligned for the records in them. Their contents are not trusted. */
struct profile_chunks {
    const unsigned char *bytes;
    uint32_t count;
    uint64_t only_tree; /* number of the tree that is read, 0: all */
};

/* Whether what was measured in a tree's chunk belongs to what is read. */
static inline bool profile_chunk_wanted(const struct profile_chunks *chunks, const struct profile_chunk *chunk)
{
    return chunk->kind == PROFILE_CHUNK_TREE && (!chunks->only_tree || chunk->owner == chunks->only_tree);
}

/* Chunk number n's header. */
static inline const struct profile_chunk *profile_chunk_at(const struct profile_chunks *chunks, uint32_t n)
{
    return (const struct profile_chunk *)(chunks->bytes + (size_t)n * PROFILE_CHUNK_BYTES);
}

/* The node, or the metric record, with that index; NULL when nothing of the kind stands there. */
const struct profile_node *profile_node_at(const struct profile_chunks *chunks, uint32_t node_idx);
const struct profile_metric *profile_metric_at(const struct profile_chunks *chunks, uint32_t metric_idx);

#define PROFILE_PLACE_MERGED 3u /* in a list of places by node_idx: + the merged node's index */

/* Behind node number *at (0 at first), the next one of that kind that has a record and hangs below a merged node, by the list of places: its record,
 * and which merged node that is. NULL: there is no more. */
struct profile_below {
    const struct profile_node *node;
    uint32_t merged;
};
const void *profile_next_below(const struct profile_chunks *chunks, const uint32_t *place, enum profile_node_kind kind,
                               uint32_t *at, struct profile_below *found);

/* Whether a measured sum can be one: finite, and of a size that time can have. */
bool profile_number_sane(double value);

#endif
