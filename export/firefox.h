/* The tables that a Firefox profile's threads share, and the columns that they are made of. */
#ifndef BLAME_EXPORT_FIREFOX_H
#define BLAME_EXPORT_FIREFOX_H

#include <stdio.h>

#include "export/trace_stacks.h"
#include "export/traced.h"
#include "report/text/strings.h"

/* Version 70 of the processed profile format: docs-developer/CHANGELOG-formats.md of firefox-devtools/profiler. Newer versions of the viewer
 * upgrade it as it is loaded. */
#define FIREFOX_PROFILE 70
#define FIREFOX_GECKO   36 /* the format of Firefox's own that is of the same time: the viewer asks for a number */

struct firefox {
    FILE *out;
    const struct traced *traced;
    struct strings *strings;
    uint32_t string_count;
    struct trace_stacks stacks;
};

/* The index of a text. */
uint32_t firefox_string(struct firefox *firefox, const char *text);
/* `"shared": {...}`: what was referred to before. */
void firefox_put_shared(struct firefox *firefox);

/* A column of a table: "name":[...], with a comma in front of all but the first value; and one whose values are all the same. */
void firefox_begin_column(struct firefox *firefox, const char *name);
void firefox_put_constant(struct firefox *firefox, const char *name, const char *value, size_t count);

/* Nanoseconds as milliseconds. */
void firefox_put_ms(struct firefox *firefox, double ns);

#endif
