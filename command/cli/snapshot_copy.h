/* Copies a measurement that is still being written. Each chunk is copied as it is at one time, but different
 * chunks at different times. Threads' records come before most trees, so that a tree may have samples that
 * its thread's record does not count yet. When all is copied, snapshot_note_later() counts the samples that
 * were delivered until then. */
#ifndef BLAME_COMMAND_CLI_SNAPSHOT_COPY_H
#define BLAME_COMMAND_CLI_SNAPSHOT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "command/profile/profile.h"

struct profile_header;

/* Reads exactly so many bytes; false with errno. */
bool snapshot_read(int file, char *to, size_t bytes, off_t at);

/* Copies the chunks that the header counts. The header was read before, and counts only complete chunks.
 * Returns false with errno. */
bool snapshot_copy(int from, int to, const struct profile_header *header);

/* Raises `delivered` of the copied threads to its current value: samples not recorded at the time of the copy
 * then count as cut off, as in a killed process. Returns false with errno. */
bool snapshot_note_later(int from, int to, const struct profile_header *header);

#endif
