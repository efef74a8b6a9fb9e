#include "command/compare/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare/names.h"
#include "command/compare/statistics.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/rows/error.h"
#include "command/tables/conservation.h"
#include "command/text/format.h"
#include "command/text/memory.h"

/* ---- runs ---- */

static void compare_set_scale(struct compare_run *run, enum normalise normalise, double work_s)
{
    double whole = normalise == NORMALISE_WALL ? run->wall_s : normalise == NORMALISE_WORK ? work_s : 100;
    run->scale = whole > 0 ? 100 / whole : 0;
}

struct comparison *comparison_new(const struct profile *const *profile, const char *const *name,
                                  const size_t side_count[SIDES], enum normalise normalise)
{
    struct comparison *comparison = memory_array(1, sizeof *comparison);
    size_t base = side_count[SIDE_BASE], count = base + side_count[SIDE_NEW];
    size_t pairs = base * side_count[SIDE_NEW];
    comparison->normalise = normalise;
    comparison->side_count[SIDE_BASE] = base;
    comparison->side_count[SIDE_NEW] = side_count[SIDE_NEW];
    comparison->run_count = count;
    comparison->run = memory_array(count, sizeof *comparison->run);
    comparison->scratch = memory_array(3 * count + pairs, sizeof *comparison->scratch);
    comparison->names = compare_names_new(profile, count);
    for (size_t i = 0; i < count; i++) {
        comparison->events |= profile_text(profile[i], "sample") != NULL;
        comparison->run[i] = (struct compare_run){.name = name[i],
                                                  .side = i < base ? SIDE_BASE : SIDE_NEW,
                                                  .profile = profile[i],
                                                  .error = error_terms_of(profile[i]),
                                                  .wall_s = profile_wall_s(profile[i])};
    }
    return comparison;
}

void comparison_free(struct comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->run_count; i++) {
        free(comparison->run[i].amount);
        free(comparison->run[i].amount_at);
    }
    free(comparison->run);
    free(comparison->context);
    free(comparison->scratch);
    compare_names_free(comparison->names);
    pair_map_free(&comparison->children);
    free(comparison);
}

/* ---- contexts ---- */

static uint32_t comparison_find_context(struct comparison *comparison, uint32_t parent, uint32_t entry,
                                        const struct row *row)
{
    uint32_t *slot = pair_map_slot(&comparison->children, parent, entry);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&comparison->context, &comparison->room, comparison->count, sizeof *comparison->context);
        *slot = (uint32_t)comparison->count;
        comparison->context[comparison->count++] = (struct compare_context){
            .parent = parent,
            .depth = parent == ROW_NONE ? 0 : comparison->context[parent].depth + 1,
            .kind = row->kind,
            .canonical = compare_names_canonical(comparison->names, entry),
        };
    }
    return *slot;
}

static struct compare_amount *compare_find_amount(struct compare_run *run, uint32_t context)
{
    while (run->known_count <= context) {
        memory_grow(&run->amount_at, &run->known_room, run->known_count, sizeof *run->amount_at);
        run->amount_at[run->known_count++] = 0;
    }
    if (!run->amount_at[context]) {
        memory_grow(&run->amount, &run->amount_room, run->amount_count, sizeof *run->amount);
        run->amount[run->amount_count] = (struct compare_amount){0};
        run->amount_at[context] = (uint32_t)++run->amount_count;
    }
    return &run->amount[run->amount_at[context] - 1];
}

static void compare_add_amount(struct compare_run *run, const struct rows *rows, const struct row *row,
                               uint32_t context)
{
    struct compare_amount *amount = compare_find_amount(run, context);
    for (enum metric metric = 0; metric < METRIC_NAMED; metric++) {
        amount->inclusive[metric] += run->scale * metric_value(rows, row->inclusive, metric);
        amount->exclusive[metric] += run->scale * metric_value(rows, row->exclusive, metric);
    }
    error_basis_add(&amount->basis_inclusive, error_basis_of(row->inclusive));
    error_basis_add(&amount->basis_exclusive, error_basis_of(row->exclusive));
}

static void comparison_add_row(struct comparison *comparison, size_t run, const struct rows *rows, uint32_t row_index,
                               const uint32_t *entry, uint32_t *context)
{
    const struct row *row = &rows->row[row_index];
    uint32_t parent = row->parent == ROW_NONE ? ROW_NONE : context[row->parent];
    uint32_t index = comparison_find_context(comparison, parent, entry[row_index], row);
    struct compare_context *to = &comparison->context[index];
    to->found[comparison->run[run].side] = true;
    to->label = compare_names_keep(comparison->names, row->label);
    context[row_index] = index;
    compare_add_amount(&comparison->run[run], rows, row, index);
}

