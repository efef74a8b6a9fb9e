/* The arena is the measurement file. It grows by chunks. Chunks are mapped into memory as shared file pages,
 * so their contents reach the disk even if the process is killed.
 *
 * Guarantee A1: a chunk's disk space exists before its memory is touched. On a full disk the caller gets
 * NULL, and no SIGBUS occurs. Guarantee A2: arena_chunks[n] is published with release order after the chunk's
 * header is complete. A thread that got a unit's index by an acquire load may use the index. */
#ifndef BLAME_CCT_ARENA_H
#define BLAME_CCT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cct/profile_format.h"

/* Creates the measurement file and its header. Returns false with errno set if the file exists or cannot be
 * created. [init] */
bool arena_open(const char *path, mode_t mode);

/* In a forked child: closes the parent's measurement file without writing to it. [init] */
void arena_abandon(void);

/* Marks the file as finished. Nothing is unmapped, because late samples may still read the memory. [init] */
void arena_finish(void);

/* Waits until the file's present contents are on the disk. Returns false if no file is open or the disk
 * reports an error. [owner] */
bool arena_flush(void);

bool arena_is_open(void); /* [handler] */

/* Returns the header in the file; NULL if no arena is open. [handler] */
struct profile_header *arena_header(void);

/* Returns a new chunk and stores its number in *chunk_no. Returns NULL if there is no disk space or memory;
 * for the next 0.1 s, further calls then fail without a system call. [handler] */
struct profile_chunk *arena_chunk(enum profile_chunk_kind kind, uint32_t owner, uint32_t *chunk_no);

/* Returns the number of chunks of kind TREE in the file. [handler] */
uint32_t arena_tree_chunks(void);

/* Stores in the header why the file could not grow: the errno, and the resource limit that was reached. Calls
 * after the first have no effect. [handler] */
void arena_note_refusal(int error);

/* Returns the address of the unit with this index, which must have come from the arena. [handler] */
void *arena_unit(uint32_t unit_idx);

/* Returns a zeroed record in a chunk of this kind (THREAD, MODULE or NAME) and stores its number in *number
 * (0, 1, ...). Returns NULL if there is no room. Calls must not overlap. [handler] */
void *arena_record(enum profile_chunk_kind kind, uint32_t *number);

/* Appends "key\0value\0" to the file's text chunks. Returns false if there is no room or the pair is longer
 * than a chunk. Calls must not overlap. [any] */
bool arena_text(const char *key, const char *value);

#endif
