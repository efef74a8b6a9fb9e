/* The rows of a profile in another arrangement. The row tree itself is the top-down view. */
#ifndef BLAME_COMMAND_VIEWS_ARRANGE_H
#define BLAME_COMMAND_VIEWS_ARRANGE_H

#include "command/rows/metric.h"

struct phase_table;

/* The number of callers that are followed; deeper rows belong to the outermost caller shown. */
#define VIEW_CALLERS_DEPTH 128
/* The most rows of a view. The callers of everything in a huge profile would fill the memory. */
#define VIEW_CALLERS_ROWS 2000000

/* Returns the bottom-up view: a row for each function, with its callers below. Exclusive: what the function
 * itself cost when called that way; a row's callers share it. Inclusive: what its calls cost; an instance
 * inside another instance of the same row adds nothing. Rows with less than `least` of exclusive `metric` or
 * at `depth` are not followed to their callers, nor is any row beyond VIEW_CALLERS_ROWS (`incomplete`).
 * Sorted by exclusive `metric`. Borrows names from `rows`. */
struct rows *view_bottom_up(const struct rows *rows, enum metric metric, double least, uint32_t depth);

/* The first level of a flat view: functions, or the source files, modules or constructs that contain them. A
 * construct is the nearest parallel region, task or runtime entry on the path. */
enum flat_by { FLAT_FUNCTION, FLAT_FILE, FLAT_MODULE, FLAT_CONSTRUCT };

/* Returns the flat view: functions with their source lines below. Inclusive sums count an instance inside
 * another one of the same row once. Sorted by exclusive `metric`. Borrows names from `rows`. */
struct rows *view_flat(const struct rows *rows, enum flat_by by, enum metric metric);

/* Returns a tree with a row for each phase of the table, which node_row finds by its index there. Below are
 * the rows whose closest phase it is, without source lines, and nested phases without their code. */
struct rows *view_phases(const struct rows *rows, const struct phase_table *table);

#endif
