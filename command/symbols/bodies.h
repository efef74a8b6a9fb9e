/* Finds the functions that compilers outlined from the OpenMP constructs in a module. */
#ifndef BLAME_COMMAND_SYMBOLS_BODIES_H
#define BLAME_COMMAND_SYMBOLS_BODIES_H

#include "command/symbols/module.h"

/* Returns the construct whose body starts at `entry`. It is found by the call that passes the body to the
 * OpenMP runtime. Returns NULL if no such call is known. */
const struct symbols_body *symbols_bodies_at(struct symbols_module *module, uint64_t entry);
/* Finds the entries, as keys, of all outlined functions in the module, and returns their number. They are
 * found by symbol names, or, in a stripped module, by the calls that pass them to the runtime. */
size_t symbols_bodies_all(struct symbols_module *module, const uint64_t **keys);

#endif
