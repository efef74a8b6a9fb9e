/* Python's own frames, which are in the interpreter's memory. CPython 3.11 runs many of them in one call of
 * its loop, _PyEval_EvalFrameDefault, that is in one frame of the stack. Each call of the loop has a record
 * among its variables, which leads to its Python frames. The thread's state has the innermost record. So a
 * stack frame belongs to the loop if it contains the next record, whatever the interpreter's symbols say.
 *
 * It calls nothing in Python and takes no lock, least of all the interpreter's. The data may be changing,
 * because a sample interrupts the interpreter anywhere. So it is read by process_vm_readv, which cannot
 * fault, in bounded steps, and is checked (guarantee Y1 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_PYTHON_H
#define BLAME_UNWIND_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/python_code.h"
#include "unwind/unwinder.h"

/* Looks for an interpreter and flags its module (PROFILE_MODULE_INTERPRETER) if its frames can be read.
 * Writes its version, and in *why_not the reason why they cannot be read, or NULL. Returns false if there is
 * none. [init] */
bool python_init(char *version, size_t bytes, const char **why_not);

/* Limit of the records that a walk skips because they are in frames that it did not walk; each costs a system
 * call. Beyond the limit, the row of the current frame stands for all calls further out. */
#define PYTHON_MAX_PASSED 512u

/* A walk's position among the thread's Python frames. At the start only `begun` must be set, to false. */
struct python_walk {
    bool begun;
    /* the thread sleeps until it gets the interpreter's lock, and the last frame is part of that wait */
    bool waits;
    bool broken;        /* the frames of this call of the loop could not all be read */
    uintptr_t waits_to; /* end of those frames */
    uintptr_t level;    /* record of the next call of the loop; 0: none further out */
    uintptr_t frame;    /* next Python frame of this call; 0: none */
    uintptr_t top;      /* innermost Python frame of the next call */
    uintptr_t outer;    /* record of the call around the next one */
    uint32_t passed;    /* records skipped so far, see PYTHON_MAX_PASSED */
};

enum python_kind {
    PYTHON_NONE, /* a frame like any other */
    PYTHON_GLUE, /* the interpreter's own frame, between its loop and other code */
    PYTHON_LOOP, /* a call of the loop: python_next() returns its Python frames */
};

/* Begins at the first frame of the interpreter. `asleep`: the walk's thread sleeps in the system call where
 * the walk began. [handler] */
void python_begin(struct python_walk *walk, struct unwinder *unwinder, bool asleep);

/* Returns the kind of a flagged module's frame. Frames come from the innermost outward. [handler] */
enum python_kind python_meet(struct python_walk *walk, const struct unwind_frame *frame);

/* Finds the next Python frame of that call, from the innermost outward. Returns false after the last one, or
 * if the next cannot be read (walk->broken). [handler] */
bool python_next(struct python_walk *walk, struct unwinder *unwinder, struct python_place *place);

/* Returns true if the system call where the walk began, in which the thread sleeps, waits for the
 * interpreter's lock. [handler] */
bool python_waits(const struct unwinder *unwinder);

/* Finds the line in which another thread holds that lock. Returns false if none holds it, if it changes
 * hands, or if its frame cannot be read. [handler] */
bool python_holder(struct unwinder *unwinder, struct python_place *place);

#endif
