/* Walks a call path, from an interrupted or calling function outward. Each step goes from one frame to its
 * caller. A step uses a recipe (unwind/recipe.h); each thread keeps the recipes that it has used in a cache,
 * by code address. If there is no recipe, libunwind takes the step. No step takes a lock or can fault: the
 * stack is read only within its bounds, and unwind tables are read from the modules' second mappings
 * (guarantees U1, U2, C1). A thread never enters its unwinder while it is already in it (T1). */
#ifndef BLAME_UNWIND_UNWIND_H
#define BLAME_UNWIND_UNWIND_H

#include <stdbool.h>
#include <ucontext.h>

#include "unwind/unwinder.h"

/* Finds the address to which signal handlers return, so that walks can cross the program's own handlers.
 * There must be a handler for `signal`. [init] */
void unwind_note_trampoline(int signal);

/* Initialises a thread's unwinder. Returns false if there is no memory. [owner] */
bool unwinder_init(struct unwinder *unwinder);

/* Binds the unwinder to the calling thread and finds the bounds of the thread's stack, on which `here` is. The first
 * call in a process also takes a trial walk, which initialises libunwind. [owner] */
void unwinder_attach(struct unwinder *unwinder, uintptr_t here);

/* Starts a walk at the instruction that a signal interrupted. [handler] */
void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context);

/* Starts a walk in the caller of a function whose frame is further outward on the calling thread's stack.
 * frame[0] is the caller's rbp, frame[1] the return address. [handler] */
void unwinder_start_above(struct unwinder *unwinder, const uintptr_t *frame);

/* Returns true if the interrupted instruction is one that only waiting loops have: it is or follows a `pause`, or
 * follows the system call sched_yield. [handler] */
bool unwind_is_spinning(const ucontext_t *context);

/* Starts a walk in the function that calls this; the first frame is that function's caller. [handler] */
void unwinder_start_here(struct unwinder *unwinder);

/* Finds the next frame outward. Frames are checked: the stack pointer must grow, and the address must be
 * executable. [handler] */
enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame);

#endif