static void compare_add_nobody(struct compare_run *run, const struct rows *rows)
{
    struct ledger ledger;
    double effort_s = metric_value(rows, rows->row[0].inclusive, METRIC_EFFORT);
    ledger_sum(run->profile, &ledger);
    run->nobody = rows->events ? 0 : run->scale * 1e-9 * ledger.idle_nobody_busy;
    run->nobody_shown = !rows->events && ledger_nobody_s(run->profile, effort_s) > 0;
}

void comparison_add(struct comparison *comparison, size_t run, const struct rows *rows)
{
    uint32_t *entry = memory_array(rows->count, sizeof *entry);
    uint32_t *context = memory_array(rows->count, sizeof *context);
    compare_names_of_run(comparison->names, run, rows, entry);
    compare_set_scale(&comparison->run[run], comparison->normalise,
                      metric_value(rows, rows->row[0].inclusive, METRIC_WORK));
    compare_add_nobody(&comparison->run[run], rows);
    for (uint32_t i = 0; i < rows->count; i++)
        comparison_add_row(comparison, run, rows, i, entry, context);
    free(entry);
    free(context);
}

/* ---- values ---- */

static const struct compare_amount *compare_amount_of(const struct comparison *comparison, size_t run, uint32_t context)
{
    static const struct compare_amount none;
    const struct compare_run *of = &comparison->run[run];
    return context < of->known_count && of->amount_at[context] ? &of->amount[of->amount_at[context] - 1] : &none;
}

double comparison_value(const struct comparison *comparison, size_t run, uint32_t context, enum metric metric,
                        bool inclusive)
{
    const struct compare_amount *amount = compare_amount_of(comparison, run, context);
    return inclusive ? amount->inclusive[metric] : amount->exclusive[metric];
}

struct error_basis comparison_basis(const struct comparison *comparison, size_t run, uint32_t context, bool inclusive)
{
    const struct compare_amount *amount = compare_amount_of(comparison, run, context);
    return inclusive ? amount->basis_inclusive : amount->basis_exclusive;
}

double comparison_variance(const struct comparison *comparison, size_t run, enum metric metric, double value,
                           struct error_basis basis)
{
    const struct compare_run *of = &comparison->run[run];
    double scale = of->scale;
    return scale > 0 ? scale * scale * error_variance(&of->error, metric, value / scale, basis) : 0;
}

static double comparison_median_of(const struct comparison *comparison, const double *value, size_t count)
{
    double *sorted = comparison->scratch;
    memcpy(sorted, value, count * sizeof *sorted);
    return statistics_median(sorted, count);
}

static struct statistics_change comparison_bounds_of(const struct comparison *comparison, const double *value,
                                                     const double *variance, double factor)
{
    size_t base = comparison->side_count[SIDE_BASE], count = comparison->run_count;
    double *zero = comparison->scratch, *pair = comparison->scratch + count;
    if (!variance)
        memset(zero, 0, count * sizeof *zero);
    const double *errors = variance ? variance : zero;
    struct statistics_side before = {value, errors, base}, after = {value + base, errors + base, count - base};
    return statistics_change_of(&before, &after, factor, pair);
}

double comparison_excess(const struct comparison *comparison, const double *value, const double *variance,
                         double factor)
{
    return comparison_bounds_of(comparison, value, variance, factor).low;
}

struct compare_change comparison_change_of(const struct comparison *comparison, const double *value,
                                           const double *variance)
{
    size_t base = comparison->side_count[SIDE_BASE];
    struct compare_change change = {.before = comparison_median_of(comparison, value, base),
                                    .after =
                                        comparison_median_of(comparison, value + base, comparison->run_count - base)};
    struct statistics_change bounds = comparison_bounds_of(comparison, value, variance, 1);
    double difference = change.after - change.before;
    change.low = bounds.low;
    change.high = bounds.high;
    change.percent = change.before > 0 ? 100 * difference / change.before : difference > 0 ? INFINITY : 0;
    change.beyond_noise = bounds.low > 0 || bounds.high < 0;
    return change;
}

double comparison_difference(const struct comparison *comparison, uint32_t context, enum metric metric, bool inclusive)
{
    size_t base = comparison->side_count[SIDE_BASE];
    double value[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++)
        value[run] = comparison_value(comparison, run, context, metric, inclusive);
    double before = comparison_median_of(comparison, value, base);
    return comparison_median_of(comparison, value + base, comparison->run_count - base) - before;
}

struct compare_change comparison_change(const struct comparison *comparison, uint32_t context, enum metric metric,
                                        bool inclusive)
{
    double value[comparison->run_count], variance[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++) {
        value[run] = comparison_value(comparison, run, context, metric, inclusive);
        variance[run] = comparison_variance(comparison, run, metric, value[run],
                                            comparison_basis(comparison, run, context, inclusive));
    }
    return comparison_change_of(comparison, value, variance);
}

