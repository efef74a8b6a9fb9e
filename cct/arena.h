/* The arena is the measurement file. It grows by chunks that are mapped into memory. What is written here
 * reaches the disk whatever happens to the process.
 *
 * Guarantee A1: a chunk's disk space exists before its memory is touched, so a full disk gives NULL and not a
 * SIGBUS. Guarantee A2: arena_chunks[n] is published with release order after the chunk's header is complete.
 * A thread that got a unit's index by an acquire load may follow it. */
#ifndef BLAME_CCT_ARENA_H
#define BLAME_CCT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cct/profile_format.h"

/* Creates the file, which must not exist, and its header. Returns false with errno set on failure. [init] */
bool arena_open(const char *path, mode_t mode);

/* Forgets the file without writing to it, in the child of a fork. [init] */
void arena_abandon(void);

/* Marks the file as finished. It unmaps nothing, since late samples may still read. [init] */
void arena_finish(void);

/* Waits until the file's contents so far are on the disk. Returns false if there is no file or the call
 * failed. [owner] */
bool arena_flush(void);

bool arena_is_open(void); /* [handler] */

/* Returns the header in the file; NULL if no arena is open. [handler] */
struct profile_header *arena_header(void);

/* Returns a new chunk and stores its number in *chunk_no; NULL if the disk is full or memory is out. After a
 * failure it asks again only after a pause, so a full disk does not cost a system call per sample. [handler] */
struct profile_chunk *arena_chunk(enum profile_chunk_kind kind, uint32_t owner, uint32_t *chunk_no);

/* Returns the number of chunks of kind TREE in the file. [handler] */
uint32_t arena_tree_chunks(void);

/* Notes in the header why something had no room: an errno, and the limit that it ran into. Only the first
 * call counts. [handler] */
void arena_note_refusal(int error);

/* Returns the unit with that index, which must have come from the arena. [handler] */
void *arena_unit(uint32_t unit_idx);

/* Returns a zeroed record in a chunk of the kind (thread, module, name) and stores its number in *number (0,
 * 1, ...). Returns NULL if there is no room. The caller serialises the calls. [handler] */
void *arena_record(enum profile_chunk_kind kind, uint32_t *number);

/* Appends "key\0value\0". Returns false if there is no room or the pair is too long. The caller serialises
 * the calls. [any] */
bool arena_text(const char *key, const char *value);

#endif
