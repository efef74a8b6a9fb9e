/* The timeline of a measurement file: of threads' trees, or of a job as it was merged. A part of profile_read(). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_READ_H
#define BLAME_COMMAND_PROFILE_TIMELINE_READ_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Fills the timeline of *profile, whose threads and nodes are there; place: by node_idx, as for profile_read_probes(). All bins are brought to the
 * width of the widest. Returns NULL, or what is wrong with the file. */
const char *profile_read_timeline(const struct profile_chunks *chunks, const uint32_t *place, struct profile *profile);

#endif
