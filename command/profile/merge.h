/* Merging the trees of one measurement file into one tree: the second half of profile_read(). */
#ifndef BLAME_COMMAND_PROFILE_MERGE_H
#define BLAME_COMMAND_PROFILE_MERGE_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Fills nodes, node_count, unresolved_ns, probes and counters of *profile. Returns NULL, or what is wrong
 * with the file. Unless `place` is NULL, *place becomes the list of places by node_idx, which the caller
 * frees. */
const char *profile_merge(const struct profile_chunks *chunks, struct profile *profile, uint32_t **place);

/* Called repeatedly while a file is read; may be NULL. */
extern void (*profile_read_progress)(size_t done, size_t total);

#endif
