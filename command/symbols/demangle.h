/* Converts linkage names to readable names, and recognises outlined functions by their names. */
#ifndef BLAME_COMMAND_SYMBOLS_DEMANGLE_H
#define BLAME_COMMAND_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "command/symbols/code.h"
#include "command/symbols/module.h"
#include "command/symbols/symbol.h"

enum symbols_compiler { SYMBOLS_CLANG, SYMBOLS_GCC, SYMBOLS_FLANG, SYMBOLS_INTEL };

struct symbols_outlined {
    enum symbol_construct kind; /* kind of construct; SYMBOL_PROCEDURE: the function is not outlined */
    enum symbols_compiler compiler;
    bool uncertain; /* whether the name does not show the kind, so that `kind` is a guess */
    /* whether the function is the inner one of the two functions that clang makes of a construct */
    bool inner;
    /* whether the name is clang's ".omp_outlined." without the host's name. Such a function is the body of a
     * task if it is inlined into the entry of a task */
    bool task_part;
    /* length of the host's linkage name at the start of this name; 0: the name does not contain it */
    size_t stem;
};
#define CLANG_MARK ".omp_outlined"
struct symbols_outlined symbols_construct_parse(const char *raw);

/* How the code of a construct is passed to a function of the OpenMP runtime. */
struct symbols_launch {
    int argument; /* index of the argument by which the construct's function is passed; -1: none is passed */
    /* whether the runtime function runs the construct before it returns; if not, the construct is a task,
     * which may run later */
    bool at_once;
    enum symbol_construct kind;
};
struct symbols_launch symbols_launch_by(const char *name);
/* Returns whether a construct's function is passed to the runtime function with this name. */
bool symbols_launches(const char *name);

/* Returns the demangled name (C++ or Fortran, but not Rust v0), or a copy of a name that is not mangled. The
 * caller frees it. */
char *symbols_demangle(const char *name);

/* Returns the length of a name without the suffixes that compilers append to the names of copies and parts of
 * a function (.cold, .isra.0, .constprop.1, .part.2, .llvm.123 ...). */
size_t symbols_name_stem(const char *name);
/* Returns the readable form of a linkage name without such suffixes. The text is in the pool. */
const char *symbols_name_readable(struct pool *pool, const char *name, size_t bytes);

/* Returns the name record of a symbol, or NULL if memory runs out. The result is cached. */
const struct symbols_name *symbols_frames_symbol(struct symbols_module *module, const char *symbol);

#endif
