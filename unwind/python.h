/* Python's own frames, which lie in memory of the interpreter's: CPython 3.11 runs many of them in one call of its loop,
 * _PyEval_EvalFrameDefault, that is in one frame of the stack. Each such call has a record among its variables, from
 * which its Python frames can be reached, and the thread's state has the innermost record. So a frame of the stack is the
 * loop's if it holds the next record, whatever the interpreter's symbols say.
 *
 * Nothing of Python's is called, and no lock is taken, the interpreter's least of all. What is read may be changing (the
 * sample interrupts the interpreter anywhere): it is read by process_vm_readv, which cannot fault, in bounded steps, and
 * checked (guarantee Y1 of docs/concurrency.md). */
#ifndef BLAME_UNWIND_PYTHON_H
#define BLAME_UNWIND_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/python_code.h"
#include "unwind/unwinder.h"

/* Looks for an interpreter, and flags its module (PROFILE_MODULE_INTERPRETER) if its frames can be read. Its version,
 * and why they cannot, or NULL, behind it; false: there is none. [init] */
bool python_init(char *version, size_t bytes, const char **why_not);

/* Records that a walk passes over because they lie in frames that it did not walk, each by a system call. Where there are more, the row of the frame that was met stands
 * for all calls further out. */
#define PYTHON_MAX_PASSED 512u

/* A walk's place among the thread's Python frames; only `begun` counts, false, when it begins. */
struct python_walk {
    bool begun;
    bool waits;  /* the thread sleeps until it gets the interpreter's lock, and the last frame is a part of how */
    bool broken; /* the frames of this call of the loop could not be read to the last */
    uintptr_t waits_to; /* where those frames end */
    uintptr_t level;    /* record of the next call of the loop, 0: there is none further out */
    uintptr_t frame;    /* the next Python frame of this one, 0: none */
    uintptr_t top;      /* the innermost one of the next */
    uintptr_t outer;    /* record of the one around the next */
    uint32_t passed;    /* records so far, see PYTHON_MAX_PASSED */
};

enum python_kind {
    PYTHON_NONE, /* a frame like any other */
    PYTHON_GLUE, /* the interpreter's own, between its loop and other code */
    PYTHON_LOOP, /* a call of the loop: python_next() yields the Python frames that it runs */
};

/* Where an interpreter's frame is met first. asleep: the walk's thread sleeps in the system call that the walk began in. [handler] */
void python_begin(struct python_walk *walk, struct unwinder *unwinder, bool asleep);

/* What a frame of a flagged module is; frames come from the innermost outward. [handler] */
enum python_kind python_meet(struct python_walk *walk, const struct unwind_frame *frame);

/* The Python frames of that call, from the innermost outward; false behind the last one, or if the next cannot be read
 * (walk->broken). [handler] */
bool python_next(struct python_walk *walk, struct unwinder *unwinder, struct python_place *place);

/* True if the system call that the unwinder was started in, and in which the thread sleeps, waits for the interpreter's lock. [handler] */
bool python_waits(const struct unwinder *unwinder);

/* The line in which another thread holds that lock; false if nobody does, it changes hands, or its frame cannot be read. [handler] */
bool python_holder(struct unwinder *unwinder, struct python_place *place);

#endif
