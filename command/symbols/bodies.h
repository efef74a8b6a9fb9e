/* Functions that compilers outlined from OpenMP constructs, for a whole module. */
#ifndef BLAME_COMMAND_SYMBOLS_BODIES_H
#define BLAME_COMMAND_SYMBOLS_BODIES_H

#include "command/symbols/module.h"

/* Returns the construct whose function begins at `entry`, found by the call that passes it to the OpenMP
 * runtime; NULL if there is none or it is unknown. */
const struct symbols_body *symbols_bodies_at(struct symbols_module *module, uint64_t entry);
/* Finds all of them as keys: by the symbol table, or in a stripped module by the calls. Returns their number. */
size_t symbols_bodies_all(struct symbols_module *module, const uint64_t **keys);

#endif
