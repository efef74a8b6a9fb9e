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
    bool uncertain; /* kind is a guess */
    bool inner;     /* the inner one of clang's two functions */
    bool task_part; /* clang: ".omp_outlined." without a host's name, a task's body when inlined into a task's
                       entry */
    size_t stem;    /* bytes of the name that are the host's linkage name; 0 none */
};
#define CLANG_MARK ".omp_outlined"
struct symbols_outlined symbols_construct_parse(const char *raw);

/* How a function of the OpenMP runtime gets a construct's code. */
struct symbols_launch {
    int argument; /* number of the argument that is the construct's function; -1: none is */
    bool at_once; /* the runtime runs it before it returns; else later, as a task */
    enum symbol_construct kind;
};
struct symbols_launch symbols_launch_by(const char *name);
bool symbols_launches(const char *name); /* has such an argument */

/* Demangled name (C++, Rust v0 excluded); returns a malloc'ed string, a copy of name if it is not mangled. */
char *symbols_demangle(const char *name);

/* Bytes of a symbol's name before what the compiler appended to a copy or part of the function (.cold,
 * .isra.0, .constprop.1, .part.2, .llvm.123 ...). */
size_t symbols_name_stem(const char *name);
/* The readable form of a linkage name, clone suffixes dropped, in the pool. */
const char *symbols_name_readable(struct pool *pool, const char *name, size_t bytes);

/* The name of a symbol of the symbol table; cached; NULL: out of memory. */
const struct symbols_name *symbols_frames_symbol(struct symbols_module *module, const char *symbol);

#endif
