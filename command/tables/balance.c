#include "command/tables/balance.h"

#include <math.h>
#include <stdlib.h>

#include "cct/profile_format.h"
#include "command/profile/profile.h"
#include "command/text/memory.h"

const char *balance_kind(const struct balance_entry *entry)
{
    return entry->key == PROFILE_BALANCE_CALL ? "call" : "context";
}

const char *balance_name(const struct balance_entry *entry)
{
    return entry->key == PROFILE_BALANCE_NO_CONTEXT   ? "<no longer than others>"
           : entry->key == PROFILE_BALANCE_MORE_RANKS ? "<more ranks>"
                                                      : "";
}

static void balance_table_merge(struct profile_balance *to, const struct profile_balance *from)
{
    to->charged += from->charged;
    if (to->most_rank == from->most_rank) {
        to->most += from->most;
        to->time += from->time;
        to->mean += from->mean;
    } else if (from->most > to->most) {
        to->most = from->most;
        to->most_rank = from->most_rank;
        to->time = from->time;
        to->mean = from->mean;
    }
}

static void balance_table_add(struct balance_table *table, uint32_t *of_row, const struct rows *rows,
                              const struct merged_balance *from)
{
    bool code = from->key == PROFILE_BALANCE_CONTEXT;
    uint32_t row = code || from->key == PROFILE_BALANCE_CALL ? rows->node_row[from->node] : ROW_NONE;
    if (code && row == ROW_NONE)
        row = 0;
    if (code && rows->row[row].kind == ROW_STATEMENT)
        row = rows->row[row].parent;
    if (code && of_row[row]) {
        balance_table_merge(&table->entry[of_row[row] - 1].balance, &from->balance);
        return;
    }
    table->entry[table->count++] = (struct balance_entry){row, from->key, from->balance};
    if (code)
        of_row[row] = (uint32_t)table->count;
}

static int balance_table_compare_entries(const void *left, const void *right)
{
    const struct balance_entry *a = left, *b = right;
    bool first = a->key == PROFILE_BALANCE_CALL, second = b->key == PROFILE_BALANCE_CALL;
    if (first != second)
        return first ? -1 : 1;
    if (a->balance.charged != b->balance.charged)
        return a->balance.charged > b->balance.charged ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int balance_table_compare_ranks(const void *left, const void *right)
{
    const struct profile_rank *const *a = left, *const *b = right;
    if ((*a)->charged != (*b)->charged)
        return (*a)->charged > (*b)->charged ? -1 : 1;
    return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

struct balance_table *balance_gather(const struct profile *profile, const struct rows *rows)
{
    struct balance_table *table = memory_array(1, sizeof *table);
    const struct profile_sums *all = rows->row[0].inclusive;
    /* for each row, 1 + index of its entry; 0: none */
    uint32_t *of_row = memory_array(rows->count, sizeof *of_row);
    table->entry = memory_array(profile->balance_count + 1, sizeof *table->entry);
    table->rank = memory_array(profile->rank_count + 1, sizeof *table->rank);
    table->unblamed = fmax(0, all->mpi_wait - all->rank_waited);
    for (size_t i = 0; i < profile->balance_count; i++)
        balance_table_add(table, of_row, rows, &profile->balances[i]);
    qsort(table->entry, table->count, sizeof *table->entry, balance_table_compare_entries);
    for (; table->calls < table->count && table->entry[table->calls].key == PROFILE_BALANCE_CALL; table->calls++) {
        table->charged += table->entry[table->calls].balance.charged;
        table->common += table->entry[table->calls].balance.common;
    }
    for (size_t i = 0; i < profile->rank_count; i++)
        if (profile->ranks[i].charged > 0)
            table->rank[table->rank_count++] = &profile->ranks[i];
    qsort(table->rank, table->rank_count, sizeof *table->rank, balance_table_compare_ranks);
    free(of_row);
    return table;
}

void balance_free(struct balance_table *table)
{
    free(table->entry);
    free(table->rank);
    free(table);
}
