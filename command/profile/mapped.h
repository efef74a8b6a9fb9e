/* The chunks of a complete measurement file, mapped into memory. This is faster than copying them, and needs less memory. If
 * the file is truncated meanwhile, or its disk fails, the command prints one line and exits. */
#ifndef BLAME_COMMAND_PROFILE_MAPPED_H
#define BLAME_COMMAND_PROFILE_MAPPED_H

#include "command/profile/chunks.h"

/* Maps the chunks, `bytes` in all, of a file to which nobody writes any more. Returns NULL if that is impossible. At most
 * one file is mapped at a time. */
unsigned char *mapped_chunks(int file, size_t bytes);

void mapped_end(unsigned char *chunks, uint32_t count);

/* For struct profile_chunks: frees the memory of the last MAPPED_CHUNKS of the first `done` chunks. If they are needed again,
 * the kernel reads them again. */
#define MAPPED_CHUNKS 64u
void mapped_drop(const struct profile_chunks *chunks, uint32_t done);

#endif
