/* The spread of rows' times over the ranks of a job. */
#ifndef BLAME_COMMAND_TABLES_SPREADS_H
#define BLAME_COMMAND_TABLES_SPREADS_H

#include "command/rows/row.h"

#define SPREAD_RANK_BYTES 24

/* Statistics of one time of a row over all ranks, in ns. A rank without the row counts as 0. */
struct spread_entry {
    uint32_t row;
    enum profile_spread_metric metric;
    bool exclusive;
    uint32_t ranks; /* number of ranks that have the row */
    double mean, deviation, least, most;
    /* the ranks with these times, as "3", or "3.1" for a rank's second process; "" if several ranks have none */
    char least_rank[SPREAD_RANK_BYTES], most_rank[SPREAD_RANK_BYTES];
};

/* Finds the spread of a row's time. Returns false if there is none. */
bool spread_of_row(const struct profile *profile, const struct rows *rows, uint32_t row,
                   enum profile_spread_metric metric, bool exclusive, struct spread_entry *entry);

/* indexed by enum profile_spread_metric */
extern const char *const spread_metric_name[PROFILE_SPREAD_METRICS];

#endif
