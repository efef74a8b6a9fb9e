/* The rows of a profile with the tables beside them. */
#ifndef BLAME_COMMAND_TABLES_TABLES_H
#define BLAME_COMMAND_TABLES_TABLES_H

#include "command/tables/locks.h"
#include "command/tables/waits.h"

struct report_tables {
    struct rows *rows;
    struct lock_table *locks;
    struct wait_table *waits;
    const char *const
        *compiler; /* of the program, with their options, if somebody has asked (symbols_producers()); borrowed */
    size_t compiler_count;
};

struct report_tables report_tables_make(const struct profile *profile, struct symbols *symbols);
void report_tables_free(struct report_tables *tables);

#endif
