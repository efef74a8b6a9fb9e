/* Waiting in collective calls that late ranks are charged for (docs/accounting.md, "Between nodes"). */
#ifndef BLAME_COMMAND_TABLES_BALANCE_H
#define BLAME_COMMAND_TABLES_BALANCE_H

#include "command/profile/balance_record.h"
#include "command/rows/row.h"

struct profile_rank;

/* One charge, in ns, as in struct profile_balance. Contexts that are shown by the same row have one entry. A
 * statement counts as its function. */
struct balance_entry {
    uint32_t row; /* ROW_NONE: charged to no context, or to ranks whose contexts were not compared */
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

/* Entries for calls, then for contexts or none. In both parts, the largest charge is first. */
struct balance_table {
    struct balance_entry *entry;
    size_t count, calls;              /* number of all entries, and of those for calls, which come first */
    const struct profile_rank **rank; /* the ranks that are charged, the largest charge first */
    size_t rank_count;
    double unblamed; /* ns of waiting in MPI for which no rank of the same node is blamed */
    /* parts of `unblamed` in these calls: charged to late ranks, and common to all ranks */
    double charged, common;
};

struct balance_table *balance_gather(const struct profile *profile, const struct rows *rows);
void balance_free(struct balance_table *table);

/* balance_kind returns "call" or "context", as in the CSV file. balance_name returns "<no longer than
 * others>" or "<more ranks>" for an entry without a row, otherwise "". */
const char *balance_kind(const struct balance_entry *entry);
const char *balance_name(const struct balance_entry *entry);

#endif
