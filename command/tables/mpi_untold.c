#include "command/tables/mpi_untold.h"

#include "command/rows/metric.h"
#include "command/rows/mpi_names.h"

double mpi_untold_s(const struct rows *rows)
{
    double sum = 0;
    for (uint32_t i = 0; i < rows->count;) {
        const struct row *row = &rows->row[i];
        bool unreported = row_mpi_wait_is_unreported(row);
        if (unreported)
            sum += metric_value(rows, row->inclusive, METRIC_WORK) + metric_value(rows, row->inclusive, METRIC_BLOCKED);
        i = unreported ? row->end : i + 1;
    }
    return sum;
}
