/* Where a quantity changes from one revision of a program to the next. */
#ifndef BLAME_COMPARE_HISTORY_H
#define BLAME_COMPARE_HISTORY_H

#include <stddef.h>

#define HISTORY_LEVEL 0.05 /* of histories without a change so many are told to have one */

/* From one level to another. Levels are medians of the runs between two changes. */
struct history_change {
    size_t at; /* the first revision with the new level */
    double before, after;
    double low, high; /* of after / before - 1; each bound is exceeded by chance in at most one of 20 comparisons, if there are three runs a side */
    double chance;    /* that runs in random order had a change as clear as this */
};

/* value: one for each run, those of a revision beside each other; revision: of each run, from 0 on without gaps. least: a smaller change of the level, as
 * part of it, is none. change: room for one less than there are revisions. Returns how many there are, in their order. Binary segmentation; a change is
 * where the rank sums of Mann and Whitney differ most, and its chance that of the same in permutations of the runs (999, always the same ones). */
size_t history_changes(const double *value, const size_t *revision, size_t count, double least, struct history_change *change);

#endif
