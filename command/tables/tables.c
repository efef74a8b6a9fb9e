#include "command/rows/rows.h"

#include "command/tables/tables.h"

struct report_tables report_tables_make(const struct profile *profile, struct symbols *symbols)
{
    struct report_tables tables = {.rows = rows_build(profile, symbols)};
    tables.locks = lock_table_gather(profile, tables.rows, symbols);
    tables.waits = wait_table_gather(profile, tables.rows, tables.locks, symbols);
    tables.wakes = wake_table_gather(profile, tables.rows, symbols);
    return tables;
}

void report_tables_free(struct report_tables *tables)
{
    wake_table_free(tables->wakes);
    wait_table_free(tables->waits);
    lock_table_free(tables->locks);
    rows_free(tables->rows);
}
