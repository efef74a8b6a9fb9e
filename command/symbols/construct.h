/* Names the functions that compilers outline from OpenMP constructs. */
#ifndef BLAME_COMMAND_SYMBOLS_CONSTRUCT_H
#define BLAME_COMMAND_SYMBOLS_CONSTRUCT_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Fills in the frame of an outlined function: its kind, names, file and line. `unit` and `function` may be
 * NULL. */
void symbols_construct_name(struct symbols_module *module, struct symbols_unit *unit, struct symbols_function *function,
                            const struct symbols_raw *raw, struct symbol_frame *frame);

#endif
