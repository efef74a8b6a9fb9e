/* Reading measurement files: checks a file and merges its trees into one. A damaged or foreign file gives one
 * clear line of error, never a crash. Nothing here runs in the measured program. */
#ifndef BLAME_COMMAND_PROFILE_READ_H
#define BLAME_COMMAND_PROFILE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

/* Reads and checks a file. Returns NULL with one line, without newline, in error[] if the file cannot be
 * used. Regions that were never resolved hang below <unresolved>; recycled nodes are left out. */
struct profile *profile_read(const char *path, char *error, size_t error_bytes);
/* The same for one thread, given by its index in `threads`. The tree has what that thread's samples blamed;
 * the locks are those that the thread waited for. */
struct profile *profile_read_thread(const char *path, size_t thread, char *error, size_t error_bytes);
/* The same without contexts and what belongs to them: only header, texts, threads, modules and names. */
struct profile *profile_read_outline(const char *path, char *error, size_t error_bytes);
/* Reads the checked header and the chunks, which the caller frees. Returns NULL, or what is wrong with the
 * file (possibly a text in buffer). */
const char *profile_read_chunks(const char *path, struct profile_header *header, unsigned char **bytes, char *buffer,
                                size_t buffer_bytes);
/* Reads only the header. Returns false if there is no valid one. */
bool profile_read_header(const char *path, struct profile_header *header);

#endif
