/* How rows differ between the ranks of a job. */
#ifndef BLAME_COMMAND_TABLES_SPREADS_H
#define BLAME_COMMAND_TABLES_SPREADS_H

#include "command/rows/row.h"

#define SPREAD_RANK_BYTES 24

/* One time of a row, in ns over all ranks. Ranks without the row count with 0. */
struct spread_entry {
    uint32_t row;
    enum profile_spread_metric metric;
    bool exclusive;
    uint32_t ranks; /* ranks that have the row */
    double mean, deviation, least, most;
    /* "3", or "3.1" for the rank's second process; "" for several ranks */
    char least_rank[SPREAD_RANK_BYTES], most_rank[SPREAD_RANK_BYTES];
};

/* Looks up a row's spread. Returns false if there is none. */
bool spread_of_row(const struct profile *profile, const struct rows *rows, uint32_t row,
                   enum profile_spread_metric metric, bool exclusive, struct spread_entry *entry);

/* "time", "work", "mpi wait" */
extern const char *const spread_metric_name[PROFILE_SPREAD_METRICS];

#endif
