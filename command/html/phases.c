/* Writes the phases into the page: one entry for each phase, and a series for each phase whose executions are
 * numbered. */
#include <stdlib.h>

#include "cct/profile_tree.h"
#include "command/profile/pair_map.h"
#include "command/html/page.h"
#include "command/rows/metric.h"
#include "command/rows/make.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

#define NO_GROUP PAIR_MAP_NEW

/* The row that represents a phase or an execution in the page. If the phase has several contexts, the row of
 * the context with the longest exact time is used. */
struct stand_in {
    uint32_t row;
    double ns;
};

struct phase_rows {
    struct page *page;
    const struct phase_table *table;
    struct pair_map groups; /* for the number of each phase's name, the index of the phase's group */
    struct stand_in *of_entry, *of_group;
};

static void page_phases_consider_row(struct phase_rows *to, struct stand_in *at, uint32_t row)
{
    const struct row_extra *extra = to->page->input->rows->row[row].extra;
    double ns = extra ? extra->probe.inclusive_ns : 0;
    if (at->row == ROW_NONE || ns > at->ns)
        *at = (struct stand_in){row, ns};
}

/* Returns the representative row of one entry in a group, or NULL if the group has no such entry. The entries
 * of a group are sorted by kind, then by instance number. */
static struct stand_in *page_phases_entry_at(struct phase_rows *to, const struct phase_group *group,
                                             enum phase_instance is, uint64_t instance)
{
    size_t from = group->first_entry, end = from + group->entry_count;
    while (from < end) {
        size_t middle = from + (end - from) / 2;
        const struct phase_entry *entry = &to->table->entry[middle];
        if (entry->is == is && entry->instance == instance)
            return &to->of_entry[middle];
        bool before = entry->is != is ? entry->is < is : (int64_t)entry->instance < (int64_t)instance;
        *(before ? &from : &end) = before ? middle + 1 : middle;
    }
    return NULL;
}

static uint32_t page_phases_group_of(struct phase_rows *to, uint64_t name)
{
    uint32_t *slot = pair_map_slot(&to->groups, (uint32_t)name, 0);
    return *slot;
}

static void page_phases_consider_node(struct phase_rows *to, const struct merged_node *node, uint32_t row)
{
    const struct profile *profile = to->page->input->profile;
    bool numbered = node->kind == PROFILE_NODE_INSTANCE;
    uint32_t group = page_phases_group_of(to, numbered ? profile->nodes[node->parent].key : node->key);
    if (group == NO_GROUP)
        return;
    bool others = node->key == PROFILE_INSTANCE_REST;
    enum phase_instance is = !numbered ? PHASE_STATIC : others ? PHASE_OTHERS : PHASE_NUMBERED;
    struct stand_in *entry =
        page_phases_entry_at(to, &to->table->group[group], is, is == PHASE_NUMBERED ? node->key : 0);
    if (entry)
        page_phases_consider_row(to, entry, row);
    if (!numbered)
        page_phases_consider_row(to, &to->of_group[group], row);
}

static void page_phases_find_rows(struct phase_rows *to)
{
    const struct phase_table *table = to->table;
    const struct profile *profile = to->page->input->profile;
    const struct rows *rows = to->page->input->rows;
    to->of_entry = memory_array(table->count, sizeof *to->of_entry);
    to->of_group = memory_array(table->group_count, sizeof *to->of_group);
    for (size_t i = 0; i < table->count; i++)
        to->of_entry[i] = (struct stand_in){.row = ROW_NONE};
    for (uint32_t i = 0; i < table->group_count; i++) {
        to->of_group[i] = (struct stand_in){.row = i ? ROW_NONE : 0};
        if (i)
            *pair_map_slot(&to->groups, table->group[i].name, 0) = i;
    }
    for (uint32_t i = 1; i < profile->node_count && i < rows->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        bool phase = node->kind == PROFILE_NODE_PHASE || node->kind == PROFILE_NODE_INSTANCE;
        if (phase && rows->node_row[i] != ROW_NONE)
            page_phases_consider_node(to, node, rows->node_row[i]);
    }
}

