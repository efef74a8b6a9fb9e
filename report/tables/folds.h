/* A folded phase as rows: what happens along one instance of it, by code. */
#ifndef BLAME_REPORT_TABLES_FOLDS_H
#define BLAME_REPORT_TABLES_FOLDS_H

#include "report/profile/fold.h"
#include "report/rows/metric.h"

struct symbols;

struct fold_table {
    const struct merged_fold *fold;
    const char *name;      /* the phase's */
    struct profile folded; /* that the rows are of */
    struct rows *rows;     /* row 0: the phase */
    fold_bins *bins;       /* by row, exclusive; of a function with its statements, which have none of their own */
    fold_bins *inclusive;  /* with what it calls; [0] has all */
    fold_bins busy, no_core; /* all own time: of threads that had a core, and that had none */
    double instances, mean_s;
};

/* Of the phase with that name, its usual instances or those of unusual length; NULL: there is none that is folded. */
struct fold_table *folds_gather(const struct profile *profile, struct symbols *symbols, const char *name, bool outliers);
void folds_table_free(struct fold_table *table);

/* What there is, in words that a terminal can show: "step, solve"; malloc'ed. */
char *folds_names(const struct profile *profile);

/* Work (all own time), idleness or lock wait of all instances, in seconds: of one bin's value, or of several bins. */
double fold_value(const struct fold_table *table, const struct profile_time_value *value, enum metric metric);
double fold_sum(const struct fold_table *table, const fold_bins bins, size_t first, size_t end, enum metric metric);

/* By how much sampling can have put such a sum off, if it is that much of the phase's (95 %). */
double fold_error(const struct fold_table *table, size_t first, size_t end, enum metric metric, double sum);

#endif
