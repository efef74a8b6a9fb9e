/* How rows differ between a job's ranks. */
#ifndef BLAME_COMMAND_TABLES_SPREADS_H
#define BLAME_COMMAND_TABLES_SPREADS_H

#include "command/rows/row.h"

#define SPREAD_RANK_BYTES 24

/* One time of a row. Nanoseconds, over all ranks: those that do not have it have 0. */
struct spread_entry {
    uint32_t row;
    enum profile_spread_metric metric;
    bool exclusive;
    uint32_t ranks; /* that have it */
    double mean, deviation, least, most;
    char least_rank[SPREAD_RANK_BYTES],
        most_rank[SPREAD_RANK_BYTES]; /* "3", or "3.1" of its second process; "": several */
};

/* The row's, false: there is none. */
bool spread_of_row(const struct profile *profile, const struct rows *rows, uint32_t row,
                   enum profile_spread_metric metric, bool exclusive, struct spread_entry *entry);

/* "time", "work", "mpi wait". */
extern const char *const spread_metric_name[PROFILE_SPREAD_METRICS];

#endif
