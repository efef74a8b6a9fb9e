/* Finds the Python functions in a walk. Their frames are in the interpreter's memory, not on the stack. One
 * call of the interpreter's loop, _PyEval_EvalFrameDefault, has one frame on the stack, but since CPython 3.11
 * it may execute many Python frames. The structures differ between versions (enum python_levels):
 *
 * 3.12 and later: Python frames are a list. Each call of the loop has an entry frame among its local variables, which
 *   ends the part of the list that the call executes. So a stack frame belongs to the loop if it contains the next entry
 *   frame.
 * 3.11: Each call of the loop has a record (_PyCFrame) among its local variables, which leads to the call's Python frames
 *   and to the record of the next outer call. The thread's Python state leads to the innermost record.
 * 3.10: There are the same records. Each call executes one Python frame, the next one of a list.
 * 3.9: There are no records. A stack frame belongs to the loop if its code does.
 *
 * Except in 3.9, the interpreter's symbols are not needed.
 *
 * This code calls no Python function and takes no lock, in particular not the interpreter's. A sample can
 * interrupt the interpreter anywhere, so the data may be inconsistent. Our code reads it by process_vm_readv,
 * which cannot fault, in bounded steps, and checks it (guarantee Y1 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_PYTHON_H
#define BLAME_UNWIND_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/python_code.h"
#include "unwind/unwinder.h"

/* Looks for an interpreter in the process. Returns false if there is none. Otherwise writes the interpreter's
 * version to `version`. If we can read its Python frames, sets *why_not to NULL and flags its module
 * (PROFILE_MODULE_INTERPRETER); if not, sets *why_not to the reason. [init] */
bool python_init(char *version, size_t bytes, const char **why_not);

/* Maximum number of records that a walk skips because the stack frames that contain them were not reported;
 * each costs a system call. When it is reached, the current frame's row also represents all outer calls. */
#define PYTHON_MAX_PASSED 512u

/* Maximum number of Python frames that a walk passes in search of entry frames. When it is reached, the next frame's row
 * represents all outer calls. */
#define PYTHON_MAX_SCANNED 4096u

/* A walk's position among the thread's Python frames. `begun` must be initialised to false; python_begin()
 * sets the rest. */
struct python_walk {
    bool begun;
    /* true if the thread is asleep until it gets the interpreter's lock, and the last frame belongs to that
     * wait */
    bool waits;
    bool broken;        /* true if some Python frames of the current call of the loop could not be read */
    uintptr_t waits_to; /* end (CFA) of the last stack frame that belongs to the wait */
    bool lost;          /* true if the search for an entry frame was given up */
    /* address of the record or the entry frame of the next outer call of the loop; 0: there is none */
    uintptr_t level;
    uintptr_t frame; /* next Python frame of the current call; 0: none */
    uintptr_t last;  /* entry frame that ends the current call's frames */
    uintptr_t top;   /* innermost Python frame of the next call of the loop */
    /* record of the call of the loop after the next one; with entry frames, its innermost Python frame */
    uintptr_t outer;
    uintptr_t chain;  /* until 3.10: innermost Python frame that no call has yet */
    uint32_t passed;  /* number of records skipped so far, limited by PYTHON_MAX_PASSED */
    uint32_t scanned; /* number of Python frames passed so far, limited by PYTHON_MAX_SCANNED */
};

enum python_kind {
    PYTHON_NONE, /* a frame that does not belong to the interpreter's loop or glue */
    PYTHON_GLUE, /* a frame of the interpreter itself, between its loop and other code */
    PYTHON_LOOP, /* a call of the interpreter's loop; python_next() returns its Python frames */
};

/* Must be called when a walk meets its first frame of the interpreter. `asleep` says whether the thread is
 * sleeping in the system call at which the walk started. [handler] */
void python_begin(struct python_walk *walk, struct unwinder *unwinder, bool asleep);

/* Returns the kind of a frame whose module has the flag PROFILE_MODULE_INTERPRETER. Must be called for each
 * such frame, from the innermost outward. [handler] */
enum python_kind python_meet(struct python_walk *walk, struct unwinder *unwinder, const struct unwind_frame *frame);

/* Finds the next Python frame of the current call of the loop, going outward. Returns false after the last
 * one, or if the frame cannot be read (walk->broken). [handler] */
bool python_next(struct python_walk *walk, struct unwinder *unwinder, struct python_place *place);

/* Returns true if the system call at which the walk started waits for the interpreter's lock. [handler] */
bool python_waits(struct unwinder *unwinder);

/* Finds the line at which another thread holds the interpreter's lock. Returns false if no thread holds it,
 * if the holder changes during the search, or if its frame cannot be read. [handler] */
bool python_holder(struct unwinder *unwinder, struct python_place *place);

#endif
