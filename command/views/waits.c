/* The waits view. */
#include <stdlib.h>
#include <string.h>

#include "command/rows/label.h"
#include "command/tables/waits.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/places.h"
#include "command/views/sort.h"
#include "command/views/text.h"

static double whole_waiting_of(const struct wait_table *table)
{
    double whole = 0;
    for (size_t i = 0; i < table->place_count; i++)
        whole += table->place[i].ns;
    return whole;
}

/* Prints a wait place, as "taskwait in fib  fib.c:22" or "MPI_Allreduce of other ranks in exchange
 * solve.c:88". */
static void print_wait_place(FILE *out, const struct wait_place *place, const struct view_style *style)
{
    char *line = places_line(place->file, place->line);
    const char *joint = place->kind == WAIT_LOCK         ? " "
                        : place->kind == WAIT_REGION_END ? " of "
                        : place->in_region               ? " in the region of "
                                                         : " in ";
    char *text =
        memory_text("%s%s%s%s%s", *place->call ? place->call : wait_kind_name[place->kind],
                    *place->call ? " of other ranks" : "", *place->function ? joint : "", place->function, line);
    places_print_text(out, text, PLACES_INDENT, style);
    free(line);
}

static void print_wait_pairs(FILE *out, const struct rows *rows, const struct wait_table *table,
                             const struct wait_place *place, const struct view_style *style)
{
    for (uint32_t i = 0; i < place->pair_count && i < style->below; i++) {
        const struct wait_pair *pair = &table->pair[place->first_pair + i];
        char *label = row_context_label(rows, pair->row, wait_metric(place->kind),
                                        places_columns(style, PLACES_PAIR_INDENT), style->utf8);
        places_print_pair(out, pair->ns, style);
        fprintf(out, "%s\n", label);
        free(label);
    }
    if (style->below && place->pair_count > style->below)
        fprintf(out, "%30sand %u more\n", "", place->pair_count - style->below);
}

void view_text_waits(FILE *out, const struct profile *profile, const struct rows *rows, const struct wait_table *table,
                     const struct view_style *style)
{
    double rest = style->cut ? style->cut->ns : 0, whole = whole_waiting_of(table) + rest;
    size_t shown = style->most && style->most < table->place_count ? style->most : table->place_count;
    size_t left_out = table->place_count - shown + (style->cut ? style->cut->count : 0);
    view_text_header(out, profile, style);
    if (!(whole > 0)) {
        fputs("\nNo sample found a thread waiting.\n", out);
        return;
    }
    format_paragraph(out,
                     "Seconds that threads, or other ranks, idled or waited at each place, and percentages of all "
                     "waiting. Below each place: the code that kept them waiting meanwhile.",
                     style->columns);
    fprintf(out, "\n%s%10s%7s   %s%s\n", format_strong(style->colour), "wait", "%", "place",
            format_plain(style->colour));
    for (size_t i = 0; i < table->place_count; i++) {
        const struct wait_place *place = &table->place[i];
        double share = 100 * place->ns / whole;
        if (i >= shown) {
            rest += place->ns;
            continue;
        }
        fprintf(out, "%s%10s%7s%s   ", format_heat(share, style->colour), DECIMAL(place->ns * 1e-9, 3),
                DECIMAL(share, 1), format_plain(style->colour));
        print_wait_place(out, place, style);
        print_wait_pairs(out, rows, table, place, style);
    }
    if (left_out)
        fprintf(out, "\n%zu place%s left out, totalling %s s; --min 0 shows all\n", left_out, left_out == 1 ? "" : "s",
                DECIMAL(rest * 1e-9, 3));
}
