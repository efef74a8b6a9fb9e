/* Reads the timeline of a measurement file. This is a part of profile_read(). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_READ_H
#define BLAME_COMMAND_PROFILE_TIMELINE_READ_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Fills the timeline of *profile, whose threads and nodes must have been read. All bins are made as wide as
 * the widest bins in the file. node_map: as made by profile_merge(). Returns NULL, or a text that says what
 * is wrong with the file. */
const char *profile_read_timeline(const struct profile_chunks *chunks, const uint32_t *node_map,
                                  struct profile *profile);

#endif
