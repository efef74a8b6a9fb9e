/* libunwind, for what recipes cannot say; for unwind/unwind.c alone. It walks an address space of its own a
 * thread, with all memory reads through us (guarantee U1). Its cursor needs every register, which recipes do
 * not follow: so it lags behind, and takes the steps that it has missed before the one that it is asked for.
 * It never goes back: all its steps of a walk together are at most one walk. */
#ifndef BLAME_UNWIND_REMOTE_H
#define BLAME_UNWIND_REMOTE_H

#include "unwind/unwinder.h"

/* False when there is no memory. [owner] */
bool remote_init(struct unwinder *unwinder);

/* Forgets what was learnt of code: the load map has changed. [handler] */
void remote_flush(struct unwinder *unwinder);

/* From unwinder->at, which is the walk's frame of that number (the first is 0), to its caller. Above 0: there
 * it is; 0: there is none; below 0: it cannot be found. [handler] */
int remote_step(struct unwinder *unwinder, uint64_t frame_number, struct unwind_registers *caller);

#endif
