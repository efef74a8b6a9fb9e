/* Definition of struct symbols. */
#ifndef BLAME_COMMAND_SYMBOLS_STATE_H
#define BLAME_COMMAND_SYMBOLS_STATE_H

#include "command/symbols/module.h"

struct perf_map;
struct symbols;

/* Returns the module with this number; NULL if there is none. */
struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id);

struct symbols {
    struct pool pool;
    struct symbols_module *modules;
    size_t module_count;
    struct symbols_answers answers;
    bool searching; /* whether a search for tail calls is in progress */
    bool news;      /* whether some answers are not yet in the file of names */
    uint8_t *file;  /* contents of the file of names, to which the answers point */
    bool elsewhere; /* whether the program ran in another mount namespace than this process */
    struct symbols_imports imports;
    struct perf_map *compiled; /* names of code that is in no file; NULL: none are known */
};

#endif
