/* Finds the frames that tail calls removed from the stack. At -O2, compilers turn a function's last call into
 * a jump. Then the caller called one function, but the next frame on the stack belongs to another. A chain of
 * tail calls leads from the first function to the second. If only one chain is possible, its functions are
 * known. Chains can pass through OpenMP constructs: a function that ends with a region jumps into the
 * runtime, and an outlined body that ends with a call jumps to the called function. */
#ifndef BLAME_COMMAND_SYMBOLS_TAIL_CALLS_H
#define BLAME_COMMAND_SYMBOLS_TAIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/symbols.h"

/* Finds the frames that are missing between a caller's frame (key: return address - 1) and the next frame on
 * the stack, outermost first. Returns their number; 0 if there are none or they are unknown. The result is
 * cached. *frames is valid until symbols_close(). */
size_t tail_calls_between(struct symbols *symbols, uint64_t caller, uint64_t callee, const struct tail_frame **frames);

#endif
