/* A function or a source position, as debug information or symbols describe it. */
#ifndef BLAME_COMMAND_SYMBOLS_CODE_H
#define BLAME_COMMAND_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct symbols_name {
    /* linkage name, or the plain name if there is no linkage name; "" if both are unknown */
    const char *raw;
    const char *display; /* demangled or qualified name; "" if unknown */
    const char *file;    /* file in which it is defined; "" if unknown */
    int line;
    bool linkage; /* whether `raw` is a linkage name */
};
struct symbols_position {
    const char *file; /* "" if unknown */
    int line;         /* 0 if unknown */
};
/* A function, or an inlined copy of one, as DWARF or the symbol table describes it, before constructs are
 * recognised. */
struct symbols_raw {
    const struct symbols_name *name;
    struct symbols_position at;
    uint64_t low; /* start address of the function or of the inlined copy */
    bool inlined;
};

#endif
