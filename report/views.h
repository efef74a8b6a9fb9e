/* Views: the same rows, arranged by another question. Top-down is the row tree itself. */
#ifndef BLAME_REPORT_VIEWS_H
#define BLAME_REPORT_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/locks.h"
#include "report/rows.h"
#include "report/waits.h"

/* Callers are followed this far out; what is deeper stays with the outermost caller shown. */
#define VIEW_CALLERS_DEPTH 128
/* And as long as there are no more rows than this: the callers of everything in a huge profile fill the
 * memory. */
#define VIEW_CALLERS_ROWS 2000000

/* Bottom-up: below the root one row for each function, below it its callers. Exclusive: what the function
 * itself cost when called that way; a row's callers share it. Inclusive: what its calls cost, recursion
 * counted once: an instance inside another instance of the same row adds nothing. Rows whose exclusive
 * `measure` is less than `least` are not followed to their callers, nor is any when there are
 * VIEW_CALLERS_ROWS already (`incomplete`). Sorted by exclusive `measure`. Borrows names from `rows`. NULL:
 * no memory. [init] */
struct rows *view_bottom_up(const struct rows *rows, enum measure measure, double least);

/* Flat: below the root one row for each function, below it its source lines. Sorted by exclusive `measure`.
 * Borrows names from `rows`. NULL: no memory. [init] */
struct rows *view_flat(const struct rows *rows, enum measure measure);

/* How a view is printed. */
struct view_style {
    const char *title; /* "Top-down view" */
    enum measure measure;
    bool by_exclusive;    /* the rows are about exclusive values (bottom-up, flat) */
    double least_percent; /* rows below this share of the program's measure are cut */
    size_t columns;       /* of the terminal */
    bool utf8;
};

/* The program and its run in one or two lines, for all text views. [init] */
void view_text_header(FILE *out, const struct profile *profile, const char *title, size_t columns, bool utf8);
/* rows: ordered by the style's measure. false: no memory. [init] */
bool view_text(FILE *out, const struct profile *profile, const struct rows *rows,
               const struct view_style *style);
void view_text_threads(FILE *out, const struct profile *profile, size_t columns, bool utf8); /* [init] */
/* false: no memory. [init] */
bool view_text_locks(FILE *out, const struct profile *profile, const struct rows *rows,
                     const struct lock_table *table, size_t columns, bool utf8); /* [init] */

void view_text_waits(FILE *out, const struct profile *profile, const struct rows *rows,
                     const struct wait_table *table, size_t columns, bool utf8); /* [init] */

/* Folded stacks, "a;b;c value": the value of each row itself, in whole microseconds (or samples); rows with
 * less than one are left out. false: no memory. [init] */
bool view_folded(FILE *out, const struct rows *rows, enum measure measure);

/* A row of a tree as one printable line: its name, and where it is defined ("88: solve  solve.c:40" when
 * called in line 88 of the row above) or, in a bottom-up view, where it calls. malloc'ed, NULL: no memory.
 * [init] */
char *view_row_label(const struct rows *rows, uint32_t row);

/* A row on its own, with its callers as far as they fit: "solve [parallel relax.c:40]  relax.c:44  < main".
 * The line is that of its statement with the highest measure, or where it was called. malloc'ed, NULL: no
 * memory. [init] */
char *view_context_label(const struct rows *rows, uint32_t row, enum measure measure, size_t columns,
                         bool utf8);

/* A measure as a heading: "lock wait". [init] */
const char *view_measure_title(enum measure measure);

#endif
