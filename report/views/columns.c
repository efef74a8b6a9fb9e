/* Columns of numbers as users ask for them. */
#include <stdio.h>
#include <string.h>

#include "report/views/style.h"

static bool find_metric(const char *name, size_t bytes, enum metric *metric)
{
    for (int i = 0; metric_word[i]; i++)
        if (strlen(metric_word[i]) == bytes && strncmp(metric_word[i], name, bytes) == 0) {
            *metric = (enum metric)i;
            return true;
        }
    return false;
}

/* "idleness:e%" */
static bool read_column(struct view_column *column, const char *item, size_t bytes)
{
    if (bytes && item[bytes - 1] == '%') {
        column->percent = true;
        bytes--;
    }
    if (bytes > 2 && item[bytes - 2] == ':') {
        char part = item[bytes - 1];
        if (part != 'i' && part != 'I' && part != 'e' && part != 'E')
            return false;
        column->exclusive = part == 'e' || part == 'E';
        bytes -= 2;
    }
    return find_metric(item, bytes, &column->metric);
}

static void complain(char *error, size_t error_bytes, const char *item, size_t bytes)
{
    size_t used = (size_t)snprintf(
        error, error_bytes,
        "%.*s%s: accepted is a list of METRIC, METRIC:i (inclusive) or METRIC:e (exclusive), "
        "with %% behind for per cent; METRIC is",
        bytes ? (int)(bytes < 80 ? bytes : 80) : 2, bytes ? item : "\"\"", bytes > 80 ? "..." : "");
    for (int i = 0; metric_word[i] && used < error_bytes; i++)
        used += (size_t)snprintf(error + used, error_bytes - used, "%s %s", i ? "," : "", metric_word[i]);
}

bool view_columns_read(struct view_columns *columns, const char *list, bool by_exclusive, char *error,
                       size_t error_bytes)
{
    *columns = (struct view_columns){.count = 0};
    for (const char *item = list;; item++) {
        size_t bytes = strcspn(item, ",");
        struct view_column column = {.exclusive = by_exclusive};
        if (!read_column(&column, item, bytes)) {
            complain(error, error_bytes, item, bytes);
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
