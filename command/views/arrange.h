/* Rearranges the rows of a profile for the other views. The row tree itself is the top-down view. */
#ifndef BLAME_COMMAND_VIEWS_ARRANGE_H
#define BLAME_COMMAND_VIEWS_ARRANGE_H

#include "command/rows/metric.h"

struct phase_table;

/* The largest number of callers that are followed. Deeper rows belong to the outermost caller shown. */
#define VIEW_CALLERS_DEPTH 128
/* The largest number of rows in a view. The callers of all code in a huge profile would not fit into memory. */
#define VIEW_CALLERS_ROWS 2000000

/* Returns the bottom-up view: a row for each function, with its callers below. Exclusive values are what the
 * function itself cost when called that way; they are divided between the callers of a row. Inclusive values
 * are what its calls cost; an instance inside another instance of the same row adds nothing. Callers are not
 * followed for rows with less than `least` of exclusive `metric`, rows at `depth`, and rows beyond
 * VIEW_CALLERS_ROWS (then `incomplete` is set). Sorted by exclusive `metric`. Borrows names from `rows`. */
struct rows *view_bottom_up(const struct rows *rows, enum metric metric, double least, uint32_t depth);

/* The first level of a flat view: functions, or the source files, modules or constructs that contain them. A
 * construct is the nearest parallel region, task or runtime entry on the path. */
enum flat_by { FLAT_FUNCTION, FLAT_FILE, FLAT_MODULE, FLAT_CONSTRUCT };

/* Returns the flat view: functions with their source lines below. If an instance is inside another instance
 * of the same row, inclusive sums count only the outer one. Sorted by exclusive `metric`. Borrows names from
 * `rows`. */
struct rows *view_flat(const struct rows *rows, enum flat_by by, enum metric metric);

/* Returns a tree with a row for each phase of the table; node_row maps a phase's index in the table to its
 * row. Below each phase are the rows for which it is the innermost phase, without source lines, and its
 * nested phases without their code. */
struct rows *view_phases(const struct rows *rows, const struct phase_table *table);

#endif
