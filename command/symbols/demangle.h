/* Makes readable names, and recognises outlined functions by their names. */
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
    bool uncertain; /* whether `kind` is a guess */
    bool inner;     /* whether this is the inner one of clang's two functions for a construct */
    /* clang's ".omp_outlined." without the host's name; it is a task's body if it is inlined into a task's
     * entry */
    bool task_part;
    /* length of the host's linkage name, with which the name starts; 0: the name does not contain it */
    size_t stem;
};
#define CLANG_MARK ".omp_outlined"
struct symbols_outlined symbols_construct_parse(const char *raw);

/* Describes how a function of the OpenMP runtime receives a construct's function. */
struct symbols_launch {
    int argument; /* index of the argument that is the construct's function; -1: there is none */
    /* whether the runtime runs the construct before it returns; otherwise it runs it later, as a task */
    bool at_once;
    enum symbol_construct kind;
};
struct symbols_launch symbols_launch_by(const char *name);
bool symbols_launches(const char *name); /* whether the runtime function has such an argument */

/* Returns a demangled name (C++ or Fortran, but not Rust v0), or a copy if the name is not mangled. The
 * caller frees the result. */
char *symbols_demangle(const char *name);

/* Returns the length of a symbol's name without the suffixes that compilers append to copies and parts of
 * functions (.cold, .isra.0, .constprop.1, .part.2, .llvm.123 ...). */
size_t symbols_name_stem(const char *name);
/* Returns the readable form of a linkage name, without these suffixes, in the pool. */
const char *symbols_name_readable(struct pool *pool, const char *name, size_t bytes);

/* Returns the name record of a symbol in the symbol table. Returns NULL if memory runs out. The result is
 * cached. */
const struct symbols_name *symbols_frames_symbol(struct symbols_module *module, const char *symbol);

#endif
