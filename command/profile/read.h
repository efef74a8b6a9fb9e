/* Reading measurement files: checks one file, and merges its trees into one. A damaged or foreign file is an
 * error with one clear line, never a crash. Nothing here runs while the program is measured. */
#ifndef BLAME_COMMAND_PROFILE_READ_H
#define BLAME_COMMAND_PROFILE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

/* Reads and checks the file at `path`. Returns NULL with one line (no newline) in error[] if it cannot be
 * used. Regions that were never resolved hang below <unresolved>; recycled nodes are left out. */
struct profile *profile_read(const char *path, char *error, size_t error_bytes);
/* The same of one thread, by its place in `threads`: the tree has what its samples were blamed for. Locks are
 * those it waited for. */
struct profile *profile_read_thread(const char *path, size_t thread, char *error, size_t error_bytes);
/* The same without contexts and what is of them: header, texts, threads, modules, names. */
struct profile *profile_read_outline(const char *path, char *error, size_t error_bytes);
/* The header, checked, and the chunks that it says are there, malloc'ed; NULL or what is wrong with the file, perhaps in buffer. */
const char *profile_read_chunks(const char *path, struct profile_header *header, unsigned char **bytes, char *buffer,
                                size_t buffer_bytes);
/* The header alone; false: there is none that makes sense. */
bool profile_read_header(const char *path, struct profile_header *header);

#endif
