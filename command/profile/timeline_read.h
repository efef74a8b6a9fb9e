/* Reading the timeline of a measurement file, of threads' trees or of a merged job. A part of profile_read(). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_READ_H
#define BLAME_COMMAND_PROFILE_TIMELINE_READ_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Fills the timeline of *profile, whose threads and nodes must have been read. All bins become as wide as the
 * widest. place: by node_idx, as for profile_read_probes(). Returns NULL, or what is wrong with the file. */
const char *profile_read_timeline(const struct profile_chunks *chunks, const uint32_t *place, struct profile *profile);

#endif
