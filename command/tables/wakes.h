/* Who woke whom: the waits of threads that another thread ended, by the two contexts. */
#ifndef BLAME_COMMAND_TABLES_WAKES_H
#define BLAME_COMMAND_TABLES_WAKES_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

struct symbols;

extern const char *const wake_name[PROFILE_WAKES]; /* names in wakes.csv */

/* A line of the program's own code, in its calling context. */
struct wake_end {
    uint32_t row; /* the function that waits or wakes; outside the program's code, the one that this line calls */
    const char *function;
    const char *file; /* "": unknown */
    int line;         /* 0: unknown */
};

struct wake_pair {
    enum profile_wake wake;
    struct wake_end waiter, waker;
    double ns, waits;
    double place_ns; /* sum over the pairs with the same waiter and kind */
};

struct wake_table {
    struct wake_pair *pair; /* pairs with the same waiter and kind are together; longest first */
    size_t count;
};

struct wake_table *wake_table_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols);
void wake_table_free(struct wake_table *table);

/* Returns whether two pairs have the same waiter and kind. */
bool wake_pairs_share_place(const struct wake_pair *a, const struct wake_pair *b);

#endif
