/* What struct symbols is. */
#ifndef BLAME_COMMAND_SYMBOLS_STATE_H
#define BLAME_COMMAND_SYMBOLS_STATE_H

#include "command/symbols/module.h"

struct perf_map;
struct symbols;

/* The module with this id; NULL: none. */
struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id);

struct symbols {
    struct pool pool;
    struct symbols_module *modules;
    size_t module_count;
    struct symbols_answers answers;
    bool searching; /* for tail calls */
    bool news;      /* answers that are to be kept and are not in the file yet */
    uint8_t *file;  /* which the answers point into */
    bool elsewhere; /* the program had other mounts than this process */
    struct symbols_imports imports;
    struct perf_map *compiled; /* of code that is no file's, or NULL */
};

#endif
