/* Exact times and counters of rows. Only a row with such values has a record for them. */
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "cct/sums.h"
#include "command/rows/make.h"

/* Returns the row's record of exact times and counters. Creates the record if there is none. */
static struct row_extra *row_extra_of(struct rows *rows, struct row *row)
{
    if (!row->extra)
        row->extra = rows_alloc(rows, sizeof *row->extra);
    return (struct row_extra *)row->extra;
}

static void row_extra_add_probe(struct rows *rows, uint32_t row, const struct merged_probe *probe)
{
    if (row == ROW_NONE)
        return;
    struct row_extra *extra = row_extra_of(rows, &rows->row[row]);
    sums_add_probe(&extra->probe, &probe->probe);
    sums_add_counters(&extra->exact, &probe->counters);
}

static void row_extra_add_probes(struct rows *rows, const struct profile *profile)
{
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        const struct merged_node *node = &profile->nodes[probe->node];
        row_extra_add_probe(rows, rows->node_row[probe->node], probe);
        if (node->kind == PROFILE_NODE_INSTANCE)
            row_extra_add_probe(rows, rows->node_row[node->parent], probe);
    }
}

/* Adds the counts of nodes to their rows, then inclusive counts to the parents, and finally the counts of
 * statements to their functions. Children have larger indices than their parents. */
static void row_extra_add_counters(struct rows *rows, const struct profile *profile)
{
    for (size_t i = 0; i < profile->counters_count; i++) {
        uint32_t row = rows->node_row[profile->counters[i].node];
        if (row == ROW_NONE)
            continue;
        struct row_extra *extra = row_extra_of(rows, &rows->row[row]);
        sums_add_counters(&extra->exclusive, &profile->counters[i].counters);
        sums_add_counters(&extra->inclusive, &profile->counters[i].counters);
    }
    for (uint32_t i = (uint32_t)rows->count; i-- > 1;)
        if (rows->row[i].extra)
            sums_add_counters(&row_extra_of(rows, &rows->row[rows->row[i].parent])->inclusive,
                              &rows->row[i].extra->inclusive);
    for (uint32_t i = 1; i < rows->count; i++)
        if (rows->row[i].kind == ROW_STATEMENT && rows->row[i].extra)
            sums_add_counters(&row_extra_of(rows, &rows->row[rows->row[i].parent])->exclusive,
                              &rows->row[i].extra->exclusive);
}

static bool row_counters_are_set(const struct profile_counters *counters)
{
    static const struct profile_counters none;
    return counters && memcmp(counters, &none, sizeof none) != 0;
}

void rows_add_counters(struct rows *rows, struct row *row, const struct profile_counters *inclusive,
                       const struct profile_counters *exclusive)
{
    if (row_counters_are_set(inclusive))
        sums_add_counters(&row_extra_of(rows, row)->inclusive, inclusive);
    if (row_counters_are_set(exclusive))
        sums_add_counters(&row_extra_of(rows, row)->exclusive, exclusive);
}

void rows_add_extras(struct rows *rows, const struct profile *profile)
{
    rows->profile = profile;
    rows->probed = profile->probe_count > 0;
    rows->counter_count = profile->counter_count;
    rows->counter_name = profile->counter_name;
    row_extra_add_probes(rows, profile);
    if (rows->counter_count)
        row_extra_add_counters(rows, profile);
}
