/* The order of tables, and what they leave out. */
#ifndef BLAME_COMMAND_VIEWS_SORT_H
#define BLAME_COMMAND_VIEWS_SORT_H

#include "command/rows/metric.h"

struct lock_table;
struct wait_table;

/* The entries that a table leaves out. */
struct view_cut {
    size_t count;
    double ns;
};

/* Sorts tables: locks by lock-wait, lock-wait-here (where threads waited most) or samples (waits that a
 * sample saw), wait places by idleness or lock-wait, and both by all waiting for METRIC_EFFORT. Removes
 * entries below `least` percent of the whole effort (locks) or of all waiting (wait places). */
struct view_cut view_sort_locks(struct lock_table *table, enum metric metric, double least);
struct view_cut view_sort_waits(struct wait_table *table, enum metric metric, double least);
/* Returns the indices of threads, malloc'ed, with the highest metric (idleness, work, overhead, lock-wait,
 * samples) first. */
size_t *view_sort_threads(const struct profile *profile, enum metric metric);

#endif
