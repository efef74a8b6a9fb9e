/* The state that Python keeps for a thread, and the interpreter's lock. All is read by process_vm_readv. */
#ifndef BLAME_UNWIND_PYTHON_STATE_H
#define BLAME_UNWIND_PYTHON_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "unwind/unwinder.h"

/* Maximum number of threads' states among which a thread looks for its own. */
#define PYTHON_MAX_STATES 512u

struct python_state {
    uintptr_t self;           /* pthread_self() */
    uintptr_t frame;          /* innermost Python frame; 0: none */
    uintptr_t record;         /* record of the innermost call of the loop, in versions that have records */
    uintptr_t interpreter;    /* address of the interpreter's state, if the version's lock is found by it */
    uintptr_t previous, next; /* states of other threads, in versions in which we walk their list */
};

/* A record of a call of the interpreter's loop. */
struct python_record {
    uintptr_t frame, previous;
};

/* Returns the word at an offset in bytes. [handler] */
static inline uintptr_t python_word(const unsigned char *from, size_t offset)
{
    uintptr_t word;
    memcpy(&word, from + offset, sizeof(word));
    return word;
}

/* Sets the address of _PyRuntime. Returns NULL, or the reason for which the structures in it are not those of
 * python_layout. [init] */
const char *python_state_init(const unsigned char *runtime);

/* Reads the Python state at this address. Returns false if it cannot be read. [handler] */
bool python_read_state(uintptr_t address, struct python_state *state);

/* Reads the calling thread's Python state. Returns false if the thread has none. [handler] */
bool python_own_state(struct unwinder *unwinder, struct python_state *state);

/* Reads a record. Returns false if it cannot be read. [handler] */
bool python_read_record(uintptr_t address, struct python_record *record);

/* Returns the address of the lock of the calling thread's interpreter; 0 if it is unknown. [handler] */
uintptr_t python_lock(struct unwinder *unwinder);

/* Copies the lock without its condition variable. Returns the address of the Python state of the thread that holds it; 0
 * if no thread does. [handler] */
uintptr_t python_read_lock(uintptr_t lock, unsigned char *copy);

#endif
