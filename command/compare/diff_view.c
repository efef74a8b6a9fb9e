#include "command/compare/diff_view.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare/compare.h"
#include "command/compare/limits.h"
#include "command/compare/statistics.h"
#include "command/rows/metric.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define SIGNED_BYTES (FORMAT_NUMBER_BYTES + 2)

void diff_number(char to[SIGNED_BYTES], double value, int decimals, bool sign)
{
    char number[FORMAT_NUMBER_BYTES];
    format_decimal(number, value, decimals);
    snprintf(to, SIGNED_BYTES, "%s%s", sign && *number != '-' && strspn(number, "0.") != strlen(number) ? "+" : "",
             number);
}

/* Formats a change in per cent, such as "+23.8 %". Writes "new" if the value before was 0, and "gone" if the
 * value after is 0. */
static const char *diff_percent_text(char to[SIGNED_BYTES + 4], const struct compare_change *change)
{
    char number[SIGNED_BYTES];
    if (isinf(change->percent))
        return strcpy(to, "new");
    if (change->before > 0 && change->after == 0)
        return strcpy(to, "gone");
    diff_number(number, change->percent, 1, true);
    snprintf(to, SIGNED_BYTES + 4, "%s %%", number);
    return to;
}

static void diff_print_side(FILE *out, const struct comparison *comparison, const struct profile *const *profile,
                            enum compare_side side, const struct diff_style *style)
{
    size_t first = side == SIDE_BASE ? 0 : comparison->side_count[SIDE_BASE];
    size_t count = comparison->side_count[side];
    const char *command = profile_text(profile[first], "command");
    char more[64] = "";
    if (count > 1)
        snprintf(more, sizeof more, " and %zu more", count - 1);
    char *text = memory_text("%s%s  %s", comparison->run[first].name, more, command ? command : "");
    char *line = format_fit(text, style->columns - 6, style->utf8);
    fprintf(out, "%s  %s\n", side == SIDE_BASE ? "base" : "new ", line);
    free(line);
    free(text);
}

static void diff_print_total(FILE *out, const char *title, const struct compare_change *change, const double *effort,
                             int decimals)
{
    char before[SIGNED_BYTES], after[SIGNED_BYTES], difference[SIGNED_BYTES], percent[SIGNED_BYTES + 4];
    char share[SIDES][SIGNED_BYTES + 4] = {"", ""};
    diff_number(before, change->before, decimals, false);
    diff_number(after, change->after, decimals, false);
    diff_number(difference, change->after - change->before, decimals, true);
    for (int side = 0; effort && side < SIDES; side++) {
        char number[FORMAT_NUMBER_BYTES];
        double value = side == SIDE_BASE ? change->before : change->after;
        format_decimal(number, effort[side] > 0 ? 100 * value / effort[side] : 0, 1);
        snprintf(share[side], sizeof share[side], "%s %%", number);
    }
    fprintf(out, "  %-15s %12s %8s %12s %8s %12s %10s%s\n", title, before, share[SIDE_BASE], after, share[SIDE_NEW],
            difference, diff_percent_text(percent, change),
            change->beyond_noise || change->after == change->before ? "" : "  ~");
}

static void diff_print_totals(FILE *out, const struct comparison *comparison, const struct diff_style *style)
{
    double effort[SIDES] = {comparison_effort(comparison, SIDE_BASE), comparison_effort(comparison, SIDE_NEW)};
    int decimals = comparison_decimals(comparison);
    char unit[80];
    snprintf(unit, sizeof unit, "in %s", comparison_unit(comparison));
    fprintf(out, "\n  %-15s %12s %8s %12s %8s %12s\n",
            comparison->normalise != NORMALISE_NONE || comparison->events ? unit : "seconds", "base", "share", "new",
            "share", "change");
    struct compare_change change = comparison_wall_change(comparison);
    bool seconds = comparison->normalise == NORMALISE_NONE && !comparison->events;
    diff_print_total(out, seconds ? "wall time" : "wall time, s", &change, NULL, 3);
    bool more = style->metric >= 0;
    for (size_t m = 0; m < METRIC_ALL_PARTS; m++) {
        if (!comparison_shows(comparison, metric_parts[m]))
            continue;
        more = more && (int)metric_parts[m] != style->metric;
        change = comparison_change(comparison, 0, metric_parts[m], true);
        diff_print_total(out, metric_title(metric_parts[m]), &change, effort, decimals);
    }
    if (comparison_shows_nobody(comparison)) {
        change = comparison_nobody_change(comparison);
        diff_print_total(out, "nobody busy", &change, NULL, decimals);
    }
    if (!more)
        return;
    change = comparison_change(comparison, 0, (enum metric)style->metric, true);
    diff_print_total(out, metric_title((enum metric)style->metric), &change, NULL, decimals);
}

