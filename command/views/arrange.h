/* The same rows, arranged by another question. Top-down is the row tree itself. */
#ifndef BLAME_COMMAND_VIEWS_ARRANGE_H
#define BLAME_COMMAND_VIEWS_ARRANGE_H

#include "command/rows/metric.h"

struct phase_table;

/* Callers are followed this far out; what is deeper stays with the outermost caller shown. */
#define VIEW_CALLERS_DEPTH 128
/* And as long as there are no more rows than this: the callers of everything in a huge profile fill the
 * memory. */
#define VIEW_CALLERS_ROWS 2000000

/* Bottom-up: below the root one row for each function, below it its callers. Exclusive: what the function
 * itself cost when called that way; a row's callers share it. Inclusive: what its calls cost, recursion
 * counted once: an instance inside another instance of the same row adds nothing. Rows whose exclusive
 * `metric` is less than `least` are not followed to their callers, nor are those at `depth`, nor is any when
 * there are VIEW_CALLERS_ROWS already (`incomplete`). Sorted by exclusive `metric`. Borrows names from
 * `rows`. */
struct rows *view_bottom_up(const struct rows *rows, enum metric metric, double least, uint32_t depth);

/* What the first level of a flat view is: functions; or all functions of a source file, of a module, or that
 * ran in a construct (the parallel region, task or entry of the runtime nearest on the path), with the
 * functions below. */
enum flat_by { FLAT_FUNCTION, FLAT_FILE, FLAT_MODULE, FLAT_CONSTRUCT };

/* Flat: below functions their source lines. Inclusive sums count an instance inside another one of the same
 * row once. Sorted by exclusive `metric`. Borrows names from `rows`. */
struct rows *view_flat(const struct rows *rows, enum flat_by by, enum metric metric);

/* A tree with a row for each of the table's phases below the root, in node_row by its place in the table;
 * below it the program's rows that it is the closest phase of, without source lines, and nested phases, which
 * are not followed. */
struct rows *view_phases(const struct rows *rows, const struct phase_table *table);

#endif
