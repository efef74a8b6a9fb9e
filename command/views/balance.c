/* The balance view: the waiting in collective calls that is charged to late ranks. */
#include <math.h>
#include <stdlib.h>

#include "cct/profile_format.h"
#include "command/profile/profile.h"
#include "command/rows/label.h"
#include "command/tables/balance.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/text.h"

#define SHOWN        20
#define LABEL_INDENT 40

static void print_balance_heading(FILE *out, const char *number, const char *what, const struct view_style *style)
{
    fprintf(out, "\n%s%10s%7s%8s%11s  %s%s\n", format_strong(style->colour), "charged", "%", "rank", number, what,
            format_plain(style->colour));
}

static void print_balance_entry(FILE *out, const struct rows *rows, const struct balance_entry *entry, double whole,
                                const struct view_style *style)
{
    const struct profile_balance *balance = &entry->balance;
    size_t columns = style->columns > LABEL_INDENT + 16 ? style->columns - LABEL_INDENT : 16;
    bool call = entry->key == PROFILE_BALANCE_CALL;
    fprintf(out, "%10s%7s", DECIMAL(balance->charged * 1e-9, 3),
            whole > 0 ? DECIMAL(100 * balance->charged / whole, 1) : "");
    if (balance->most > 0)
        fprintf(out, "%8u", balance->most_rank);
    else
        fprintf(out, "%8s", "");
    fprintf(out, "%11s  ",
            call                ? DECIMAL(balance->most * 1e-9, 3)
            : balance->mean > 0 ? DECIMAL(balance->time / balance->mean, 2)
                                : "");
    char *label = entry->row != ROW_NONE
                      ? row_context_label(rows, entry->row, call ? METRIC_MPI_WAIT : METRIC_WORK, columns, style->utf8)
                      : memory_text("%s", balance_name(entry));
    fprintf(out, "%s\n", label);
    free(label);
}

static void print_balance_entries(FILE *out, const struct rows *rows, const struct balance_table *table, size_t first,
                                  size_t end, const struct view_style *style)
{
    double rest = 0;
    for (size_t i = first; i < end; i++)
        if (style->all || i - first < SHOWN)
            print_balance_entry(out, rows, &table->entry[i], table->charged, style);
        else
            rest += table->entry[i].balance.charged;
    if (!style->all && end - first > SHOWN)
        fprintf(out, "%10s%7s%21s%zu more (--all)\n", DECIMAL(rest * 1e-9, 3),
                table->charged > 0 ? DECIMAL(100 * rest / table->charged, 1) : "", "", end - first - SHOWN);
}

static void print_balance_ranks(FILE *out, const struct balance_table *table, const struct view_style *style)
{
    double rest = 0;
    size_t shown = style->all || table->rank_count < SHOWN ? table->rank_count : SHOWN;
    print_balance_heading(out, "", "node", style);
    for (size_t i = 0; i < table->rank_count; i++) {
        const struct profile_rank *rank = table->rank[i];
        if (i >= shown) {
            rest += rank->charged;
            continue;
        }
        char *host = format_fit(rank->host, SIZE_MAX, style->utf8);
        fprintf(out, "%10s%7s%8u%11s  %s\n", DECIMAL(rank->charged * 1e-9, 3),
                DECIMAL(100 * rank->charged / table->charged, 1), rank->rank, "", host);
        free(host);
    }
    if (shown < table->rank_count)
        fprintf(out, "%10s%7s%21s%zu more (--all)\n", DECIMAL(rest * 1e-9, 3), DECIMAL(100 * rest / table->charged, 1),
                "", table->rank_count - shown);
}

void view_text_balance(FILE *out, const struct profile *profile, const struct rows *rows,
                       const struct view_style *style)
{
    struct balance_table *table = balance_gather(profile, rows);
    char *text =
        table->calls
            ? memory_text("For %s s of waiting in MPI, no rank on the same node is blamed. From the sums "
                          "of all ranks, blame estimates the causes: %s s are charged to ranks that arrive "
                          "later at collective calls, %s s are waiting that all ranks of these calls share, "
                          "and the causes of %s s in other calls are unknown. The estimate does not show ranks that "
                          "are late alternately.",
                          DECIMAL(table->unblamed * 1e-9, 3), DECIMAL(table->charged * 1e-9, 3),
                          DECIMAL(table->common * 1e-9, 3),
                          DECIMAL(fmax(0, table->unblamed - table->charged - table->common) * 1e-9, 3))
            : memory_text("No waiting is charged to ranks on other nodes: either all ranks saw for whom they waited "
                          "(rank idleness), or a rank had two processes, or no collective call was seen.");
    view_text_header(out, profile, style);
    putc('\n', out);
    format_paragraph(out, text, style->columns);
    free(text);
    if (table->calls) {
        print_balance_heading(out, "of it", "call; rank: the one with the largest charge", style);
        print_balance_entries(out, rows, table, 0, table->calls, style);
    }
    if (table->charged > 0) {
        print_balance_ranks(out, table, style);
        print_balance_heading(out, "times mean",
                              "code of late ranks; rank: the one with the most time, relative to the mean rank", style);
        print_balance_entries(out, rows, table, table->calls, table->count, style);
    }
    balance_free(table);
}
