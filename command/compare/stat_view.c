#include "command/compare/stat_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare/statistics.h"
#include "command/rows/metric.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define END_OF_LINE "\r\n"

struct spread {
    double median, least, most;
    struct statistics_interval interval;
};

static struct spread stat_spread_of(double *value, size_t count)
{
    struct spread spread = {.median = statistics_median(value, count)};
    spread.interval = statistics_interval_of(value, count);
    spread.least = value[0];
    spread.most = value[count - 1];
    return spread;
}

static struct spread stat_spread_of_wall(const struct comparison *comparison)
{
    double value[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++)
        value[run] = comparison->run[run].wall_s;
    return stat_spread_of(value, comparison->run_count);
}

static struct spread stat_spread_of_nobody(const struct comparison *comparison)
{
    double value[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++)
        value[run] = comparison->run[run].nobody;
    return stat_spread_of(value, comparison->run_count);
}

static struct spread stat_spread_of_context(const struct comparison *comparison, uint32_t context, enum metric metric,
                                            bool inclusive)
{
    double value[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++)
        value[run] = comparison_value(comparison, run, context, metric, inclusive);
    return stat_spread_of(value, comparison->run_count);
}

/* Returns whether the interval is printed. With up to eight runs, its ends are the smallest and the largest
 * value, which are printed anyway. */
static bool stat_has_interval(const struct comparison *comparison)
{
    return comparison->run_count > 8;
}

static void stat_print_scatter(FILE *out, const struct comparison *comparison, const struct spread *spread,
                               int decimals)
{
    const double numbers[] = {spread->median, spread->least, spread->most, spread->interval.low, spread->interval.high};
    for (size_t i = 0; i < (stat_has_interval(comparison) ? 5 : 3); i++) {
        fprintf(out, "%s%10s", i ? " " : "", DECIMAL(numbers[i], decimals));
    }
}

struct ranked {
    uint32_t context;
    struct spread spread;
};

static int stat_compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->spread.median != b->spread.median)
        return a->spread.median > b->spread.median ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

static void stat_print_contexts(FILE *out, const struct comparison *comparison, const struct stat_style *style,
                                int decimals)
{
    struct ranked *ranked = memory_array(comparison->count, sizeof *ranked);
    size_t count = 0, taken = stat_has_interval(comparison) ? 57 : 35;
    for (uint32_t i = 1; i < comparison->count; i++) {
        struct spread spread = stat_spread_of_context(comparison, i, style->metric, false);
        if (comparison->context[i].kind != ROW_STATEMENT && spread.most > 0)
            ranked[count++] = (struct ranked){i, spread};
    }
    qsort(ranked, count, sizeof *ranked, stat_compare_ranked);
    if (count && style->top)
        fprintf(out, "\n%s of the %s themselves:\n", metric_title(style->metric),
                style->functions ? "functions" : "contexts");
    for (size_t i = 0; i < count && i < style->top; i++) {
        char *label = comparison_label(comparison, ranked[i].context,
                                       style->columns > taken + 20 ? style->columns - taken : 20, style->utf8);
        stat_print_scatter(out, comparison, &ranked[i].spread, decimals);
        fprintf(out, "  %s\n", label);
        free(label);
    }
    free(ranked);
}

static void stat_print_confidence(FILE *out, const struct comparison *comparison, const struct stat_style *style,
                                  double coverage)
{
    char text[300];
    if (comparison->run_count < 2)
        return;
    snprintf(text, sizeof text, "With %s %% confidence, the median of all possible runs lies %s.%s",
             DECIMAL(100 * coverage, 1),
             stat_has_interval(comparison) ? "in the interval"
                                           : "between the smallest and the largest "
                                             "value",
             comparison->run_count < 6 ? " An interval with 95 % confidence needs six runs." : "");
    fputc('\n', out);
    format_paragraph(out, text, style->columns);
}

void stat_text(FILE *out, const struct comparison *comparison, const struct stat_style *style)
{
    int decimals = comparison_decimals(comparison);
    struct spread spread = stat_spread_of_wall(comparison);
    double coverage = spread.interval.coverage;
    fprintf(out, "%zu run%s; %s\n\n", comparison->run_count, comparison->run_count == 1 ? "" : "s",
            comparison->events ? "events, wall time in seconds" : "seconds");
    fprintf(out, "%10s %10s %10s%s\n", "median", "least", "most",
            stat_has_interval(comparison) ? "      95 % interval" : "");
    stat_print_scatter(out, comparison, &spread, 3);
    fprintf(out, "  wall time\n");
    for (size_t m = 0; m < METRIC_ALL_PARTS; m++) {
        if (!comparison_shows(comparison, metric_parts[m]))
            continue;
        spread = stat_spread_of_context(comparison, 0, metric_parts[m], true);
        stat_print_scatter(out, comparison, &spread, decimals);
        fprintf(out, "  %s\n", metric_title(metric_parts[m]));
    }
    if (comparison_shows_nobody(comparison)) {
        spread = stat_spread_of_nobody(comparison);
        stat_print_scatter(out, comparison, &spread, decimals);
        fprintf(out, "  while no thread was busy (not part of the effort above)\n");
    }
    stat_print_contexts(out, comparison, style, decimals);
    stat_print_confidence(out, comparison, style, coverage);
}

static void stat_put_scatter(FILE *out, const char *metric, const char *part, size_t runs, const struct spread *spread)
{
    const double numbers[] = {spread->median,       spread->least,         spread->most,
                              spread->interval.low, spread->interval.high, spread->interval.coverage};
    fprintf(out, ",%s,%s,%zu", metric, part, runs);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        putc(',', out);
        format_csv_number(out, numbers[i]);
    }
    fputs(END_OF_LINE, out);
}

static void stat_put_context(FILE *out, const struct comparison *comparison, uint32_t index, const uint32_t *id)
{
    for (size_t m = 0; m < METRIC_ALL_PARTS; m++)
        for (int inclusive = 1; inclusive >= 0; inclusive--) {
            struct spread spread = stat_spread_of_context(comparison, index, metric_parts[m], inclusive);
            if (spread.most == 0 && spread.least == 0 && index > 0)
                continue;
            comparison_put_context(out, comparison, index, id);
            stat_put_scatter(out, metric_word[metric_parts[m]], inclusive ? "I" : "E", comparison->run_count, &spread);
        }
}

void stat_csv(FILE *out, const struct comparison *comparison, enum metric metric)
{
    uint32_t *order = comparison_order(comparison, metric);
    uint32_t *id = comparison_positions(comparison, order);
    struct spread wall = stat_spread_of_wall(comparison);
    fputs(COMPARE_CSV_CONTEXT ",metric,part,runs,median,min,max,low,high,"
                              "coverage" END_OF_LINE,
          out);
    fprintf(out, "%zu,,0,wall,<wall time>,,,", comparison->count);
    stat_put_scatter(out, "wall", "", comparison->run_count, &wall);
    for (uint32_t i = 0; i < comparison->count; i++)
        stat_put_context(out, comparison, order[i], id);
    free(id);
    free(order);
}
