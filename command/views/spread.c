/* The spread view: rows ordered by how much their values differ between the ranks of a job. */
#include <stdlib.h>
#include <string.h>

#include "command/profile/profile.h"
#include "command/rows/filter.h"
#include "command/rows/label.h"
#include "command/tables/spreads.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/text.h"

#define NUMBERS    61 /* columns of numbers before the tree */
#define MOST_DEPTH 12u

static void print_spread_numbers(FILE *out, const struct profile *profile, const struct spread_entry *entry)
{
    if (entry->ranks < profile->header.merged)
        fprintf(out, "%6u", entry->ranks);
    else
        fprintf(out, "%6s", "all");
    fprintf(out, "%9s%9s", DECIMAL(entry->mean * 1e-9, 3), DECIMAL(entry->deviation * 1e-9, 3));
    fprintf(out, "%9s %-6s", DECIMAL(entry->least * 1e-9, 3), entry->least_rank);
    fprintf(out, "%9s %-6s", DECIMAL(entry->most * 1e-9, 3), entry->most_rank);
    fprintf(out, "%5s", DECIMAL(entry->mean > 0 ? entry->most / entry->mean : 0, 2));
}

static void print_spread_row(FILE *out, const struct profile *profile, const struct rows *rows, uint32_t row,
                             enum profile_spread_metric metric, const struct view_style *style)
{
    struct spread_entry entry;
    size_t indent = 2 * (size_t)(rows->row[row].depth < MOST_DEPTH ? rows->row[row].depth : MOST_DEPTH);
    size_t room = style->columns > NUMBERS + 2 + indent + 12 ? style->columns - NUMBERS - 2 - indent : 12;
    if (spread_of_row(profile, rows, row, metric, false, &entry))
        print_spread_numbers(out, profile, &entry);
    else
        fprintf(out, "%*s", NUMBERS, "");
    char *label = row_tree_label(rows, row), *fitting = format_fit(label, room, style->utf8);
    fprintf(out, "  %*s%s\n", (int)indent, "", fitting);
    free(fitting);
    free(label);
}

void view_text_spread(FILE *out, const struct profile *profile, const struct rows *rows, const struct view_style *style)
{
    enum profile_spread_metric metric = style->metric == METRIC_WORK       ? PROFILE_SPREAD_WORK
                                        : style->metric == METRIC_MPI_WAIT ? PROFILE_SPREAD_MPI_WAIT
                                                                           : PROFILE_SPREAD_TIME;
    bool *visible = memory_array(rows->count, sizeof *visible);
    char text[400];
    view_text_header(out, profile, style);
    snprintf(
        text, sizeof text,
        "%s of a rank's threads, in seconds, with what the row calls: over %u ranks, those that do not have it have 0; "
        "of rows of several calls in a line, and of inlined functions with others beside them, only the sum is known. "
        "m/m is max / mean.",
        metric == PROFILE_SPREAD_TIME   ? "Time (all but idleness)"
        : metric == PROFILE_SPREAD_WORK ? "Work"
                                        : "MPI wait",
        profile->header.merged);
    format_paragraph(out, text, style->columns);
    fprintf(out, "\n%s%6s%9s%9s%9s %-6s%9s %-6s%5s%s\n", format_strong(style->colour), "ranks", "mean", "sigma", "min",
            "rank", "max", "rank", "m/m", format_plain(style->colour));
    rows_mark_shares(rows, style->metric, false, style->least_percent, visible);
    for (uint32_t i = 0; i < rows->count; i++)
        if (visible[i] && rows->row[i].kind != ROW_STATEMENT)
            print_spread_row(out, profile, rows, i, metric, style);
    free(visible);
}
