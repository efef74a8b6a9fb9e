/* The order and the least share of what tables show. */
#ifndef BLAME_COMMAND_VIEWS_SORT_H
#define BLAME_COMMAND_VIEWS_SORT_H

#include "command/rows/metric.h"

struct lock_table;
struct wait_table;

/* What was taken out of a table. */
struct view_cut {
    size_t count;
    double ns;
};

/* Sorts tables: locks by lock-wait, by lock-wait-here (where threads waited most) or samples (waits that were
 * seen); places by idleness or lock-wait; METRIC_EFFORT: by all waiting. Entries below `least` percent of
 * the whole effort (locks) or of all waiting (places) are taken out. */
struct view_cut view_sort_locks(struct lock_table *table, enum metric metric, double least);
struct view_cut view_sort_waits(struct wait_table *table, enum metric metric, double least);
/* Indices of threads, highest metric (idleness, work, overhead, lock-wait, samples) first; malloc'ed. */
size_t *view_sort_threads(const struct profile *profile, enum metric metric);

#endif
