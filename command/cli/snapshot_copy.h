/* Copies a measurement file while it is being written. Each chunk is copied in a consistent state, but the
 * chunks are copied at different times. Thread records precede most trees, so a copied tree may contain
 * samples that its thread's copied record does not count yet. snapshot_note_later() corrects these counts
 * once everything is copied. */
#ifndef BLAME_COMMAND_CLI_SNAPSHOT_COPY_H
#define BLAME_COMMAND_CLI_SNAPSHOT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "command/profile/profile.h"

struct profile_header;

/* Reads exactly `bytes` bytes at offset `at`. Returns false with errno. */
bool snapshot_read(int file, char *to, size_t bytes, off_t at);

/* Copies the header and all chunks that it counts. The caller has read the header, which counts only complete
 * chunks. Returns false with errno. */
bool snapshot_copy(int from, int to, const struct profile_header *header);

/* Sets the field `delivered` of the copied threads to its current value in `from`. Samples that were not yet
 * recorded when their tree was copied then count as cut off, as in a killed process. Returns false with
 * errno. */
bool snapshot_note_later(int from, int to, const struct profile_header *header);

#endif
