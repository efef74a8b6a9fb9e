/* The frames that tail calls took off the stack. At -O2 compilers turn a function's last call into a jump:
 * then the caller's call goes to one function, but the next frame on the stack is another one's. A chain of
 * tail calls leads from the first to the second; where there is only one, its functions are known. OpenMP's
 * constructs are part of it: a function that ends in a region jumps into the runtime, an outlined body that
 * ends in a call jumps to the callee. */
#ifndef BLAME_COMMAND_SYMBOLS_TAIL_CALLS_H
#define BLAME_COMMAND_SYMBOLS_TAIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/symbols.h"

/* The frames missing between a caller's frame (its key: return address - 1) and the frame that is next on the
 * stack, outermost first; 0: none, or nothing is known. Results are cached; *frames is valid as long as the
 * symbols are open. */
size_t tail_calls_between(struct symbols *symbols, uint64_t caller, uint64_t callee, const struct tail_frame **frames);

#endif
