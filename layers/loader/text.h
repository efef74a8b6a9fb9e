/* String functions for libblame-loader.so, which has no C library. */
#ifndef BLAME_LAYERS_LOADER_TEXT_H
#define BLAME_LAYERS_LOADER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the rest of the text after `beginning`; NULL if the text does not begin with it. [any] */
static inline const char *text_after(const char *text, const char *beginning)
{
    while (*beginning)
        if (*text++ != *beginning++)
            return NULL;
    return text;
}

/* [any] */
static inline bool text_equal(const char *left, const char *right)
{
    const char *rest = text_after(left, right);
    return rest && !*rest;
}

/* Returns the part of a path after the last slash. [any] */
static inline const char *text_file_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

#endif
