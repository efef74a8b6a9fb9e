/* What late ranks are charged of others' waiting in collective calls: docs/accounting.md, "Between nodes". */
#ifndef BLAME_COMMAND_TABLES_BALANCE_H
#define BLAME_COMMAND_TABLES_BALANCE_H

#include "command/profile/balance_record.h"
#include "command/rows/row.h"

struct profile_rank;

/* Nanoseconds, as in struct profile_balance; contexts that one row shows are one, and lines are their function's. */
struct balance_entry {
    uint32_t row; /* ROW_NONE: of no context, of more ranks */
    uint32_t key; /* enum profile_balance_key */
    struct profile_balance balance;
};

/* Calls, then contexts and what is in none, of each the one with most first. */
struct balance_table {
    struct balance_entry *entry;
    size_t count, calls;              /* calls: of them */
    const struct profile_rank **rank; /* those that are charged, with most first */
    size_t rank_count;
    double untold;          /* waiting in MPI that no rank of the node is blamed for; of it */
    double charged, common; /* in these calls */
};

struct balance_table *balance_gather(const struct profile *profile, const struct rows *rows);
void balance_free(struct balance_table *table);

/* "context", "<no longer than others>": what the file calls it, and the name of what is no row; "" of rows. */
const char *balance_kind(const struct balance_entry *entry);
const char *balance_name(const struct balance_entry *entry);

#endif
