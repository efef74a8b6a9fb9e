/* The rows of a profile and the tables made from them. */
#ifndef BLAME_COMMAND_TABLES_TABLES_H
#define BLAME_COMMAND_TABLES_TABLES_H

#include "command/tables/locks.h"
#include "command/tables/waits.h"
#include "command/tables/wakes.h"

struct report_tables {
    struct rows *rows;
    struct lock_table *locks;
    struct wait_table *waits;
    struct wake_table *wakes;
    /* names of the compilers that made the program, with their options; borrowed. NULL until
     * symbols_producers() has been called. */
    const char *const *compiler;
    size_t compiler_count;
};

struct report_tables report_tables_make(const struct profile *profile, struct symbols *symbols);
void report_tables_free(struct report_tables *tables);

#endif
