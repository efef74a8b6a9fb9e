/* What of a program's run can be set: dimensions with values. docs/tuning.md has the file's form. */
#ifndef BLAME_TUNE_SPACE_H
#define BLAME_TUNE_SPACE_H

#include <stdio.h>

#include "tune/search.h"

enum space_kind { SPACE_THREADS, SPACE_SCHEDULE, SPACE_WAIT, SPACE_BIND, SPACE_PLACES, SPACE_DYNAMIC, SPACE_LEVELS, SPACE_STACK, SPACE_VARIABLE, SPACE_PARAMETER };

struct space_dimension {
    enum space_kind kind;
    char *name; /* "threads", a variable's or a parameter's name */
    char *value[SEARCH_VALUES]; /* the first is the default: "default", of a parameter the first that is given */
    size_t values;
    bool ordered;
};

struct space {
    struct space_dimension dimension[SEARCH_DIMENSIONS];
    size_t count;
    char *build; /* a command that makes a variant, with @{NAME}; NULL: none */
    bool given;  /* by a file: all of it is tried */
};

/* Threads, schedule, wait and binding for so many cores. */
void space_make(struct space *space, unsigned cores);
/* Reads a file; false: why, with its line. */
bool space_read(struct space *space, FILE *file, const char *name, char *why, size_t why_bytes);
void space_free(struct space *space);

/* Assignments to variables, "A=B", one a line; "" for a default. malloc'ed. */
char *space_variables(const struct space *space, const struct search_setting *setting);
/* text with each @{NAME} replaced by that parameter's value; NULL: the parameter is not known, and its name is in why. malloc'ed. */
char *space_expand(const struct space *space, const struct search_setting *setting, const char *text, char *why, size_t why_bytes);
bool space_mentions(const struct space *space, size_t dimension, const char *text);

#endif
