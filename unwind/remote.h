/* Takes the steps that recipes cannot take, by libunwind. Only unwind/unwind.c uses it. Each thread has its
 * own libunwind address space, for which our functions read all memory (guarantee U1). libunwind's cursor
 * needs all registers, which recipes do not track. So when libunwind must take a step, the cursor first
 * repeats the steps that recipes have taken since libunwind's last step. The cursor never goes back, so in a
 * walk it takes at most as many steps as there are frames. */
#ifndef BLAME_UNWIND_REMOTE_H
#define BLAME_UNWIND_REMOTE_H

#include "unwind/unwinder.h"

/* Initialises libunwind for a thread. Returns false if there is no memory. [owner] */
bool remote_init(struct unwinder *unwinder);

/* Empties libunwind's cache, because the load map has changed. [handler] */
void remote_flush(struct unwinder *unwinder);

/* Steps from the frame unwinder->at to its caller. frame_number is the frame's number in the walk, from 0.
 * Returns a positive number on success, 0 if there is no caller, a negative number on failure. [handler] */
int remote_step(struct unwinder *unwinder, uint64_t frame_number, struct unwind_registers *caller);

#endif
