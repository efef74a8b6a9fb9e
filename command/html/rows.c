/* Writes the rows into the page, one column after the other. Columns are compact and quick to read, and need
 * no second copy of the rows in memory. */
#include <stdlib.h>

#include "command/profile/pair_map.h"
#include "command/html/page.h"
#include "command/rows/error.h"
#include "command/rows/metric.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

typedef int64_t (*row_field)(const struct page *page, size_t row);

static const struct row *page_row_at(const struct page *page, size_t row)
{
    return &page->rows->row[row];
}

static int64_t page_index_or_none(uint32_t index)
{
    return index == ROW_NONE ? -1 : (int64_t)index;
}

static int64_t page_row_parent(const struct page *page, size_t row)
{
    return page_index_or_none(page_row_at(page, row)->parent);
}

static int64_t page_row_kind(const struct page *page, size_t row)
{
    return page_row_at(page, row)->kind;
}

static int64_t page_row_name(const struct page *page, size_t row)
{
    return page->labels[page->label[row]].name;
}

static int64_t page_row_module(const struct page *page, size_t row)
{
    return page->labels[page->label[row]].module;
}

static int64_t page_row_file(const struct page *page, size_t row)
{
    return page->labels[page->label[row]].file;
}

static int64_t page_row_line(const struct page *page, size_t row)
{
    return page->labels[page->label[row]].line;
}

static int64_t page_row_call_line(const struct page *page, size_t row)
{
    return page_row_at(page, row)->call_line;
}

static int64_t page_row_function(const struct page *page, size_t row)
{
    return page_index_or_none(page_row_at(page, row)->function);
}

static const struct {
    const char *name;
    row_field value;
} fields[] = {
    {"parent", page_row_parent},       {"kind", page_row_kind},         {"name", page_row_name},
    {"module", page_row_module},       {"file", page_row_file},         {"line", page_row_line},
    {"call_line", page_row_call_line}, {"function", page_row_function},
};

/* Numbers the labels. Rows of one function share a label, so its texts are interned only once. */
static void page_number_labels(struct page *page)
{
    const struct rows *rows = page->rows;
    struct pair_map map = {0};
    page->label = memory_array(rows->count, sizeof *page->label);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row_label *label = rows->row[i].label;
        uint32_t *slot = pair_map_slot(&map, (uintptr_t)label, 0);
        if (*slot == PAIR_MAP_NEW) {
            memory_grow(&page->labels, &page->label_room, page->label_count, sizeof *page->labels);
            *slot = (uint32_t)page->label_count++;
            page->labels[*slot] = (struct page_label){.name = page_string(page, label->name),
                                                      .module = page_string(page, label->module),
                                                      .file = page_string(page, label->file),
                                                      .line = label->line};
        }
        page->label[i] = *slot;
    }
    pair_map_free(&map);
}

static void page_put_row_notes(struct page *page)
{
    fputs("\"note\":", page->out);
    for (size_t i = 0; i < page->rows->count; i++) {
        const char *note = page_row_at(page, i)->note;
        putc_unlocked(i ? ',' : '[', page->out);
        page_whole(page->out, note ? page_string(page, note) : 0);
    }
    fputs("]", page->out);
}

static double page_row_value(const struct page *page, size_t row, enum metric metric, bool exclusive)
{
    const struct row *at = page_row_at(page, row);
    return metric_value(page->rows, exclusive ? at->exclusive : at->inclusive, metric);
}

/* Returns another metric that has the same values by definition, so that the page needs only one column for
 * both. Returns `metric` itself if there is none. */
static enum metric page_metric_same_as(const struct rows *rows, enum metric metric)
{
    if (metric == METRIC_SHARED_IDLENESS && rows->shared)
        return METRIC_IDLENESS;
    if (metric == METRIC_CORE_IDLENESS && !rows->shared && !rows->without_team && rows->threads == rows->cores)
        return METRIC_IDLENESS;
    return metric;
}

bool page_has_metric(const struct page *page, enum metric metric)
{
    return !metric_is_rare(metric) || page_row_value(page, 0, metric, false) > 0;
}

/* Returns a count as an integer, limited to the range of int64_t. Only damaged files have larger counts. */
static int64_t page_whole_count(double value)
{
    return value >= 9e18 ? INT64_MAX : value <= -9e18 ? -INT64_MAX : (int64_t)value;
}

