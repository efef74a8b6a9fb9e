/* Functions and source positions from debug information. */
#ifndef BLAME_COMMAND_SYMBOLS_CODE_H
#define BLAME_COMMAND_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct symbols_name {
    const char *raw;     /* linkage name if there is one; "" if unknown */
    const char *display; /* demangled or qualified name; "" if unknown */
    const char *file;    /* definition; "" unknown */
    int line;
    bool linkage; /* raw is a linkage name */
};
struct symbols_position {
    const char *file; /* "" unknown */
    int line;         /* 0 unknown */
};
struct symbols_raw { /* one function at an address, before constructs are recognised */
    const struct symbols_name *name;
    struct symbols_position at;
    uint64_t low; /* entry of the function, or of the inlined copy */
    bool inlined;
};

#endif
