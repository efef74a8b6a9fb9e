#include "report/files/folds_csv.h"

#include "report/rows/row.h"
#include "report/text/format.h"

#define END_OF_LINE "\r\n"

static void put_number(FILE *out, double value)
{
    putc(',', out);
    format_csv_number(out, value);
}

static void put_row(FILE *out, const struct fold_table *table, uint32_t row, size_t bin)
{
    static const enum metric metric[] = {METRIC_WORK, METRIC_IDLENESS, METRIC_LOCK_WAIT};
    const struct profile_time_value *value = &table->bins[row][bin];
    if (value->own == 0 && value->inverse_busy == 0 && value->shared_idle == 0 && value->lock_wait == 0)
        return;
    fprintf(out, "%zu", bin);
    put_number(out, (double)bin / PROFILE_TIME_BINS);
    put_number(out, (double)(bin + 1) / PROFILE_TIME_BINS);
    fprintf(out, ",%u,", row);
    format_csv_text(out, row ? table->rows->row[row].label->name : table->name);
    for (size_t i = 0; i < sizeof metric / sizeof *metric; i++)
        put_number(out, fold_value(table, value, metric[i]));
    fputs(END_OF_LINE, out);
}

void write_folds_csv(FILE *out, const struct fold_table *table)
{
    fputs("bin,begin,end,id,name,work,idleness,lock_wait" END_OF_LINE, out);
    for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++)
        for (uint32_t row = 0; row < table->rows->count; row++)
            put_row(out, table, row, bin);
}
