/* Finds the frames that tail calls removed from the stack. At -O2, compilers turn the last call of a function
 * into a jump. The stack then shows a call of one function, but the next frame is that of another. A chain of
 * tail calls leads from the first function to the second. If only one chain is possible, all its functions
 * are known. A chain can pass through an OpenMP construct: a function that ends with a region jumps into the
 * runtime, and a body that ends with a call jumps to the called function. */
#ifndef BLAME_COMMAND_SYMBOLS_TAIL_CALLS_H
#define BLAME_COMMAND_SYMBOLS_TAIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/symbols.h"

/* Finds the frames that are missing between a caller (key: return address - 1) and the next frame on the
 * stack, outermost first. Returns their number, which is 0 if none are missing or they are unknown. The
 * result is cached. *frames is valid until symbols_close(). */
size_t tail_calls_between(struct symbols *symbols, uint64_t caller, uint64_t callee, const struct tail_frame **frames);

/* Does the same if the next frame is in the runtime. If no symbol covers it, the function that was called is missing, if
 * the same module defines it. */
size_t tail_calls_into_runtime(struct symbols *symbols, uint64_t caller, uint64_t callee,
                               const struct tail_frame **frames);

/* Finds the frames that are missing between a caller and the function of the runtime or of POSIX threads in which its
 * call took or released a lock, as tail_calls_between() does. */
size_t tail_calls_to_lock(struct symbols *symbols, uint64_t caller, const struct tail_frame **frames);

#endif
