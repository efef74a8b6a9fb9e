#include "command/export/export.h"

int64_t export_whole(double value)
{
    if (value >= 9.2e18)
        return INT64_MAX;
    if (value <= -9.2e18)
        return -INT64_MAX;
    return value > -0.5 ? (int64_t)(value + 0.5) : value < 0 ? -(int64_t)(0.5 - value) : 0;
}

int64_t export_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    double value = metric_value(rows, sums, metric);
    return export_whole(export_in_ns(rows, metric) ? value * 1e9 : value);
}

double export_negative(const struct rows *rows, enum metric metric)
{
    double sum = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double value = metric_value(rows, rows->row[i].exclusive, metric);
        if (rows->row[i].kind != ROW_STATEMENT && value < 0)
            sum += value;
    }
    return sum;
}
