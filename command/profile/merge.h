/* Merges the trees of one measurement file into one tree. This is the second half of profile_read(). */
#ifndef BLAME_COMMAND_PROFILE_MERGE_H
#define BLAME_COMMAND_PROFILE_MERGE_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Fills nodes, node_count, unresolved_ns, probes and counters of *profile. Returns NULL, or a text that says
 * what is wrong with the file. Unless `node_map` is NULL, *node_map becomes the node map (chunks.h), which
 * the caller frees. */
const char *profile_merge(const struct profile_chunks *chunks, struct profile *profile, uint32_t **node_map);

/* Called while a file is read, if not NULL, to report how much has been read. */
extern void (*profile_read_progress)(size_t done, size_t total);

#endif
