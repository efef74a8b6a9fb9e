/* Reads the columns that --columns chooses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/views/style.h"

/* Reads a column, as "idleness:e%". The name of a counter may itself contain ":u". */
static bool read_column(struct view_column *column, const struct rows *rows, const char *item, size_t bytes)
{
    if (bytes && item[bytes - 1] == '%') {
        column->percent = true;
        bytes--;
    }
    if (rows_find_metric(rows, item, bytes, &column->metric))
        return true;
    if (bytes > 2 && item[bytes - 2] == ':') {
        char part = item[bytes - 1];
        if (part != 'i' && part != 'I' && part != 'e' && part != 'E')
            return false;
        column->exclusive = part == 'e' || part == 'E';
        bytes -= 2;
    }
    return rows_find_metric(rows, item, bytes, &column->metric);
}

static void complain_column(char *error, size_t error_bytes, const struct rows *rows, const char *item, size_t bytes)
{
    char *names = rows_metric_names(rows);
    snprintf(error, error_bytes,
             "%.*s%s: expected a list of METRIC, METRIC:i (inclusive) or METRIC:e (exclusive), with %% appended for "
             "percentages; METRIC is %s",
             bytes ? (int)(bytes < 80 ? bytes : 80) : 2, bytes ? item : "\"\"", bytes > 80 ? "..." : "", names);
    free(names);
}

bool view_columns_read(struct view_columns *columns, const struct rows *rows, const char *list, bool by_exclusive,
                       char *error, size_t error_bytes)
{
    *columns = (struct view_columns){.count = 0};
    for (const char *item = list;; item++) {
        size_t bytes = strcspn(item, ",");
        struct view_column column = {.exclusive = by_exclusive};
        if (!read_column(&column, rows, item, bytes)) {
            complain_column(error, error_bytes, rows, item, bytes);
            return false;
        }
        if (columns->count == VIEW_COLUMNS_MOST) {
            snprintf(error, error_bytes, "more than %d columns", VIEW_COLUMNS_MOST);
            return false;
        }
        columns->column[columns->count++] = column;
        item += bytes;
        if (!*item)
            return true;
    }
}