/* The change in one metric of a context's own value. */
struct change_entry {
    uint32_t context;
    enum metric metric;
    struct compare_change change;
};

static double diff_entry_difference(const struct change_entry *entry)
{
    return entry->change.after - entry->change.before;
}

static int diff_compare_changes(const void *left, const void *right)
{
    const struct change_entry *a = left, *b = right;
    double x = diff_entry_difference(a), y = diff_entry_difference(b);
    if (x != y)
        return x > y ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

/* Returns the changes that are large enough for a line, sorted from the worst to the best. */
static struct change_entry *diff_gather_changes(const struct comparison *comparison, const struct diff_style *style,
                                                size_t *count)
{
    struct change_entry *entry = memory_array(comparison->count * METRIC_ALL_PARTS, sizeof *entry);
    double least[METRIC_NAMED];
    for (enum metric metric = 0; metric < METRIC_NAMED; metric++)
        least[metric] = comparison_least(comparison, metric, style->least_percent);
    *count = 0;
    for (uint32_t i = 0; i < comparison->count; i++) {
        if (comparison->context[i].kind == ROW_STATEMENT)
            continue;
        for (size_t m = 0; m < (style->metric < 0 ? METRIC_ALL_PARTS : 1); m++) {
            enum metric metric = style->metric < 0 ? metric_parts[m] : (enum metric)style->metric;
            double difference = comparison_difference(comparison, i, metric, false);
            if (difference != 0 && fabs(difference) >= least[metric])
                entry[(*count)++] = (struct change_entry){i, metric, comparison_change(comparison, i, metric, false)};
        }
    }
    qsort(entry, *count, sizeof *entry, diff_compare_changes);
    return entry;
}

static void diff_print_change(FILE *out, const struct comparison *comparison, const struct change_entry *entry,
                              const struct diff_style *style, int decimals)
{
    const struct compare_context *context = &comparison->context[entry->context];
    char difference[SIGNED_BYTES], percent[SIGNED_BYTES + 4];
    const char *only = !context->found[SIDE_BASE] ? "only in new: " : !context->found[SIDE_NEW] ? "only in base: " : "";
    size_t taken = 3 + 11 + 12 + 12 + strlen(only);
    char *label = comparison_label(comparison, entry->context,
                                   style->columns > taken + 20 ? style->columns - taken : 20, style->utf8);
    diff_number(difference, diff_entry_difference(entry), decimals, true);
    fprintf(out, "%s%10s %11s  %-9s  %s%s\n", entry->change.beyond_noise ? "   " : " ~ ", difference,
            diff_percent_text(percent, &entry->change), metric_title(entry->metric), only, label);
    free(label);
}

static void diff_print_changes(FILE *out, const struct comparison *comparison, const struct change_entry *entry,
                               size_t count, bool worse, const struct diff_style *style)
{
    int decimals = comparison_decimals(comparison);
    size_t listed = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        const struct change_entry *at = &entry[worse ? i : count - 1 - i];
        if (worse != (diff_entry_difference(at) > 0))
            break;
        all++;
        if (all == 1 && style->top)
            fprintf(out, "\n%s, by the %s own change:\n", worse ? "Worse" : "Better",
                    style->functions ? "functions'" : "contexts'");
        if (listed == style->top)
            continue;
        listed++;
        diff_print_change(out, comparison, at, style, decimals);
    }
    if (listed && all > listed)
        fprintf(out, "   ... and %zu more: --top %zu\n", all - listed, all);
}

static void diff_print_noise_legend(FILE *out, const struct comparison *comparison, const struct diff_style *style,
                                    bool empty)
{
    char text[300];
    const size_t *side = comparison->side_count;
    fputc('\n', out);
    if (empty) {
        snprintf(text, sizeof text,
                 "No %s changed its own share by %s %% of the baseline's effort; a smaller --min "
                 "shows smaller changes.",
                 style->functions ? "function" : "context", DECIMAL(style->least_percent, 2));
        format_paragraph(out, text, style->columns);
    }
    snprintf(text, sizeof text,
             statistics_repeated(side[SIDE_BASE], side[SIDE_NEW])
                 ? "~: the change is not statistically significant (Mann-Whitney test, 5 %%)."
                 : "~: the change is within three standard errors of sampling. How much the runs themselves vary is "
                   "unknown: give three or more runs of each side.");
    format_paragraph(out, text, style->columns);
}

