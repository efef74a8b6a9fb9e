/* The definition of struct symbols, the state of a symbol lookup. */
#ifndef BLAME_COMMAND_SYMBOLS_STATE_H
#define BLAME_COMMAND_SYMBOLS_STATE_H

#include "command/symbols/module.h"

struct perf_map;
struct symbols;

/* Returns the module with the number module_id, or NULL if there is none. */
struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id);

struct symbols {
    struct pool pool;
    struct symbols_module *modules;
    size_t module_count;
    struct symbols_answers answers;
    bool searching; /* whether a search for tail calls is asking the questions */
    bool news;      /* whether there are answers that the file of names does not contain yet */
    uint8_t *file;  /* contents of the file of names; the answers point into it */
    bool elsewhere; /* whether the program ran in another mount namespace than this process does */
    struct symbols_imports imports;
    /* names of code that belongs to no file, from the perf map; NULL: no perf map */
    struct perf_map *compiled;
};

#endif
