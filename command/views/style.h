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

/* The style of a view. Every field except title and columns may be zero. */
struct view_style {
    const char *title; /* "Top-down" */
    const char *notes; /* lines about the chosen options, for the header; NULL: none */
    enum metric metric;
    bool by_exclusive;    /* whether rows are ordered by exclusive values (bottom-up, flat) */
    bool relative;        /* whether percentages are of the row's own effort instead of the program's */
    double least_percent; /* least percentage of the program's metric for a row to be shown */
    size_t columns;       /* width of the terminal */
    bool utf8, colour;
    bool errors;                        /* whether the sampling error is shown */
    const struct view_columns *numbers; /* the columns that the user chose; NULL: as many as fit */
    struct source_text *sources;        /* source code to print beside statements; NULL: none */
    size_t deeper;                      /* number of rows left out because of their depth */
    /* Of tables: */
    size_t most;                /* largest number of entries shown; 0: all */
    bool all;                   /* whether every rank is shown, however many there are */
    uint32_t below;             /* number of contexts shown below an entry */
    const struct view_cut *cut; /* the entries that view_sort_...() left out; NULL: none */
    const size_t *order;        /* indices of the threads in the order of the view; NULL: by their start */
};

/* Reads a list of columns: METRIC, METRIC:i or METRIC:e, with % appended for percentages. METRIC may be a
 * counter of the rows. by_exclusive decides if neither :i nor :e is given. On failure, returns false with a
 * line in error. */
bool view_columns_read(struct view_columns *columns, const struct rows *rows, const char *list, bool by_exclusive,
                       char *error, size_t error_bytes);

/* Prints the header of a text view: the program, its run and the style's notes. */
void view_text_header(FILE *out, const struct profile *profile, const struct view_style *style);

#endif
