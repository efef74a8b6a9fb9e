/* Prints the POP efficiencies of a job. */
#include <math.h>
#include <stdlib.h>

#include "command/tables/efficiency.h"
#include "command/text/format.h"
#include "command/views/text.h"

/* Prints an efficiency and its two factors. In enum efficiency, the factors follow the efficiency. */
static void print_product(FILE *out, const char *name, const double *of)
{
    static const int columns[] = {8, 16, 16};
    fprintf(out, "  %-24s", name);
    for (int i = 0; i < 3; i++)
        fprintf(out, "%*s", columns[i], isfinite(of[i]) ? DECIMAL(100 * of[i], 1) : "");
    putc('\n', out);
}

static void print_efficiency_text(FILE *out, char *text, const struct view_style *style)
{
    format_paragraph(out, text, style->columns);
    free(text);
}

static void print_remarks(FILE *out, const struct efficiencies *made, const struct view_style *style)
{
    putc('\n', out);
    if (made->why_balance)
        print_efficiency_text(
            out, format_printable("The efficiencies over threads are unknown: %s.", made->why_balance), style);
    if (made->no_core + made->blocked >= 0.01)
        print_efficiency_text(
            out,
            format_printable("Of the time that counts as useful, threads spent %s %% without a core and %s %% "
                             "blocked.",
                             DECIMAL(100 * made->no_core, 1), DECIMAL(100 * made->blocked, 1)),
            style);
    print_efficiency_text(
        out,
        format_printable(
            "The first row is the product of the others. MPI's communication efficiency is the product of "
            "serialisation and transfer. These two are not shown, because they need a run on an ideal network."),
        style);
}

void view_text_efficiencies(FILE *out, const struct profile *profile, const struct view_style *style)
{
    struct efficiencies made = efficiencies_of(profile);
    if (made.why) {
        print_efficiency_text(out, format_printable("POP's efficiencies are unknown: %s.", made.why), style);
        return;
    }
    print_efficiency_text(out,
                          format_printable("POP's efficiencies, as percentages, for %s s, %llu rank%s and %llu "
                                           "threads:",
                                           DECIMAL(made.runtime_s, 2), (unsigned long long)made.processes,
                                           made.processes == 1 ? "" : "s", (unsigned long long)made.threads),
                          style);
    fprintf(out, "\n%s  %-24s%8s%16s%16s%s\n", format_strong(style->colour), "", "", "= load balance",
            "x communication", format_plain(style->colour));
    print_product(out, "parallel", &made.of[EFFICIENCY_PARALLEL]);
    print_product(out, "between ranks (MPI)", &made.of[EFFICIENCY_MPI]);
    print_product(out, "inside ranks (OpenMP)", &made.of[EFFICIENCY_OPENMP]);
    print_remarks(out, &made, style);
}
