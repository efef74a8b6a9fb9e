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

/* How a view is printed. All zero but title and columns is the least. */
struct view_style {
    const char *title; /* "Top-down" */
    const char *notes; /* lines for the header: what was chosen; NULL: none */
    enum metric metric;
    bool by_exclusive;    /* the rows are about exclusive values (bottom-up, flat) */
    bool relative;        /* per cent of the row's own effort, else of the program's */
    double least_percent; /* rows below this share of the program's metric are cut */
    size_t columns;       /* of the terminal */
    bool utf8, colour;
    bool errors;                        /* beside the numbers, of sampling */
    const struct view_columns *numbers; /* NULL: those that fit */
    struct source_text *sources;        /* text beside statements; NULL: none */
    size_t deeper;                      /* rows that were taken away for their depth */
    /* Of tables: */
    size_t most;                /* entries shown, 0: all */
    bool all;                   /* ranks: each of them, however many */
    uint32_t below;             /* contexts shown below an entry */
    const struct view_cut *cut; /* what was left out before; NULL: nothing */
    const size_t *order;        /* of threads; NULL: by their start */
};

/* Reads columns from a list as users write it: METRIC, METRIC:i, METRIC:e, with % behind for per cent; METRIC may be one of the
 * rows' counters. Without :i or :e it is by_exclusive that says which. false: one line in error. */
bool view_columns_read(struct view_columns *columns, const struct rows *rows, const char *list, bool by_exclusive,
                       char *error, size_t error_bytes);

/* The program and its run in one or two lines, and the style's notes, for all text views. */
void view_text_header(FILE *out, const struct profile *profile, const struct view_style *style);

#endif
