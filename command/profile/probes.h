/* Reads phases, events, parameters and counters from a measurement file: names, exact times and counts. This
 * is the third part of profile_read(). */
#ifndef BLAME_COMMAND_PROFILE_PROBES_H
#define BLAME_COMMAND_PROFILE_PROBES_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Returns whether a node of this kind is a phase, event, parameter or instance. [any] */
static inline bool profile_kind_is_probe(uint8_t kind)
{
    return kind >= PROFILE_NODE_PHASE && kind <= PROFILE_NODE_INSTANCE;
}

/* Fills names and counter_name of *profile, whose text must have been read. */
void profile_read_names(const struct profile_chunks *chunks, struct profile *profile);

/* Fills probes and counters of *profile, whose nodes must have been merged. node_map: as made by
 * profile_merge(). Returns NULL, or a text that says what is wrong with the file. */
const char *profile_read_probes(const struct profile_chunks *chunks, const uint32_t *node_map, struct profile *profile);

/* Sorts probes and counters. Merges probes of the same node and tree, and counters of the same node. */
void profile_join_probes(struct profile *profile);

#endif
