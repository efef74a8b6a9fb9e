/* The arena: the measurement file, grown by chunks that are mapped where they stand. What is written here is
 * on its way to the disk whatever happens to the process.
 *
 * Guarantee A1: a chunk's disk space exists before its memory is touched (a full disk is a NULL, not a
 * SIGBUS). Guarantee A2: arena_chunks[n] is published with release order after the chunk's header is
 * complete; whoever got a unit's index through an acquire load may follow it. */
#ifndef BLAME_CCT_ARENA_H
#define BLAME_CCT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cct/profile_format.h"

/* Creates the file (it must not exist) and its header; false with errno set on failure. [init] */
bool arena_open(const char *path, mode_t mode);

/* Forgets the file without writing to it: the child of a fork. [init] */
void arena_abandon(void);

/* Unmaps nothing (late samples may still read), marks the file as finished. [init] */
void arena_finish(void);

/* Waits until what is in the file so far is on the disk; false if there is no file or that failed. [owner] */
bool arena_flush(void);

bool arena_is_open(void); /* [handler] */

/* The header in the file; NULL when no arena is open. [handler] */
struct profile_header *arena_header(void);

/* A new chunk, number in *chunk_no; NULL when the disk is full or memory is out (asked again only after a
 * pause, so that a full disk does not cost a system call per sample). [handler] */
struct profile_chunk *arena_chunk(enum profile_chunk_kind kind, uint32_t owner, uint32_t *chunk_no);

/* Returns how many chunks of kind TREE the file has. [handler] */
uint32_t arena_tree_chunks(void);

/* Notes in the header why something had no room, an errno, and its limit; the first one counts. [handler] */
void arena_note_refusal(int error);

/* The unit with that index; the index must have come from the arena. [handler] */
void *arena_unit(uint32_t unit_idx);

/* A zeroed record in a chunk of the kind (thread, module, name), its number in *number (0, 1, ...). Serialised by
 * the caller. NULL when there is no room. [handler] */
void *arena_record(enum profile_chunk_kind kind, uint32_t *number);

/* Appends "key\0value\0"; serialised by the caller; false when there is no room or the pair is too long.
 * [any] */
bool arena_text(const char *key, const char *value);

#endif
