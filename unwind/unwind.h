/* Call paths, one frame after the other, from an interrupted or calling context outward. A step is taken by a
 * recipe (unwind/recipe.h), which the thread keeps in a table by code address, or by libunwind if there is no
 * recipe. Nothing takes a lock or can fault: the stack is read within its bounds, and unwind tables come from
 * the load map's views (guarantees U1, U2, C1). A thread's unwinder is never entered twice at once (T1). */
#ifndef BLAME_UNWIND_UNWIND_H
#define BLAME_UNWIND_UNWIND_H

#include <stdbool.h>
#include <ucontext.h>

#include "unwind/unwinder.h"

/* Finds the address to which signal handlers return, from a signal with a handler, so that paths through the
 * program's own handlers are complete. [init] */
void unwind_note_trampoline(int signal);

/* Prepares a thread's unwinder. Returns false if there is no memory. [owner] */
bool unwinder_init(struct unwinder *unwinder);

/* Makes the calling thread the unwinder's thread, with the bounds of its stack. The first call in the process
 * also walks once, to set things up. [owner] */
void unwinder_attach(struct unwinder *unwinder);

/* Starts a walk at the instruction that a signal interrupted. [handler] */
void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context);

/* Starts a walk in the caller of a function that waits further out on the calling thread's stack. frame[0] is
 * the caller's rbp, frame[1] the return address. [handler] */
void unwinder_start_above(struct unwinder *unwinder, const uintptr_t *frame);

/* Returns true if the interrupted code is a waiting loop: at a `pause`, or in sched_yield. [handler] */
bool unwind_is_spinning(const ucontext_t *context);

/* Starts a walk in the calling function, whose caller is the first frame. [handler] */
void unwinder_start_here(struct unwinder *unwinder);

/* Delivers the next frame. Frames are validated: the stack pointer grows, and the address is executable.
 * [handler] */
enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame);

#endif
