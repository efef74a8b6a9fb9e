/* The waits view. */
#include <stdlib.h>

#include "report/format.h"
#include "report/views.h"

#define BLAMED_SHOWN  3 /* contexts below a place */
#define PLACES_SHOWN  30
#define LEAST_PERCENT 0.5
#define LABEL_INDENT  30 /* columns in front of a context */
#define PLACE_INDENT  20

static double whole_of(const struct wait_table *table)
{
    double whole = 0;
    for (size_t i = 0; i < table->place_count; i++)
        whole += table->place[i].ns;
    return whole;
}

/* "taskwait in fib  fib.c:22" */
static void print_place(FILE *out, const struct wait_place *place, size_t columns, bool utf8)
{
    char text[600], name[700];
    char *clean = format_clean(place->function, true);
    const char *joint = place->kind == WAIT_LOCK         ? " "
                        : place->kind == WAIT_REGION_END ? " of "
                        : place->in_region               ? " in the region of "
                                                         : " in ";
    int used = snprintf(text, sizeof text, "%s%s%.300s", wait_kind_name[place->kind],
                        clean && *clean ? joint : "", clean ? clean : "");
    if (place->line > 0)
        snprintf(text + used, sizeof text - (size_t)used, "  %.200s:%d", format_base_name(place->file),
                 place->line);
    format_shorten(name, sizeof name, text, columns > PLACE_INDENT + 16 ? columns - PLACE_INDENT : 16, utf8);
    fprintf(out, "%s\n", name);
    free(clean);
}

static void print_pairs(FILE *out, const struct rows *rows, const struct wait_table *table,
                        const struct wait_place *place, size_t columns, bool utf8)
{
    char number[FORMAT_NUMBER_BYTES];
    for (uint32_t i = 0; i < place->pair_count && i < BLAMED_SHOWN; i++) {
        const struct wait_pair *pair = &table->pair[place->first_pair + i];
        enum measure measure = place->kind == WAIT_LOCK ? MEASURE_LOCK_WAIT : MEASURE_IDLENESS;
        char *label = view_context_label(rows, pair->row, measure,
                                         columns > LABEL_INDENT + 16 ? columns - LABEL_INDENT : 16, utf8);
        fprintf(out, "%18s%s%9s  %s\n", "", utf8 ? "\xe2\x86\xb3" : ">",
                format_decimal(number, pair->ns * 1e-9, 3), label ? label : "");
        free(label);
    }
    if (place->pair_count > BLAMED_SHOWN)
        fprintf(out, "%30sand %u more\n", "", place->pair_count - BLAMED_SHOWN);
}

void view_text_waits(FILE *out, const struct profile *profile, const struct rows *rows,
                     const struct wait_table *table, size_t columns, bool utf8)
{
    char number[FORMAT_NUMBER_BYTES], percent[FORMAT_NUMBER_BYTES];
    double whole = whole_of(table), rest = 0;
    size_t shown = 0, left_out = 0;
    view_text_header(out, profile, "Waits", columns, utf8);
    if (!(whole > 0)) {
        fputs("\nNo sample saw a thread wait.\n", out);
        return;
    }
    format_paragraph(
        out,
        "Seconds that threads idled or waited at each place, per cent of all waiting; below a place, whose "
        "code kept them waiting meanwhile.",
        columns);
    fprintf(out, "\n%10s%7s   %s\n", "wait", "%", "place");
    for (size_t i = 0; i < table->place_count; i++) {
        const struct wait_place *place = &table->place[i];
        if (shown == PLACES_SHOWN || 100 * place->ns < LEAST_PERCENT * whole) {
            left_out++;
            rest += place->ns;
            continue;
        }
        shown++;
        fprintf(out, "%10s%7s   ", format_decimal(number, place->ns * 1e-9, 3),
                format_decimal(percent, 100 * place->ns / whole, 1));
        print_place(out, place, columns, utf8);
        print_pairs(out, rows, table, place, columns, utf8);
    }
    if (left_out)
        fprintf(out, "\n%zu places cut, together %s s; --format csv shows all\n", left_out,
                format_decimal(number, rest * 1e-9, 3));
}
