/* The part of the waits view that shows who woke whom. */
#include <stdlib.h>

#include "command/rows/own.h"
#include "command/tables/wakes.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/places.h"
#include "command/views/text.h"

/* Prints a line of code with its callers: "woken by put  queue.c:40  < produce < main". */
static void print_wake_line(FILE *out, const struct rows *rows, const char *before, const struct wake_end *end,
                            size_t indent, const struct view_style *style)
{
    char *text, *line = places_line(end->file, end->line);
    FILE *stream = memory_stream(&text);
    fprintf(stream, "%s%s%s ", before, end->function, line);
    for (uint32_t i = rows->row[rows_own(rows, end->row)].parent; i != ROW_NONE && i != 0; i = rows->row[i].parent)
        if (!rows->row[i].foreign)
            fprintf(stream, " < %s", rows->row[i].label->name);
    memory_stream_close(stream);
    places_print_text(out, text, indent, style);
    free(line);
}

void view_text_wakes(FILE *out, const struct rows *rows, const struct wake_table *table, const struct view_style *style)
{
    if (!table->count)
        return;
    putc('\n', out);
    format_paragraph(out,
                     "Seconds that threads slept until another thread woke them (part of blocked, and in none of the "
                     "figures above). Below each place: the code that woke them.",
                     style->columns);
    fprintf(out, "\n%s%10s%7s   %s%s\n", format_strong(style->colour), "wait", "", "place",
            format_plain(style->colour));
    for (size_t i = 0, shown = 0; i < table->count; i++, shown++) {
        const struct wake_pair *pair = &table->pair[i];
        if (i == 0 || !wake_pairs_share_place(pair, pair - 1)) {
            char *place = memory_text("%s in ", wake_name[pair->wake]);
            fprintf(out, "%10s%7s   ", DECIMAL(pair->place_ns * 1e-9, 3), "");
            print_wake_line(out, rows, place, &pair->waiter, PLACES_INDENT, style);
            free(place);
            shown = 0;
        }
        if (shown >= style->below)
            continue;
        places_print_pair(out, pair->ns, style);
        print_wake_line(out, rows, "woken by ", &pair->waker, PLACES_PAIR_INDENT, style);
    }
}