static void page_phases_put_row(struct page *page, const struct stand_in *at)
{
    uint32_t row = page_tree_nearest(&page->tree, at->row);
    page_whole(page->out, row == ROW_NONE ? -1 : (int64_t)row);
}

static void page_phases_put_seconds(struct page *page, const char *name, double seconds)
{
    fprintf(page->out, ",\"%s\":", name);
    page_micro(page->out, seconds);
}

static void page_phases_put_probe(struct page *page, const struct profile_probe *probe, double exact_ns)
{
    bool any = probe->calls > 0;
    fputs("\"executions\":", page->out);
    page_whole(page->out, (int64_t)probe->calls);
    page_phases_put_seconds(page, "seconds", exact_ns * 1e-9);
    page_phases_put_seconds(page, "min", any ? probe->shortest_ns * 1e-9 : 0);
    page_phases_put_seconds(page, "max", any ? probe->longest_ns * 1e-9 : 0);
    page_phases_put_seconds(page, "mean", phase_mean_s(probe));
    page_phases_put_seconds(page, "deviation", phase_deviation_s(probe));
}

/* A point of a series. It stands for one execution or for several consecutive ones. */
struct point {
    const struct phase_entry *first, *last;
    const struct phase_entry *fastest, *slowest; /* executions with the shortest and the longest exact time */
    uint64_t executions;
    double ns;
    struct profile_sums sums;
};

enum point_column { FIRST, LAST, INSTANCES, SLOWEST, SLOWEST_ROW, EXECUTIONS, SECONDS, LEAST, MOST, POINT_COLUMNS };

static struct point page_phases_make_point(const struct phase_entry *entry, size_t count)
{
    struct point point = {.first = entry, .last = entry + count - 1, .fastest = entry, .slowest = entry};
    for (const struct phase_entry *at = entry; at < entry + count; at++) {
        point.executions += at->probe.calls;
        point.ns += at->exact_ns;
        profile_sums_add(&point.sums, &at->inclusive);
        if (at->exact_ns < point.fastest->exact_ns)
            point.fastest = at;
        if (at->exact_ns > point.slowest->exact_ns)
            point.slowest = at;
    }
    return point;
}

static void page_phases_put_point(struct phase_rows *to, const struct point *point, size_t column)
{
    struct page *page = to->page;
    switch (column) {
    case FIRST:
        page_whole(page->out, (int64_t)point->first->instance);
        break;
    case LAST:
        page_whole(page->out, (int64_t)point->last->instance);
        break;
    case INSTANCES:
        page_whole(page->out, point->last - point->first + 1);
        break;
    case SLOWEST:
        page_whole(page->out, (int64_t)point->slowest->instance);
        break;
    case SLOWEST_ROW:
        page_phases_put_row(page, &to->of_entry[point->slowest - to->table->entry]);
        break;
    case EXECUTIONS:
        page_whole(page->out, (int64_t)point->executions);
        break;
    case SECONDS:
        page_micro(page->out, point->ns * 1e-9);
        break;
    case LEAST:
        page_micro(page->out, point->fastest->exact_ns * 1e-9);
        break;
    case MOST:
        page_micro(page->out, point->slowest->exact_ns * 1e-9);
        break;
    default:
        page_micro(page->out, metric_value(page->input->rows, &point->sums, metric_parts[column - POINT_COLUMNS]));
    }
}

/* Writes a series: for each column, a list with one value for each execution. If there are more than
 * HTML_SERIES_POINTS executions, several share a value. */
