/* Runs of one program that differ in how many threads (or ranks) they have: how the whole and each context grow.
 *
 * Thread time is the measure. A program that scales has the same sum of it over all threads however many they are (strong scaling; weak: as many
 * times as much). It is told whole, by contexts: each thread second is work, overhead, lock wait ... of one, and idleness is blamed on one. So
 * what is there more than that at p is the sum of what its contexts have more, and of the whole it is the part that efficiency lost. */
#ifndef BLAME_COMPARE_SCALING_H
#define BLAME_COMPARE_SCALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/compare.h"
#include "compare/scaling_fit.h"

/* Runs with the same p; medians of theirs. */
struct scaling_point {
    double p;
    size_t runs;
    double wall_s;
    double effort_s;            /* thread time of all contexts */
    double ideal_s;             /* what it would be if it scaled as from the first point on */
    double speed_up, efficiency; /* by the wall time, against the first point's; the latter: of 1 */
};

struct scaling {
    const struct comparison *comparison; /* borrowed; all runs on one side */
    bool weak;
    double *p; /* by run */
    struct scaling_point *point; /* by p, the smallest first */
    size_t count;
    struct scaling_design design; /* of effort, by run; none with fewer than three points */
    bool modelled;
};

/* A context's own thread time and the idleness blamed on it. */
struct scaling_row {
    uint32_t context;
    double lost;          /* more than it would be, at the last point, as a part of all effort there */
    double first_p;       /* from here on more than told_s, and more than chance; 0: nowhere */
    enum metric metric;   /* most of what is more, */
    double metric_part;   /* this part of it */
    struct scaling_fit fit; /* of its effort, if modelled; at twice the last p */
};

/* p: by run, positive; at least two different. */
struct scaling *scaling_new(const struct comparison *comparison, const double *p, bool weak);
void scaling_free(struct scaling *scaling);

/* Median effort of a context at a point, by its exclusive values; metric METRIC_NAMED: all parts. */
double scaling_effort(const struct scaling *scaling, uint32_t context, size_t point, enum metric metric);

/* The same of a context with all below. */
double scaling_inclusive(const struct scaling *scaling, uint32_t context, size_t point, enum metric metric);

/* The whole's model. */
struct scaling_fit scaling_whole_fit(const struct scaling *scaling);

/* Rows of all contexts that have any effort, those that lost most first; malloc'ed. */
struct scaling_row *scaling_rows(const struct scaling *scaling, size_t *count);

#endif
