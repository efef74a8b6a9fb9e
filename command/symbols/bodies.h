/* Finds the functions that compilers outlined from the OpenMP constructs of a module. */
#ifndef BLAME_COMMAND_SYMBOLS_BODIES_H
#define BLAME_COMMAND_SYMBOLS_BODIES_H

#include "command/symbols/module.h"

/* Returns the construct whose function starts at `entry`, found by the call that passes the function to the
 * OpenMP runtime. Returns NULL if there is no such call, or if it is unknown. */
const struct symbols_body *symbols_bodies_at(struct symbols_module *module, uint64_t entry);
/* Finds the entries of all outlined functions, as keys. Uses symbol names, or, in a stripped module, the
 * calls that pass the functions to the runtime. Returns their number. */
size_t symbols_bodies_all(struct symbols_module *module, const uint64_t **keys);

#endif
