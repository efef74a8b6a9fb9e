#include "compare/scaling_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/metric.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define END_OF_LINE    "\r\n"
#define LEAST_LOST     0.0005 /* of all effort: what is printed as more than 0.0 % */
#define MODEL_COLUMNS  32
#define NO_CORES       0.05 /* of all effort: worth a line */
#define WIDE           150 /* in less there is no room for models: the CSV has them */

static void print_points(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    int decimals = comparison_decimals(scaling->comparison);
    fprintf(out, "%8s %5s %10s %9s %11s %12s", style->by, "runs", "wall", "speed-up", "efficiency", "thread time");
    for (size_t m = 0; m < METRIC_PARTS; m++)
        if (comparison_shows(scaling->comparison, metric_parts[m]))
            fprintf(out, " %10s", metric_title(metric_parts[m]));
    putc('\n', out);
    for (size_t i = 0; i < scaling->count; i++) {
        const struct scaling_point *point = &scaling->point[i];
        fprintf(out, "%8s %5zu %10s %9s %9s %% %12s", DECIMAL(point->p, 0), point->runs, DECIMAL(point->wall_s, 3), DECIMAL(point->speed_up, 2),
                DECIMAL(100 * point->efficiency, 1), DECIMAL(point->effort_s, decimals));
        for (size_t m = 0; m < METRIC_PARTS; m++)
            if (comparison_shows(scaling->comparison, metric_parts[m]))
                fprintf(out, " %8s %%", DECIMAL(point->effort_s > 0 ? 100 * scaling_inclusive(scaling, 0, i, metric_parts[m]) / point->effort_s : 0, 1));
        putc('\n', out);
    }
}

/* "3.9 (3.1 to 5.0)" */
static char *foretold(const struct scaling_fit *fit, int decimals)
{
    return memory_text("%s (%s to %s)", DECIMAL(fit->at, decimals), DECIMAL(fmax(fit->low, 0), decimals), DECIMAL(fit->high, decimals));
}

static void print_whole(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    double next = 2 * scaling->point[scaling->count - 1].p;
    if (!scaling->modelled) {
        format_paragraph(out, "No model: it takes runs with at least three different numbers.", style->columns);
        return;
    }
    struct scaling_fit fit = scaling_whole_fit(scaling), wall = fit;
    wall.at /= next;
    wall.low /= next;
    wall.high /= next;
    char *form = scaling_fit_text(&fit, "p"), *at = foretold(&fit, comparison_decimals(scaling->comparison)), *wall_at = foretold(&wall, 3);
    char *of_wall = memory_text(", on cores of their own %s s of wall time", wall_at);
    char *text = memory_text("Thread time %s %s. With %s %s it will be %s %s%s.%s", fit.form ? "grows as" : "is not seen to grow, from", form, DECIMAL(next, 0), style->by,
                             at, comparison_unit(scaling->comparison), scaling->comparison->events ? "" : of_wall,
                             fit.high > SCALING_UNTOLD * fmax(fit.low, 0) ? " The data cannot tell: limits so far apart say that other forms fit as well." : "");
    format_paragraph(out, text, style->columns);
    if (scaling->design.distinct < SCALING_ENOUGH)
        format_paragraph(out, "Models of fewer than five different numbers are guesses: a constant, a root and a logarithm look alike.", style->columns);
    free(text);
    free(of_wall);
    free(wall_at);
    free(at);
    free(form);
}

static bool has_models(const struct scaling *scaling, const struct scaling_style *style)
{
    return scaling->modelled && style->columns >= WIDE;
}

static void print_row(FILE *out, const struct scaling *scaling, const struct scaling_row *row, const struct scaling_style *style)
{
    int decimals = comparison_decimals(scaling->comparison);
    bool models = has_models(scaling, style);
    fprintf(out, "%7s %% %6s  %-13s %9s %9s  ", DECIMAL(100 * row->lost, 1), row->first_p > 0 ? DECIMAL(row->first_p, 0) : "-", metric_title(row->metric),
            DECIMAL(scaling_effort(scaling, row->context, 0, METRIC_NAMED), decimals),
            DECIMAL(scaling_effort(scaling, row->context, scaling->count - 1, METRIC_NAMED), decimals));
    if (models) {
        char *form = scaling_fit_text(&row->fit, "p"), *at = foretold(&row->fit, decimals);
        fprintf(out, "%-*s  %-24s  ", MODEL_COLUMNS, form, at);
        free(at);
        free(form);
    }
    size_t taken = 9 + 7 + 15 + 20 + 2 + (models ? MODEL_COLUMNS + 28 : 0);
    char *label = comparison_label(scaling->comparison, row->context, style->columns > taken + 30 ? style->columns - taken : 30, style->utf8);
    fprintf(out, "%s\n", label);
    free(label);
}

