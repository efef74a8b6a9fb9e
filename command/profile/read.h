/* Reads measurement files. A file is checked, and the trees of its threads are merged into one. A damaged or
 * foreign file causes a one-line error message, never a crash. Nothing here runs in the measured program. */
#ifndef BLAME_COMMAND_PROFILE_READ_H
#define BLAME_COMMAND_PROFILE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

/* Reads and checks a file. If it cannot be used, returns NULL and writes one line, without a newline, to
 * error[]. Regions whose context was never found are below <unresolved>. Recycled nodes are left out. */
struct profile *profile_read(const char *path, char *error, size_t error_bytes);
/* Reads a file like profile_read(), but only the tree of one thread, given by its index in `threads`. The
 * tree contains what this thread's samples booked, and the locks are those that the thread waited for. */
struct profile *profile_read_thread(const char *path, size_t thread, char *error, size_t error_bytes);
/* Reads only a file's header, texts, threads, modules and names; no contexts, and nothing that belongs to
 * contexts. */
struct profile *profile_read_outline(const char *path, char *error, size_t error_bytes);
/* Reads a file's header, which is checked, and its chunks, which the caller frees. Returns NULL, or a text
 * that says what is wrong with the file. The text may be in `buffer`. */
const char *profile_read_chunks(const char *path, struct profile_header *header, unsigned char **bytes, char *buffer,
                                size_t buffer_bytes);
/* Reads only the header. Returns false if the file has no valid header. */
bool profile_read_header(const char *path, struct profile_header *header);

#endif
