/* The waiting in collective calls that is charged to late ranks (docs/accounting.md, "Between nodes"). */
#ifndef BLAME_COMMAND_TABLES_BALANCE_H
#define BLAME_COMMAND_TABLES_BALANCE_H

#include "command/profile/balance_record.h"
#include "command/rows/row.h"

struct profile_rank;

/* One charge, with times in ns, as in struct profile_balance. Contexts that have the same row share one
 * entry. A statement has the row of its function. */
struct balance_entry {
    /* row of the call or context; ROW_NONE: the charge is for no context, or for ranks whose contexts were
     * not compared */
    uint32_t row;
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

/* The entries: first those of calls, then those of contexts and of no context. Each of the two parts is
 * sorted by charge, largest first. */
struct balance_table {
    struct balance_entry *entry;
    size_t count, calls;              /* number of all entries, and number of entries of calls */
    const struct profile_rank **rank; /* the ranks that are charged, sorted by charge, largest first */
    size_t rank_count;
    double unblamed; /* ns of waiting in MPI for which no rank of the same node is blamed */
    /* parts of `unblamed` that are waiting in the calls of the table: the part charged to late ranks, and the
     * part common to all ranks */
    double charged, common;
};

struct balance_table *balance_gather(const struct profile *profile, const struct rows *rows);
void balance_free(struct balance_table *table);

/* balance_kind returns "call" or "context", as in the CSV file. For an entry without a row, balance_name
 * returns "<no longer than others>" or "<more ranks>"; otherwise, it returns "". */
const char *balance_kind(const struct balance_entry *entry);
const char *balance_name(const struct balance_entry *entry);

#endif
