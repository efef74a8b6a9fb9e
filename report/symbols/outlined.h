/* Functions that compilers outline from OpenMP constructs: by their own names, and by the names of the functions that get them. */
#ifndef BLAME_REPORT_SYMBOLS_OUTLINED_H
#define BLAME_REPORT_SYMBOLS_OUTLINED_H

#include <stdbool.h>
#include <stddef.h>

#include "report/symbols/symbol.h"

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

#endif
