#include "command/rows/rows.h"

#include "command/tables/tables.h"

struct report_tables report_tables_make(const struct profile *profile, struct symbols *symbols)
{
    struct report_tables tables = {.rows = rows_build(profile, symbols)};
    tables.locks = locks_gather(profile, tables.rows, symbols);
    tables.waits = waits_gather(profile, tables.rows, tables.locks, symbols);
    return tables;
}

void report_tables_free(struct report_tables *tables)
{
    waits_free(tables->waits);
    locks_free(tables->locks);
    rows_free(tables->rows);
}
