/* How the times of rows differ between the ranks of a job. */
#ifndef BLAME_COMMAND_TABLES_SPREADS_H
#define BLAME_COMMAND_TABLES_SPREADS_H

#include "command/rows/row.h"

#define SPREAD_RANK_BYTES 24

/* Statistics, over all ranks, of one time of a row, in ns. A rank without the row counts as 0. */
struct spread_entry {
    uint32_t row;
    enum profile_spread_metric metric;
    bool exclusive;
    uint32_t ranks; /* number of ranks that have the row */
    double mean, deviation, least, most;
    /* the ranks with the shortest and the longest time, as "3", or "3.1" for a rank's second process;
     * least_rank is "" if some ranks lack the row */
    char least_rank[SPREAD_RANK_BYTES], most_rank[SPREAD_RANK_BYTES];
};

/* Finds the statistics of one of a row's times. Returns false if there are none. */
bool spread_of_row(const struct profile *profile, const struct rows *rows, uint32_t row,
                   enum profile_spread_metric metric, bool exclusive, struct spread_entry *entry);

/* name of each enum profile_spread_metric */
extern const char *const spread_metric_name[PROFILE_SPREAD_METRICS];

#endif
