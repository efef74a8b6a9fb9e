/* How views are printed. */
#ifndef BLAME_COMMAND_VIEWS_STYLE_H
#define BLAME_COMMAND_VIEWS_STYLE_H

#include <stdbool.h>
#include <stdio.h>

#include "command/rows/metric.h"

struct source_text;
struct view_cut;

/* A column of numbers. */
struct view_column {
    enum metric metric;
    bool exclusive, percent;
};

#define VIEW_COLUMNS_MOST 16

struct view_columns {
    struct view_column column[VIEW_COLUMNS_MOST];
    size_t count;
};

/* The style of a view. All fields but title and columns may be zero. */
struct view_style {
    const char *title; /* "Top-down" */
    const char *notes; /* lines of the header about the chosen options; NULL: none */
    enum metric metric;
    bool by_exclusive;    /* whether rows are ordered by exclusive values (bottom-up, flat) */
    bool relative;        /* whether percentages are of the row's own effort, not the program's */
    double least_percent; /* least share of the program's metric of a row */
    size_t columns;       /* width of the terminal */
    bool utf8, colour;
    bool errors;                        /* whether the sampling error is shown */
    const struct view_columns *numbers; /* chosen columns; NULL: those that fit */
    struct source_text *sources;        /* source code beside statements; NULL: none */
    size_t deeper;                      /* number of rows left out because of their depth */
    /* Of tables: */
    size_t most;                /* the most entries shown; 0: all */
    bool all;                   /* whether every rank is shown, however many */
    uint32_t below;             /* contexts shown below an entry */
    const struct view_cut *cut; /* entries left out by view_sort_...(); NULL: none */
    const size_t *order;        /* order of the threads; NULL: by their start */
};

/* Reads a list of columns: METRIC, METRIC:i or METRIC:e, with % for percentages; METRIC may be a counter of
 * the rows. by_exclusive is the default of :i and :e. Returns false with one line in error. */
bool view_columns_read(struct view_columns *columns, const struct rows *rows, const char *list, bool by_exclusive,
                       char *error, size_t error_bytes);

/* Prints the program, its run and the style's notes, at the top of all text views. */
void view_text_header(FILE *out, const struct profile *profile, const struct view_style *style);

#endif
