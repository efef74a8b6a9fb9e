/* Orders tables, and chooses the entries that they leave out. */
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

/* Sort tables and remove entries below `least` percent. Locks are sorted by lock-wait, lock-wait-here (where
 * threads waited most) or samples (waits that samples found); `least` is a share of the whole effort. Wait
 * places are sorted by idleness or lock-wait; `least` is a share of all waiting. METRIC_EFFORT sorts both by
 * all waiting. */
struct view_cut view_sort_locks(struct lock_table *table, enum metric metric, double least);
struct view_cut view_sort_waits(struct wait_table *table, enum metric metric, double least);
/* Returns the indices of threads, malloc'ed, by descending metric, which is idleness, work, overhead,
 * lock-wait or samples. */
size_t *view_sort_threads(const struct profile *profile, enum metric metric);

#endif
