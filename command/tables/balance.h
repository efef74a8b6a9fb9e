/* What late ranks are charged for others' waiting in collective calls: docs/accounting.md, "Between nodes". */
#ifndef BLAME_COMMAND_TABLES_BALANCE_H
#define BLAME_COMMAND_TABLES_BALANCE_H

#include "command/profile/balance_record.h"
#include "command/rows/row.h"

struct profile_rank;

/* One charge, in ns, as in struct profile_balance. Contexts shown by the same row are merged; lines count as
 * their function. */
struct balance_entry {
    uint32_t row; /* ROW_NONE: charged to no context, or to more ranks */
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

/* Charges by call, then by context or none, each with the largest first. */
struct balance_table {
    struct balance_entry *entry;
    size_t count, calls;              /* all entries; those that are calls, which come first */
    const struct profile_rank **rank; /* the ranks that are charged, largest charge first */
    size_t rank_count;
    double untold;          /* ns waited in MPI for which no rank of the node is blamed */
    double charged, common; /* parts of `untold` in these calls: charged to late ranks, common to all ranks */
};

struct balance_table *balance_gather(const struct profile *profile, const struct rows *rows);
void balance_free(struct balance_table *table);

/* balance_kind returns "call" or "context", as the CSV file has it. balance_name returns "<no longer than
 * others>" or "<more ranks>" for an entry without a row, otherwise "". */
const char *balance_kind(const struct balance_entry *entry);
const char *balance_name(const struct balance_entry *entry);

#endif
