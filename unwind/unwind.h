/* Call paths: one frame after the other, from an interrupted or a calling context outward. A step is a
 * recipe's (unwind/recipe.h), kept in a table of the thread's by code address, or libunwind's, where a recipe
 * cannot say it. Nothing takes a lock or can fault: the stack is read within its bounds, unwind tables come
 * from the load map's views (guarantees U1, U2, C1). The unwinder of a thread is never entered twice at once
 * (T1). */
#ifndef BLAME_UNWIND_UNWIND_H
#define BLAME_UNWIND_UNWIND_H

#include <stdbool.h>
#include <ucontext.h>

#include "unwind/unwinder.h"

/* Learns where handlers return to, from a signal that has a handler: paths through the program's own
 * handlers. [init] */
void unwind_note_trampoline(int signal);

/* Prepares a thread's unwinder; false when there is no memory. [owner] */
bool unwinder_init(struct unwinder *unwinder);

/* Makes the calling thread the unwinder's thread: its stack's bounds. The process's first also walks, to set things up.
 * [owner] */
void unwinder_attach(struct unwinder *unwinder);

/* Starts a walk where a signal interrupted the thread. [handler] */
void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context);

/* Starts a walk in the caller of a function that waits further out on the calling thread's stack; frame: where that function
 * keeps the caller's rbp, and behind it the address that it returns to. [handler] */
void unwinder_start_above(struct unwinder *unwinder, const uintptr_t *frame);

/* True if the interrupted code is a loop that waits: at a `pause`, or in sched_yield. [handler] */
bool unwind_is_spinning(const ucontext_t *context);

/* Starts a walk in the calling function (the caller is its first frame). [handler] */
void unwinder_start_here(struct unwinder *unwinder);

/* The next frame. frames are validated: the stack pointer grows, the address is executable. [handler] */
enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame);

#endif