static void page_phases_put_series(struct phase_rows *to, const struct phase_entry *entry, size_t count)
{
    static const char *const name[POINT_COLUMNS] = {"first",      "last",    "instances", "slowest", "row",
                                                    "executions", "seconds", "min",       "max"};
    struct page *page = to->page;
    size_t points = count < HTML_SERIES_POINTS ? count : HTML_SERIES_POINTS;
    struct point *point = memory_array(points, sizeof *point);
    for (size_t i = 0; i < points; i++) {
        size_t first = i * count / points, end = (i + 1) * count / points;
        point[i] = page_phases_make_point(entry + first, end - first);
    }
    for (size_t column = 0; column < POINT_COLUMNS + METRIC_PARTS; column++) {
        fprintf(page->out, "%s\"%s\":", column ? ",\n" : "{",
                column < POINT_COLUMNS ? name[column] : metric_title(metric_parts[column - POINT_COLUMNS]));
        for (size_t i = 0; i < points; i++) {
            putc_unlocked(i ? ',' : '[', page->out);
            page_phases_put_point(to, &point[i], column);
        }
        putc(']', page->out);
    }
    putc('}', page->out);
    free(point);
}

static void page_phases_put_group(struct phase_rows *to, uint32_t index, size_t *series)
{
    struct page *page = to->page;
    const struct rows *rows = page->input->rows;
    const struct phase_group *group = &to->table->group[index];
    const struct phase_entry *entry = &to->table->entry[group->first_entry], *others = NULL;
    size_t from = 0, count = 0;
    for (size_t i = 0; i < group->entry_count; i++) {
        from += entry[i].is == PHASE_STATIC;
        count += entry[i].is == PHASE_NUMBERED;
        others = entry[i].is == PHASE_OTHERS ? &entry[i] : others;
    }
    fprintf(page->out, "{\"name\":%u,\"row\":", page_string(page, phase_name(to->table, group->name)));
    page_phases_put_row(page, &to->of_group[index]);
    putc(',', page->out);
    page_phases_put_probe(page, &group->probe, group->exact_ns);
    for (size_t i = 0; i < METRIC_PARTS; i++)
        page_phases_put_seconds(page, metric_title(metric_parts[i]),
                                metric_value(rows, &group->inclusive, metric_parts[i]));
    fputs(",\"absolute\":", page->out);
    json_decimal(page->out, metric_absolute(rows, &group->inclusive, METRIC_IDLENESS), 6);
    fputs(",\"relative\":", page->out);
    json_decimal(page->out, metric_relative(rows, &group->inclusive, METRIC_IDLENESS), 6);
    fprintf(page->out, ",\"samples\":%llu,\"instances\":%zu,\"others\":", (unsigned long long)group->inclusive.samples,
            count);
    fputs(others ? "{" : "null", page->out);
    if (others) {
        page_phases_put_probe(page, &others->probe, others->exact_ns);
        putc('}', page->out);
    }
    fputs(",\"series\":", page->out);
    if (count < 2 || *series >= HTML_SERIES)
        fputs("null", page->out);
    else
        page_phases_put_series(to, entry + from, count);
    *series += count >= 2;
    putc('}', page->out);
}

void page_put_phases(struct page *page)
{
    const struct phase_table *table = page->input->phases;
    struct phase_rows to = {.page = page, .table = table};
    size_t shown = 0, series = 0;
    if (!table || table->group_count < 2) {
        fputs("null", page->out);
        return;
    }
    fputs("{\"phases\":[", page->out);
    page_phases_find_rows(&to);
    for (; shown < table->group_count && shown < HTML_PHASES; shown++) {
        fputs(shown ? ",\n" : "", page->out);
        page_phases_put_group(&to, (uint32_t)shown, &series);
    }
    fprintf(page->out, "],\"left_out\":%zu,\"series_left_out\":%zu}", table->group_count - shown,
            series > HTML_SERIES ? series - HTML_SERIES : 0);
    pair_map_free(&to.groups);
    free(to.of_entry);
    free(to.of_group);
}
