/* Readable names. */
#ifndef BLAME_COMMAND_SYMBOLS_DEMANGLE_H
#define BLAME_COMMAND_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "command/symbols/code.h"
#include "command/symbols/module.h"
#include "command/symbols/symbol.h"

enum symbols_compiler { SYMBOLS_CLANG, SYMBOLS_GCC, SYMBOLS_FLANG, SYMBOLS_INTEL };

struct symbols_outlined {
    enum symbol_construct kind; /* SYMBOL_PROCEDURE: not an outlined function */
    enum symbols_compiler compiler;
    bool uncertain; /* `kind` is a guess */
    bool inner;     /* the inner one of clang's two functions */
    /* clang's ".omp_outlined." without a host's name: a task's body if it is inlined into a task's entry */
    bool task_part;
    size_t stem; /* length of the host's linkage name within the name; 0: none */
};
#define CLANG_MARK ".omp_outlined"
struct symbols_outlined symbols_construct_parse(const char *raw);

/* How an entry of the OpenMP runtime receives a construct's function. */
struct symbols_launch {
    int argument; /* index of the argument that is the construct's function; -1: none */
    bool at_once; /* the runtime runs the function before it returns; otherwise later, as a task */
    enum symbol_construct kind;
};
struct symbols_launch symbols_launch_by(const char *name);
bool symbols_launches(const char *name); /* whether it has such an argument */

/* Returns a demangled name (C++, Fortran; not Rust v0), or a copy of the name if it is not mangled. The
 * caller frees it. */
char *symbols_demangle(const char *name);

/* Returns the length of a symbol's name without suffixes that compilers append to copies and parts of
 * functions (.cold, .isra.0, .constprop.1, .part.2, .llvm.123 ...). */
size_t symbols_name_stem(const char *name);
/* Returns the readable form of a linkage name without such suffixes, in the pool. */
const char *symbols_name_readable(struct pool *pool, const char *name, size_t bytes);

/* Returns the name record of a symbol from the symbol table. Cached. NULL if there is no memory. */
const struct symbols_name *symbols_frames_symbol(struct symbols_module *module, const char *symbol);

#endif
