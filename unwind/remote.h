/* libunwind, for frames that recipes cannot describe. Only unwind/unwind.c uses it. Each thread has an
 * address space of its own, and all memory is read by our functions (guarantee U1). libunwind's cursor needs
 * every register, which recipes do not follow. So the cursor lags behind and catches up on the missed steps
 * when it is needed. It never goes back: all its steps in a walk together are at most one walk. */
#ifndef BLAME_UNWIND_REMOTE_H
#define BLAME_UNWIND_REMOTE_H

#include "unwind/unwinder.h"

/* Prepares libunwind for a thread. Returns false if there is no memory. [owner] */
bool remote_init(struct unwinder *unwinder);

/* Forgets all results about code, because the load map has changed. [handler] */
void remote_flush(struct unwinder *unwinder);

/* Steps from unwinder->at, the walk's frame with that number (the first is 0), to its caller. Returns a
 * number above 0 if it was found, 0 if there is no caller, below 0 on failure. [handler] */
int remote_step(struct unwinder *unwinder, uint64_t frame_number, struct unwind_registers *caller);

#endif
