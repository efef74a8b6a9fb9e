#include "report/files/balance_csv.h"

#include "report/tables/balance.h"
#include "report/text/format.h"

#define END_OF_LINE "\r\n"

static void put_seconds(FILE *out, bool known, double ns)
{
    putc(',', out);
    if (known)
        format_csv_number(out, ns * 1e-9);
}

static void put_entry(FILE *out, const struct rows *rows, const struct balance_entry *entry)
{
    const struct profile_balance *balance = &entry->balance;
    bool call = entry->key == PROFILE_BALANCE_CALL, code = entry->key == PROFILE_BALANCE_CONTEXT;
    fprintf(out, "%s,", balance_kind(entry));
    if (entry->row != ROW_NONE)
        fprintf(out, "%u", entry->row);
    putc(',', out);
    format_csv_text(out, entry->row != ROW_NONE ? rows->row[entry->row].label->name : balance_name(entry));
    put_seconds(out, true, balance->charged);
    if (balance->most > 0)
        fprintf(out, ",%u", balance->most_rank);
    else
        putc(',', out);
    put_seconds(out, balance->most > 0, balance->most);
    put_seconds(out, call, balance->common);
    put_seconds(out, code, balance->time);
    put_seconds(out, code, balance->mean);
    fputs(END_OF_LINE, out);
}

void write_balance_csv(FILE *out, const struct profile *profile, const struct rows *rows)
{
    struct balance_table *table = balance_gather(profile, rows);
    fputs("kind,id,name,charged,rank,of_rank,common,time,mean" END_OF_LINE, out);
    for (size_t i = 0; i < table->count; i++)
        put_entry(out, rows, &table->entry[i]);
    for (size_t i = 0; i < table->rank_count; i++) {
        fputs("rank,,", out);
        put_seconds(out, true, table->rank[i]->charged);
        fprintf(out, ",%u", table->rank[i]->rank);
        put_seconds(out, true, table->rank[i]->charged);
        fputs(",,," END_OF_LINE, out);
    }
    balance_free(table);
}