struct compare_change comparison_wall_change(const struct comparison *comparison)
{
    double wall_s[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++)
        wall_s[run] = comparison->run[run].wall_s;
    return comparison_change_of(comparison, wall_s, NULL);
}

/* Assumes that a sample of an idle thread represents a sampling period, like any other sample. */
struct compare_change comparison_nobody_change(const struct comparison *comparison)
{
    double value[comparison->run_count], variance[comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++) {
        value[run] = comparison->run[run].nobody;
        variance[run] = comparison_variance(comparison, run, METRIC_WORK, value[run], ERROR_ALONE);
    }
    return comparison_change_of(comparison, value, variance);
}

bool comparison_shows_nobody(const struct comparison *comparison)
{
    bool shown = false;
    for (size_t run = 0; run < comparison->run_count; run++)
        shown |= comparison->run[run].nobody_shown;
    return shown;
}

static double comparison_median_of_sum(const struct comparison *comparison, enum compare_side side,
                                       const enum metric *metric, size_t metrics)
{
    size_t first = side == SIDE_BASE ? 0 : comparison->side_count[SIDE_BASE];
    size_t count = comparison->side_count[side];
    double sum[count + 1];
    for (size_t run = 0; run < count; run++) {
        sum[run] = 0;
        for (size_t m = 0; m < metrics; m++)
            sum[run] += comparison_value(comparison, first + run, 0, metric[m], true);
    }
    return comparison_median_of(comparison, sum, count);
}

double comparison_effort(const struct comparison *comparison, enum compare_side side)
{
    return comparison_median_of_sum(comparison, side, metric_parts, METRIC_PARTS);
}

int comparison_decimals(const struct comparison *comparison)
{
    double effort = fmax(comparison_effort(comparison, SIDE_BASE), comparison_effort(comparison, SIDE_NEW));
    if (comparison->events && comparison->normalise == NORMALISE_NONE)
        return effort < 1000 ? 2 : 0;
    return effort < 100 ? 3 : effort < 10000 ? 2 : 1;
}

double comparison_least(const struct comparison *comparison, enum metric metric, double percent)
{
    double whole[SIDES];
    for (enum compare_side side = 0; side < SIDES; side++)
        whole[side] = metric == METRIC_SAMPLES ? comparison_median_of_sum(comparison, side, &metric, 1)
                                               : comparison_effort(comparison, side);
    return 0.01 * percent * (whole[SIDE_BASE] > 0 ? whole[SIDE_BASE] : whole[SIDE_NEW]);
}

bool comparison_shows(const struct comparison *comparison, enum metric metric)
{
    bool shown = !metric_is_rare(metric);
    double least = comparison_least(comparison, metric, METRIC_LEAST_SHOWN);
    for (size_t run = 0; run < comparison->run_count; run++) {
        double value = comparison_value(comparison, run, 0, metric, true);
        shown |= value > 0 && value >= least;
    }
    return shown;
}

const char *comparison_unit(const struct comparison *comparison)
{
    static const char *const unit[] = {
        [NORMALISE_NONE] = "s", [NORMALISE_WALL] = "% of the wall time", [NORMALISE_WORK] = "% of the work"};
    return comparison->events && comparison->normalise == NORMALISE_NONE ? "events" : unit[comparison->normalise];
}

/* ---- labels, and contexts in the order of their change ---- */

#define NAME_COLUMNS 48 /* maximum number of columns for a name on a wide terminal */
/* minimum number of columns for a caller's name; with less room, the caller is left out */
#define LEAST_NAME_COLUMNS 16

/* Appends printable text in at most `columns` columns. Returns the number of columns used. */
static size_t comparison_label_append(char *to, size_t room, const char *text, size_t columns, bool utf8)
{
    char *clean = format_clean(text, true);
    size_t length = strlen(to);
    format_shorten(to + length, room - length, clean, columns, utf8);
    free(clean);
    return format_columns(to + length);
}

/* Returns a function's name without parameters, which would leave less room for callers. The caller frees the
 * name. */
static char *comparison_short_name(const struct compare_context *context)
{
    char *name = memory_text("%s", context->label.name);
    bool function = context->kind == ROW_PROCEDURE || context->kind == ROW_INLINED;
    size_t length = strlen(name);
    if (length > 6 && strcmp(name + length - 6, " const") == 0)
        length -= 6;
    if (!function || !length || name[length - 1] != ')')
        return name;
    size_t open = length, depth = 0;
    while (open-- > 0) {
        depth += name[open] == ')';
        depth -= name[open] == '(';
        if (!depth)
            break;
    }
    bool whole = depth || !open || open == SIZE_MAX || (open >= 8 && strncmp(name + open - 8, "operator", 8) == 0);
    if (!whole)
        name[open] = '\0';
    return name;
}

