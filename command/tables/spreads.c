#include "command/tables/spreads.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/profile/spread.h"

const char *const spread_metric_name[PROFILE_SPREAD_METRICS] = {"time", "work", "mpi wait"};

static int spreads_compare_rows(const void *left, const void *right)
{
    uint32_t a = ((const struct row_spread *)left)->row, b = ((const struct row_spread *)right)->row;
    return (a > b) - (a < b);
}

static int spreads_compare_nodes(const void *left, const void *right)
{
    const struct merged_spread *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

static void spreads_put_rank(char *to, uint32_t rank, uint32_t process)
{
    snprintf(to, SPREAD_RANK_BYTES, process ? "%u.%u" : "%u", rank, process);
}

bool spread_of_row(const struct profile *profile, const struct rows *rows, uint32_t row,
                   enum profile_spread_metric metric, bool exclusive, struct spread_entry *entry)
{
    const struct row_spread wanted = {.row = row};
    const struct row_spread *of =
        rows->spread_count ? bsearch(&wanted, rows->spread, rows->spread_count, sizeof wanted, spreads_compare_rows)
                           : NULL;
    if (!of || (exclusive && !of->exclusive))
        return false;
    const struct merged_spread key = {.node = of->node, .key = PROFILE_SPREAD_KEY(metric, exclusive, of->callee)};
    const struct merged_spread *found = profile->spread_count ? bsearch(&key, profile->spreads, profile->spread_count,
                                                                        sizeof key, spreads_compare_nodes)
                                                              : NULL;
    if (!found)
        return false;
    struct spread_shown shown = profile_spread_over(&found->spread, profile->header.merged);
    *entry = (struct spread_entry){.row = row,
                                   .metric = metric,
                                   .exclusive = exclusive,
                                   .ranks = found->spread.ranks,
                                   .mean = shown.mean,
                                   .deviation = shown.deviation,
                                   .least = shown.least,
                                   .most = shown.most};
    spreads_put_rank(entry->most_rank, found->spread.most_rank, found->spread.most_process);
    if (shown.least_known)
        spreads_put_rank(entry->least_rank, found->spread.least_rank, found->spread.least_process);
    return true;
}
