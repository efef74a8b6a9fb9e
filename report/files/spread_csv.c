#include "report/files/spread_csv.h"

#include "report/tables/spreads.h"
#include "report/text/format.h"

#define END_OF_LINE "\r\n"

static void put_seconds(FILE *out, double ns)
{
    putc(',', out);
    format_csv_number(out, ns * 1e-9);
}

static void put_entry(FILE *out, const struct rows *rows, const struct spread_entry *entry)
{
    fprintf(out, "%u,", entry->row);
    format_csv_text(out, rows->row[entry->row].label->name);
    fprintf(out, ",%s (%s),%u", spread_metric_name[entry->metric], entry->exclusive ? "E" : "I", entry->ranks);
    put_seconds(out, entry->mean);
    put_seconds(out, entry->deviation);
    put_seconds(out, entry->least);
    fprintf(out, ",%s", entry->least_rank);
    put_seconds(out, entry->most);
    fprintf(out, ",%s" END_OF_LINE, entry->most_rank);
}

void write_spread_csv(FILE *out, const struct profile *profile, const struct rows *rows)
{
    struct spread_entry entry;
    fputs("id,name,metric,ranks,mean,deviation,min,min_rank,max,max_rank" END_OF_LINE, out);
    for (size_t i = 0; i < rows->spread_count; i++)
        for (int metric = 0; metric < PROFILE_SPREAD_METRICS; metric++)
            for (int exclusive = 0; exclusive < 2; exclusive++)
                if (spread_of_row(profile, rows, rows->spread[i].row, (enum profile_spread_metric)metric,
                                  exclusive == 1, &entry))
                    put_entry(out, rows, &entry);
}