static void print_rows(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    size_t count, shown = 0;
    struct scaling_row *rows = scaling_rows(scaling, &count);
    const struct scaling_point *first = &scaling->point[0], *last = &scaling->point[scaling->count - 1];
    for (size_t i = 0; i < count && shown < style->top && rows[i].lost >= LEAST_LOST; i++, shown++) {
        if (!shown) {
            char at_first[32], at_last[32], at_next[32];
            snprintf(at_first, sizeof at_first, "%s at %s", comparison_unit(scaling->comparison), DECIMAL(first->p, 0));
            snprintf(at_last, sizeof at_last, "at %s", DECIMAL(last->p, 0));
            snprintf(at_next, sizeof at_next, "at %s", DECIMAL(2 * last->p, 0));
            fprintf(out, "%9s %6s  %-10s %12s %9s", "lost", "from", "most of it", at_first, at_last);
            if (has_models(scaling, style))
                fprintf(out, "  %-*s  %-24s", MODEL_COLUMNS, "grows as", at_next);
            putc('\n', out);
        }
        print_row(out, scaling, &rows[i], style);
    }
    if (!count || rows[0].lost < LEAST_LOST)
        fputs("Nothing grows: it scales.\n", out);
    free(rows);
}

void scaling_text(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    const struct scaling_point *first = &scaling->point[0], *last = &scaling->point[scaling->count - 1];
    print_points(out, scaling, style);
    putc('\n', out);
    print_whole(out, scaling, style);
    double more = last->effort_s - last->ideal_s;
    char *text = memory_text("With %s %s there are %s %s more of thread time than %s%s: %s %% of it. By the code that is why, with its own time and the idleness blamed on it:", DECIMAL(last->p, 0), style->by,
                             DECIMAL(more, comparison_decimals(scaling->comparison)), comparison_unit(scaling->comparison), scaling->weak ? "as many times that with " : "with ", DECIMAL(first->p, 0),
                             DECIMAL(last->effort_s > 0 ? 100 * more / last->effort_s : 0, 1));
    putc('\n', out);
    format_paragraph(out, text, style->columns);
    putc('\n', out);
    free(text);
    print_rows(out, scaling, style);
    double no_core = scaling_inclusive(scaling, 0, scaling->count - 1, METRIC_NO_CORE);
    if (no_core > NO_CORES * last->effort_s) {
        text = memory_text("With %s %s no core was there for %s %% of the thread time: how the program itself scales shows on a machine with a core for each thread.",
                           DECIMAL(last->p, 0), style->by, DECIMAL(100 * no_core / last->effort_s, 1));
        putc('\n', out);
        format_paragraph(out, text, style->columns);
        free(text);
    }
}

static void put_numbers(FILE *out, const double *number, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        putc(',', out);
        format_csv_number(out, number[i]);
    }
}

static void put_fit(FILE *out, const struct scaling *scaling, const struct scaling_fit *fit)
{
    if (!scaling->modelled) {
        fputs(",,,,,", out);
        return;
    }
    char *form = scaling_fit_text(fit, "p");
    putc(',', out);
    format_csv_text(out, form);
    put_numbers(out, (const double[]){2 * scaling->point[scaling->count - 1].p, fit->at, fit->low, fit->high}, 4);
    free(form);
}

static void put_point(FILE *out, const struct scaling *scaling, uint32_t context, size_t point, double lost, const struct scaling_fit *fit)
{
    const struct scaling_point *of = &scaling->point[point];
    fprintf(out, ",%s,%zu", DECIMAL(of->p, 0), of->runs);
    if (context == ROW_NONE)
        put_numbers(out, (const double[]){of->wall_s, of->speed_up, of->efficiency}, 3);
    else
        fputs(",,,", out);
    put_numbers(out, (const double[]){lost}, 1);
    for (size_t m = 0; m < METRIC_PARTS; m++) {
        double value = context == ROW_NONE ? scaling_inclusive(scaling, 0, point, metric_parts[m]) : scaling_effort(scaling, context, point, metric_parts[m]);
        put_numbers(out, &value, 1);
    }
    put_fit(out, scaling, fit);
    fputs(END_OF_LINE, out);
}

static double lost_at(const struct scaling *scaling, uint32_t context, size_t point)
{
    const struct scaling_point *of = &scaling->point[point], *first = &scaling->point[0];
    double ideal = of->ideal_s, effort = of->effort_s;
    if (context != ROW_NONE) {
        double factor = first->effort_s > 0 ? of->ideal_s / first->effort_s : 1;
        ideal = factor * scaling_effort(scaling, context, 0, METRIC_NAMED);
        effort = scaling_effort(scaling, context, point, METRIC_NAMED);
    }
    return of->effort_s > 0 ? (effort - ideal) / of->effort_s : 0;
}

void scaling_csv(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    size_t count;
    struct scaling_row *rows = scaling_rows(scaling, &count);
    uint32_t *order = comparison_order(scaling->comparison, METRIC_IDLENESS);
    uint32_t *id = comparison_places(scaling->comparison, order);
    fprintf(out, COMPARE_CSV_CONTEXT ",%s,runs,wall,speed-up,efficiency,lost", style->by);
    for (size_t m = 0; m < METRIC_PARTS; m++)
        fprintf(out, ",%s", metric_word[metric_parts[m]]);
    fputs(",model,model at,foretold,low,high" END_OF_LINE, out);
    struct scaling_fit whole = scaling_whole_fit(scaling);
    for (size_t point = 0; point < scaling->count; point++) {
        fprintf(out, "%zu,,0,whole,<whole>,,,", scaling->comparison->count);
        put_point(out, scaling, ROW_NONE, point, lost_at(scaling, ROW_NONE, point), &whole);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t point = 0; point < scaling->count; point++) {
            comparison_put_context(out, scaling->comparison, rows[i].context, id);
            put_point(out, scaling, rows[i].context, point, lost_at(scaling, rows[i].context, point), &rows[i].fit);
        }
    free(rows);
    free(order);
    free(id);
}