void diff_text(FILE *out, const struct comparison *comparison, const struct profile *const *profile,
               const struct diff_style *style)
{
    size_t count;
    struct change_entry *entry = diff_gather_changes(comparison, style, &count);
    diff_print_side(out, comparison, profile, SIDE_BASE, style);
    diff_print_side(out, comparison, profile, SIDE_NEW, style);
    diff_print_totals(out, comparison, style);
    diff_print_changes(out, comparison, entry, count, true, style);
    diff_print_changes(out, comparison, entry, count, false, style);
    diff_print_noise_legend(out, comparison, style, !count);
    free(entry);
}

static const char *diff_limit_verdict(const struct limit *limit)
{
    static const char *const text[] = {
        [LIMIT_KEPT] = "kept",
        [LIMIT_WITHIN_NOISE] = "above the limit, but not statistically significant",
        [LIMIT_TOO_SMALL] = "above the limit, but below --min",
        [LIMIT_EXCEEDED] = "EXCEEDED",
        [LIMIT_NO_CONTEXT] = "no context has this name",
    };
    return text[limit->verdict];
}

void diff_limits_text(FILE *out, const struct comparison *comparison, const struct limit *limit, size_t count,
                      const struct diff_style *style)
{
    int decimals = count ? comparison_decimals(comparison) : 0;
    for (size_t i = 0; i < count; i++) {
        char percent[SIGNED_BYTES + 4], increase[SIGNED_BYTES];
        char *subject = limit_subject(&limit[i]);
        fprintf(out, "%slimit %s: %s of at most +%s %%: %s\n", i ? "" : "\n", subject,
                diff_percent_text(percent, &limit[i].change), DECIMAL(limit[i].percent, 1),
                diff_limit_verdict(&limit[i]));
        free(subject);
        for (size_t c = 0; c < limit[i].culprit_count; c++) {
            char *label = comparison_label(comparison, limit[i].culprit[c],
                                           style->columns > 40 ? style->columns - 16 : 24, style->utf8);
            diff_number(increase, limit[i].increase[c], decimals, true);
            fprintf(out, "    %10s  %s\n", increase, label);
            free(label);
        }
    }
}

#define END_OF_LINE "\r\n"

static void diff_put_number(FILE *out, double value)
{
    putc(',', out);
    format_csv_number(out, value);
}

static void diff_put_change(FILE *out, const struct compare_change *change)
{
    diff_put_number(out, change->before);
    diff_put_number(out, change->after);
    diff_put_number(out, change->after - change->before);
    putc(',', out);
    if (isfinite(change->percent))
        format_csv_number(out, change->percent);
    diff_put_number(out, change->low);
    diff_put_number(out, change->high);
    fprintf(out, ",%d", change->beyond_noise);
}

static void diff_put_context(FILE *out, const struct comparison *comparison, uint32_t index, const uint32_t *id,
                             enum metric metric)
{
    const struct compare_context *context = &comparison->context[index];
    const char *found = !context->found[SIDE_BASE] ? "new" : !context->found[SIDE_NEW] ? "base" : "both";
    comparison_put_context(out, comparison, index, id);
    fprintf(out, ",%s,%s", found, metric_word[metric]);
    struct compare_change change = comparison_change(comparison, index, metric, true);
    diff_put_change(out, &change);
    for (enum metric m = 0; m < METRIC_COLUMNS; m++)
        for (int inclusive = 1; inclusive >= 0; inclusive--) {
            change = comparison_change(comparison, index, m, inclusive);
            diff_put_number(out, change.before);
            diff_put_number(out, change.after);
        }
    fputs(END_OF_LINE, out);
}

static void diff_put_wall(FILE *out, const struct comparison *comparison)
{
    struct compare_change change = comparison_wall_change(comparison);
    fprintf(out, "%zu,,0,wall,<wall time>,,,,both,wall", comparison->count);
    diff_put_change(out, &change);
    for (int i = 0; i < 4 * METRIC_COLUMNS; i++)
        putc(',', out);
    fputs(END_OF_LINE, out);
}

void diff_csv(FILE *out, const struct comparison *comparison, enum metric metric)
{
    uint32_t *order = comparison_order(comparison, metric);
    uint32_t *id = comparison_positions(comparison, order);
    fputs(COMPARE_CSV_CONTEXT ",found,metric,base,new,change,percent,low,high,beyond_noise", out);
    for (enum metric m = 0; m < METRIC_COLUMNS; m++)
        for (int inclusive = 1; inclusive >= 0; inclusive--)
            fprintf(out, ",%s base (%c),%s new (%c)", metric_title(m), inclusive ? 'I' : 'E', metric_title(m),
                    inclusive ? 'I' : 'E');
    fputs(END_OF_LINE, out);
    for (uint32_t i = 0; i < comparison->count; i++)
        diff_put_context(out, comparison, order[i], id, metric);
    diff_put_wall(out, comparison);
    free(id);
    free(order);
}
