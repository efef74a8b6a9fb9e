/* Functions that compilers outlined from OpenMP constructs, in a whole module. */
#ifndef BLAME_COMMAND_SYMBOLS_BODIES_H
#define BLAME_COMMAND_SYMBOLS_BODIES_H

#include "command/symbols/module.h"

/* The construct whose function begins at `entry`, by the call that hands it to the OpenMP runtime; NULL: none, or not known. */
const struct symbols_body *symbols_bodies_at(struct symbols_module *module, uint64_t entry);
/* All of them as keys: by the symbol table, and those without a symbol by the calls. */
size_t symbols_bodies_all(struct symbols_module *module, const uint64_t **keys);

#endif
