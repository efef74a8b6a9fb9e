/* Definition of struct symbols. */
#ifndef BLAME_COMMAND_SYMBOLS_STATE_H
#define BLAME_COMMAND_SYMBOLS_STATE_H

#include "command/symbols/module.h"

struct perf_map;
struct symbols;

/* Returns the module with this id; NULL if there is none. */
struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id);

struct symbols {
    struct pool pool;
    struct symbols_module *modules;
    size_t module_count;
    struct symbols_answers answers;
    bool searching; /* a search for tail calls is going on */
    bool news;      /* some answers to store are not in the file yet */
    uint8_t *file;  /* contents of the file that the answers point into */
    bool elsewhere; /* the program had other mounts than this process */
    struct symbols_imports imports;
    struct perf_map *compiled; /* names of code that is in no file, or NULL */
};

#endif
