/* Pairs of a wait and the context of the thread that ended it. */
#ifndef BLAME_COMMAND_PROFILE_WAKES_H
#define BLAME_COMMAND_PROFILE_WAKES_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Reads the pairs. node_map: as made by profile_merge(). Returns NULL, or a text that says what is wrong with the file. */
const char *profile_read_wakes(const struct profile_chunks *chunks, const uint32_t *node_map, struct profile *profile);

/* Adds the pairs of a rank, or of a part of a job. node_map: the job's node for each node of the rank. */
void profile_add_wakes(struct profile *job, const struct profile *rank, const uint32_t *node_map);

#endif