/* Appends the names of as many callers as fit. The last name may be shortened. */
static void comparison_append_callers(const struct comparison *comparison, uint32_t index, char *label, size_t room,
                                      size_t columns, bool utf8)
{
    size_t used = format_columns(label);
    bool first = true;
    for (uint32_t i = comparison->context[index].parent; i != ROW_NONE && i != 0;
         i = comparison->context[i].parent, first = false) {
        const char *arrow = first ? "  < " : " < ";
        bool outermost = comparison->context[i].parent == 0;
        size_t left = columns > used + strlen(arrow) ? columns - used - strlen(arrow) : 0;
        char *name = comparison_short_name(&comparison->context[i]);
        size_t width = format_columns(name);
        size_t most = outermost ? left : left > 6 ? left - 6 : 0;
        most = most < NAME_COLUMNS ? most : NAME_COLUMNS;
        bool fits = width <= most || most >= LEAST_NAME_COLUMNS;
        if (fits || left >= 3) {
            used += comparison_label_append(label, room, arrow, strlen(arrow), utf8);
            used += comparison_label_append(label, room, fits ? name : "...", fits ? most : 3, utf8);
        }
        free(name);
        if (!fits)
            return;
    }
}

char *comparison_label(const struct comparison *comparison, uint32_t index, size_t columns, bool utf8)
{
    const struct compare_context *context = &comparison->context[index];
    bool construct = context->kind == ROW_PARALLEL || context->kind == ROW_TASK;
    size_t room = 4 * columns + 64, used;
    char *label = memory_array(room, 1), *name = comparison_short_name(context), position[300] = "";
    if (!construct && *context->label.file && context->label.line > 0)
        snprintf(position, sizeof position, "  %.200s:%d", format_base_name(context->label.file), context->label.line);
    used =
        comparison_label_append(label, room, name, columns > 2 * NAME_COLUMNS ? NAME_COLUMNS : columns * 6 / 10, utf8);
    comparison_label_append(label, room, position, columns - used, utf8);
    comparison_append_callers(comparison, index, label, room, columns, utf8);
    free(name);
    return label;
}

struct ordered_context {
    uint32_t context, parent;
    double change;
};

static int compare_ordered_contexts(const void *left, const void *right)
{
    const struct ordered_context *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

/* Writes the contexts of the tree to order[], in depth-first order. child[] is sorted by parent, and first[]
 * holds the index in child[] of each context's first child. */
static void comparison_order_depth_first(const struct ordered_context *child, size_t count, const uint32_t *first,
                                         uint32_t *stack, uint32_t *order)
{
    size_t depth = 0, out = 0;
    stack[depth++] = 0;
    while (depth) {
        uint32_t context = stack[--depth];
        size_t end = first[context];
        order[out++] = context;
        while (end < count && child[end].parent == context)
            end++;
        while (end-- > first[context])
            stack[depth++] = child[end].context;
    }
}

uint32_t *comparison_order(const struct comparison *comparison, enum metric metric)
{
    size_t count = comparison->count, children = count ? count - 1 : 0;
    struct ordered_context *child = memory_array(count, sizeof *child);
    uint32_t *first = memory_array(count, sizeof *first), *stack = memory_array(count, sizeof *stack);
    uint32_t *order = memory_array(count, sizeof *order);
    for (uint32_t i = 1; i < count; i++) {
        double difference = comparison_difference(comparison, i, metric, true);
        child[i - 1] = (struct ordered_context){i, comparison->context[i].parent, fabs(difference)};
    }
    qsort(child, children, sizeof *child, compare_ordered_contexts);
    for (uint32_t i = 0; i < count; i++)
        first[i] = (uint32_t)children;
    for (size_t i = children; i-- > 0;)
        first[child[i].parent] = (uint32_t)i;
    if (count)
        comparison_order_depth_first(child, children, first, stack, order);
    free(child);
    free(first);
    free(stack);
    return order;
}

uint32_t *comparison_positions(const struct comparison *comparison, const uint32_t *order)
{
    uint32_t *position = memory_array(comparison->count, sizeof *position);
    for (uint32_t i = 0; i < comparison->count; i++)
        position[order[i]] = i;
    return position;
}

void comparison_put_context(FILE *out, const struct comparison *comparison, uint32_t index, const uint32_t *id)
{
    const struct compare_context *context = &comparison->context[index];
    fprintf(out, "%u,", id[index]);
    if (context->parent != ROW_NONE)
        fprintf(out, "%u", id[context->parent]);
    fprintf(out, ",%u,%s,", context->depth, row_kind_name[context->kind]);
    format_csv_text(out, context->label.name);
    putc(',', out);
    format_csv_text(out, context->label.module);
    putc(',', out);
    format_csv_text(out, context->label.file);
    putc(',', out);
    if (context->label.line > 0)
        fprintf(out, "%d", context->label.line);
}
