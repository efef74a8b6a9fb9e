/* Readable names. */
#ifndef BLAME_REPORT_SYMBOLS_DEMANGLE_H
#define BLAME_REPORT_SYMBOLS_DEMANGLE_H

#include "report/symbols/code.h"
#include "report/symbols/module.h"

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
