/* A copy of a measurement that goes on. Each chunk is as it stood at one moment, and not all at the same: the threads' records come before most of the trees, so a tree may
 * have samples that its thread's record does not count yet. Which, is known when all has been copied: those that were delivered until then. */
#ifndef BLAME_COMMAND_CLI_SNAPSHOT_COPY_H
#define BLAME_COMMAND_CLI_SNAPSHOT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "command/profile/profile.h"

struct profile_header;

/* All of it; false with errno. */
bool snapshot_read(int file, char *to, size_t bytes, off_t at);

/* The chunks that the header counts: it was read before them, and they are complete when they are counted. False with errno. */
bool snapshot_copy(int from, int to, const struct profile_header *header);

/* Raises the copied threads' `delivered` to what it is by now: what they had not recorded then counts as cut off, as in a killed process. False with errno. */
bool snapshot_note_later(int from, int to, const struct profile_header *header);

#endif