static void page_put_metric_values(struct page *page, enum metric metric, bool exclusive)
{
    size_t count = page->rows->count, first = 0;
    enum metric same = page_metric_same_as(page->rows, metric);
    if (same != metric) {
        fprintf(page->out, "\"%s\"", metric_title(same));
        return;
    }
    while (first < count && page_row_value(page, first, metric, exclusive) == 0)
        first++;
    if (first == count) {
        putc('0', page->out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double value = page_row_value(page, i, metric, exclusive);
        putc_unlocked(i ? ',' : '[', page->out);
        if (metric == METRIC_SAMPLES)
            page_whole(page->out, page_whole_count(value));
        else
            page_micro(page->out, value);
    }
    putc(']', page->out);
}

static double page_row_counter(const struct page *page, size_t row, size_t counter, bool exclusive)
{
    const struct row_extra *extra = page_row_at(page, row)->extra;
    return !extra ? 0 : exclusive ? extra->exclusive.value[counter] : extra->inclusive.value[counter];
}

static void page_put_counter_values(struct page *page, size_t counter, bool exclusive)
{
    size_t count = page->rows->count, first = 0;
    while (first < count && page_row_counter(page, first, counter, exclusive) == 0)
        first++;
    if (first == count) {
        putc('0', page->out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        putc_unlocked(i ? ',' : '[', page->out);
        page_whole(page->out, page_whole_count(page_row_counter(page, i, counter, exclusive)));
    }
    putc(']', page->out);
}

/* Writes a column of sums from which the page computes sampling errors. */
static void page_put_error_basis(struct page *page, const char *name, size_t offset, bool exclusive)
{
    fprintf(page->out, ",\n\"%s\":", name);
    for (size_t i = 0; i < page->rows->count; i++) {
        const struct row *row = page_row_at(page, i);
        struct error_basis basis = error_basis_of(exclusive ? row->exclusive : row->inclusive);
        putc_unlocked(i ? ',' : '[', page->out);
        page_micro(page->out, *(const double *)((const char *)&basis + offset));
    }
    putc(']', page->out);
}

/* Returns error_beyond() in us^2. */
static double page_row_beyond(const struct page *page, size_t row, enum metric metric, bool exclusive)
{
    const struct rows *rows = page->input->rows;
    const struct profile_sums *sums = exclusive ? page_row_at(page, row)->exclusive : page_row_at(page, row)->inclusive;
    return 1e12 * error_beyond(&rows->error, metric, metric_value(rows, sums, metric), error_basis_of(sums));
}

/* Writes a column, unless it is 0 in all rows. */
static void page_put_beyond(struct page *page, enum metric metric, bool exclusive)
{
    size_t count = page->rows->count, i = 0;
    while (i < 2 * count && page_row_beyond(page, i / 2, metric, i % 2) == 0)
        i++;
    if (metric == METRIC_SAMPLES || i == 2 * count)
        return;
    fprintf(page->out, ",\n\"beyond %s\":", metric_title(metric));
    for (i = 0; i < count; i++) {
        putc_unlocked(i ? ',' : '[', page->out);
        json_decimal(page->out, page_row_beyond(page, i, metric, exclusive), 0);
    }
    putc(']', page->out);
}

static uint64_t page_row_trees(const struct page *page, size_t row, bool exclusive)
{
    const struct row *at = page_row_at(page, row);
    uint64_t trees = (exclusive ? at->exclusive : at->inclusive)->trees;
    return error_tells_trees(&page->input->rows->error, trees) ? trees : 0;
}

static int page_compare_trees(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

void page_find_trees(struct page *page)
{
    page->trees = memory_array(2 * page->rows->count + 1, sizeof *page->trees);
    size_t count = 0;
    for (size_t i = 0; i < 2 * page->rows->count; i++) {
        uint64_t trees = page_row_trees(page, i / 2, i % 2);
        if (trees)
            page->trees[count++] = trees;
    }
    qsort(page->trees, count, sizeof *page->trees, page_compare_trees);
    for (size_t i = 0; i < count; i++)
        if (!i || page->trees[i] != page->trees[i - 1])
            page->trees[page->tree_count++] = page->trees[i];
}

/* Writes for each row the number in the list of sets of trees, from 1 on; 0: not in the list. */
static void page_put_trees(struct page *page, bool exclusive)
{
    fputs(",\n\"trees\":", page->out);
    for (size_t i = 0; i < page->rows->count; i++) {
        uint64_t trees = page_row_trees(page, i, exclusive);
        const uint64_t *found =
            trees ? bsearch(&trees, page->trees, page->tree_count, sizeof trees, page_compare_trees) : NULL;
        putc_unlocked(i ? ',' : '[', page->out);
        page_whole(page->out, found ? found - page->trees + 1 : 0);
    }
    putc(']', page->out);
}

static void page_put_row_metrics(struct page *page, bool exclusive)
{
    fprintf(page->out, ",\n\"%c\":{", exclusive ? 'e' : 'i');
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        if (!page_has_metric(page, metric_columns[i]))
            continue;
        fprintf(page->out, "%s\"%s\":", i ? ",\n" : "", metric_title(metric_columns[i]));
        page_put_metric_values(page, metric_columns[i], exclusive);
    }
    for (size_t i = 0; i < page->input->rows->counter_count; i++) {
        fputs(",\n", page->out);
        page_text(page, page->input->rows->counter_name[i]);
        putc(':', page->out);
        page_put_counter_values(page, i, exclusive);
    }
    if (error_form_of(&page->input->rows->error, METRIC_CORE_IDLENESS).own != 0)
        page_put_error_basis(page, "own", offsetof(struct error_basis, own), exclusive);
    if (page->input->rows->error.threads > 2) /* with one or two threads, `beside` is always 0 */
        page_put_error_basis(page, "beside", offsetof(struct error_basis, idle_beside), exclusive);
    if (page->tree_count)
        page_put_trees(page, exclusive);
    for (size_t i = 0; i < METRIC_COLUMNS; i++)
        page_put_beyond(page, metric_columns[i], exclusive);
    putc('}', page->out);
}

enum exact_column { EXACT_ROW, EXACT_CALLS, EXACT_INCLUSIVE, EXACT_EXCLUSIVE, EXACT_COLUMNS };

/* Writes a column of exact times. Only a few rows have any, so only those are listed. */
static void page_put_exact_column(struct page *page, enum exact_column column)
{
    bool first = true;
    for (size_t i = 0; i < page->rows->count; i++) {
        const struct row_extra *extra = page_row_at(page, i)->extra;
        if (!extra || !extra->probe.calls)
            continue;
        putc_unlocked(first ? '[' : ',', page->out);
        first = false;
        if (column == EXACT_ROW)
            page_whole(page->out, (int64_t)i);
        else if (column == EXACT_CALLS)
            page_whole(page->out, (int64_t)extra->probe.calls);
        else
            page_micro(page->out,
                       1e-9 * (column == EXACT_INCLUSIVE ? extra->probe.inclusive_ns : extra->probe.exclusive_ns));
    }
    fputs(first ? "[]" : "]", page->out);
}

static void page_put_exact(struct page *page)
{
    static const char *const name[EXACT_COLUMNS] = {"row", "calls", "i", "e"};
    fputs(",\n\"exact\":", page->out);
    if (!page->input->rows->probed) {
        fputs("null", page->out);
        return;
    }
    for (int column = 0; column < EXACT_COLUMNS; column++) {
        fprintf(page->out, "%c\"%s\":", column ? ',' : '{', name[column]);
        page_put_exact_column(page, (enum exact_column)column);
    }
    putc('}', page->out);
}

void page_put_rows(struct page *page)
{
    page_number_labels(page);
    fprintf(page->out, "{\"count\":%zu,\n", page->rows->count);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        fprintf(page->out, "\"%s\":", fields[f].name);
        for (size_t i = 0; i < page->rows->count; i++) {
            putc_unlocked(i ? ',' : '[', page->out);
            page_whole(page->out, fields[f].value(page, i));
        }
        fputs("],\n", page->out);
    }
    page_put_row_notes(page);
    page_put_row_metrics(page, false);
    page_put_row_metrics(page, true);
    page_put_exact(page);
    putc('}', page->out);
}
