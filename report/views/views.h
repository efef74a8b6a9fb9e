/* Views: the same rows, arranged by another question. Top-down is the row tree itself. */
#ifndef BLAME_REPORT_VIEWS_VIEWS_H
#define BLAME_REPORT_VIEWS_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/findings/findings.h"
#include "report/tables/locks.h"
#include "report/tables/phases.h"
#include "report/rows/rows.h"
#include "report/tables/waits.h"

/* Callers are followed this far out; what is deeper stays with the outermost caller shown. */
#define VIEW_CALLERS_DEPTH 128
/* And as long as there are no more rows than this: the callers of everything in a huge profile fill the
 * memory. */
#define VIEW_CALLERS_ROWS 2000000

/* Bottom-up: below the root one row for each function, below it its callers. Exclusive: what the function
 * itself cost when called that way; a row's callers share it. Inclusive: what its calls cost, recursion
 * counted once: an instance inside another instance of the same row adds nothing. Rows whose exclusive
 * `measure` is less than `least` are not followed to their callers, nor are those at `depth`, nor is any when
 * there are VIEW_CALLERS_ROWS already (`incomplete`). Sorted by exclusive `measure`. Borrows names from
 * `rows`. NULL: no memory. [init] */
struct rows *view_bottom_up(const struct rows *rows, enum measure measure, double least, uint32_t depth);

/* What the first level of a flat view is: functions; or all functions of a source file, of a module, or that
 * ran in a construct (the parallel region, task or entry of the runtime nearest on the path), with the
 * functions below. */
enum flat_by { FLAT_FUNCTION, FLAT_FILE, FLAT_MODULE, FLAT_CONSTRUCT };
extern const char *const flat_by_name[]; /* NULL behind the last */

/* Flat: below functions their source lines. Inclusive sums count an instance inside another one of the same
 * row once. Sorted by exclusive `measure`. Borrows names from `rows`. NULL: no memory. [init] */
struct rows *view_flat(const struct rows *rows, enum flat_by by, enum measure measure);

struct source_text;

/* A column of numbers. */
struct view_column {
    enum measure measure;
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
    enum measure measure;
    bool by_exclusive;    /* the rows are about exclusive values (bottom-up, flat) */
    bool relative;        /* per cent of the row's own effort, else of the program's */
    double least_percent; /* rows below this share of the program's measure are cut */
    size_t columns;       /* of the terminal */
    bool utf8, colour;
    const struct view_columns *numbers; /* NULL: those that fit */
    struct source_text *sources;        /* text beside statements; NULL: none */
    size_t deeper;                      /* rows that were taken away for their depth */
    /* Of tables: */
    size_t most;                /* entries shown, 0: all */
    uint32_t below;             /* contexts shown below an entry */
    const struct view_cut *cut; /* what was left out before; NULL: nothing */
    const size_t *order;        /* of threads; NULL: by their start */
};

/* Columns from a list as users write it: METRIC, METRIC:i, METRIC:e, with % behind for per cent. Without :i
 * or :e it is by_exclusive that says which. false: one line in error. [init] */
bool view_columns_read(struct view_columns *columns, const char *list, bool by_exclusive, char *error,
                       size_t error_bytes);

/* The program and its run in one or two lines, and the style's notes, for all text views. [init] */
void view_text_header(FILE *out, const struct profile *profile, const struct view_style *style);
/* rows: ordered by the style's measure. false: no memory. [init] */
bool view_text(FILE *out, const struct profile *profile, const struct rows *rows,
               const struct view_style *style);
void view_text_threads(FILE *out, const struct profile *profile, const struct view_style *style); /* [init] */
/* false: no memory. [init] */
bool view_text_locks(FILE *out, const struct profile *profile, const struct lock_table *table,
                     const struct view_style *style);
void view_text_waits(FILE *out, const struct profile *profile, const struct rows *rows,
                     const struct wait_table *table, const struct view_style *style); /* [init] */

/* Below each phase what its code calls, `depth` levels with the phase's own; events and parameters, exact and
 * sampled. false: no memory. [init] */
bool view_text_phases(FILE *out, const struct profile *profile, const struct rows *rows,
                      const struct phase_table *table, uint32_t depth, const struct view_style *style);
/* A tree with a row for each of the table's phases below the root, in node_row by its place in the table;
 * below it the program's rows that it is the closest phase of, without source lines, and nested phases, which
 * are not followed. NULL: no memory. [init] */
struct rows *view_phases(const struct rows *rows, const struct phase_table *table);

void view_text_findings(FILE *out, const struct profile *profile, const struct findings *findings,
                        const struct view_style *style); /* [init] */
/* A line for each finding of at least the share; `context` is the row's id in profile.csv. [init] */
void view_csv_findings(FILE *out, const struct findings *findings, double least);

/* What was taken out of a table. */
struct view_cut {
    size_t count;
    double ns;
};

/* Sorts tables: locks by lock-wait, by lock-wait-here (where threads waited most) or samples (waits that were
 * seen); places by idleness or lock-wait; MEASURE_EFFORT: by all waiting. Entries below `least` percent of
 * the whole effort (locks) or of all waiting (places) are taken out. false: no memory. [init] */
struct view_cut view_sort_locks(struct lock_table *table, enum measure measure, double least);
bool view_sort_waits(struct wait_table *table, enum measure measure, double least, struct view_cut *cut);
/* Indices of threads, highest measure (idleness, work, overhead, lock-wait, samples) first; malloc'ed, NULL:
 * no memory. [init] */
size_t *view_sort_threads(const struct profile *profile, enum measure measure);

/* Folded stacks, "a;b;c value": the value of each row itself, with what was cut below it, in whole
 * microseconds (or samples, or events); rows with less than one are left out.
 * false: no memory. [init] */
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

/* The same of the program's own code that the row runs for, with what it called to get there, if most of it is
 * there: "accumulate  p.c:12 (in cos, libm)  < main". [init] */
char *view_own_label(const struct rows *rows, uint32_t row, enum measure measure, size_t columns, bool utf8);

/* One line each, behind an empty line: events not measured any more, what was ended in a wrong order, pauses,
 * what was lost. [init] */
void view_text_probe_notes(FILE *out, const struct profile *profile, const struct rows *rows, size_t columns);

/* A measure as a heading: "lock wait". [init] */
const char *view_measure_title(enum measure measure);

#endif
