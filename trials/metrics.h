/* Contexts and their metrics, as they are written. */
#ifndef BLAME_TRIALS_METRICS_H
#define BLAME_TRIALS_METRICS_H

#include "report/rows/metric.h"
#include "trials/database.h"
#include "trials/input.h"

/* Column of a metric: "lock_wait"; in the tables of contexts with _i behind it (inclusive) or _e. */
void metrics_column(enum metric metric, char name[32]);

/* All contexts of a trial whose row is there, and their metrics; of each location, too, if there are several that are known. False: why. */
bool metrics_write(struct database *database, long long trial, const struct trial_input *input);

#endif
