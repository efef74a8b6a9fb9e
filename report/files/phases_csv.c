/* phases.csv */
#include <math.h>

#include "report/files/csv.h"
#include "report/tables/phases.h"
#include "report/text/format.h"

#define END_OF_LINE "\r\n"

static void put_number(FILE *out, double value)
{
    putc(',', out);
    format_csv_number(out, value);
}

static void put_parts(FILE *out, const struct rows *rows, const struct phase_entry *entry, size_t first,
                      size_t end)
{
    for (size_t i = first; i < end; i++) {
        put_number(out, metric_value(rows, &entry->inclusive, metric_parts[i]));
        put_number(out, metric_value(rows, &entry->exclusive, metric_parts[i]));
    }
}

static void put_part_titles(FILE *out, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        fprintf(out, ",%1$s (I),%1$s (E)", metric_title(metric_parts[i]));
}

static void put_entry(FILE *out, const struct rows *rows, const struct phase_table *table,
                      const struct phase_entry *entry)
{
    const struct profile_probe *probe = &entry->probe;
    uint64_t start = table->profile->header.start_ns;
    format_csv_text(out, phase_name(table, entry->name));
    if (entry->is == PHASE_NUMBERED)
        fprintf(out, ",%lld,", (long long)entry->instance);
    else
        fputs(entry->is == PHASE_OTHERS ? ",others," : ",,", out);
    if (entry->thread == PHASE_THREAD_MANY)
        putc('*', out);
    else if (entry->thread != PHASE_THREAD_NONE)
        fprintf(out, "%u", entry->thread);
    if (probe->calls) {
        put_number(out, (double)(int64_t)(probe->first_begin_ns - start) * 1e-9);
        put_number(out, entry->exact_ns * 1e-9);
        fprintf(out, ",%llu", (unsigned long long)probe->calls);
        put_number(out, probe->shortest_ns * 1e-9);
        put_number(out, probe->longest_ns * 1e-9);
        put_number(out, probe_mean_s(probe));
        put_number(out, probe_deviation_s(probe));
    } else {
        fputs(",,,0,,,,", out);
    }
    fprintf(out, ",%llu,%llu", (unsigned long long)entry->inclusive.samples,
            (unsigned long long)entry->exclusive.samples);
    put_parts(out, rows, entry, 0, METRIC_ALWAYS_PARTS);
    put_number(out, metric_of_order(rows, &entry->inclusive, METRIC_IDLENESS, rows_whole(rows)));
    put_number(out, metric_of_order(rows, &entry->inclusive, METRIC_IDLENESS, &entry->inclusive));
    for (size_t i = 0; i < table->profile->counter_count; i++)
        if (entry->name && probe->calls)
            put_number(out, entry->counters.value[i]);
        else
            putc(',', out);
    put_parts(out, rows, entry, METRIC_ALWAYS_PARTS, METRIC_PARTS);
    fputs(END_OF_LINE, out);
}

void write_phases_csv(FILE *out, const struct rows *rows, const struct phase_table *table)
{
    fputs("phase,instance,thread,begin,seconds,calls,min,max,mean,deviation,samples (I),samples (E)", out);
    put_part_titles(out, 0, METRIC_ALWAYS_PARTS);
    fputs(",absolute idleness,relative idleness", out);
    for (size_t i = 0; i < table->profile->counter_count; i++) {
        putc(',', out);
        format_csv_text(out, table->profile->counter_name[i]);
    }
    put_part_titles(out, METRIC_ALWAYS_PARTS, METRIC_PARTS);
    fputs(END_OF_LINE, out);
    for (size_t i = 0; i < table->count; i++)
        put_entry(out, rows, table, &table->entry[i]);
}
