/* Functions and source positions from debug information. */
#ifndef BLAME_COMMAND_SYMBOLS_CODE_H
#define BLAME_COMMAND_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct symbols_name {
    const char *raw;     /* linkage name, or else the plain name; "" if unknown */
    const char *display; /* demangled or qualified name; "" if unknown */
    const char *file;    /* file of the definition; "" if unknown */
    int line;
    bool linkage; /* whether `raw` is a linkage name */
};
struct symbols_position {
    const char *file; /* "" if unknown */
    int line;         /* 0 if unknown */
};
/* a function or inlined copy at an address, as DWARF or the symbol table describes it, before constructs are
 * recognised */
struct symbols_raw {
    const struct symbols_name *name;
    struct symbols_position at;
    uint64_t low; /* entry of the function, or of the inlined copy */
    bool inlined;
};

#endif
