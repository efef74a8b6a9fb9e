#include "command/html/page_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cct/sums.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

/* Returns the metric for column i whose share decides whether a row is shown. Core idleness can be negative,
 * so thread idleness, which is made from the same sums and cannot be negative, decides in its place. */
static enum metric page_tree_deciding_metric(size_t i)
{
    return i == METRIC_CORE_IDLENESS ? METRIC_THREAD_IDLENESS : (enum metric)i;
}

/* A row of the page whose descendants are being visited. */
struct open_row {
    uint32_t end, number;
    /* sums of the merged children that are calls, and of those that are statements; NULL: no such child */
    struct profile_sums *calls, *lines;
    /* counters of the merged children that are calls, and of those that are statements; NULL: none */
    struct row_extra *call_counters, *line_counters;
};

struct page_tree_walk {
    struct page_tree *tree;
    struct open_row *open;
    size_t depth, room;
    uint32_t function; /* number of the function that the rows of merged calls get */
};

/* Returns a row's largest share of any metric, in percent. */
static float page_tree_share_of(const struct rows *rows, const struct row *row, const double total[METRIC_COLUMNS])
{
    double most = 0;
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        double share =
            total[i] > 0 ? 100 * metric_value(rows, row->inclusive, page_tree_deciding_metric(i)) / total[i] : 0;
        most = share > most ? share : most;
    }
    return (float)most;
}

static float *page_tree_shares(const struct rows *rows)
{
    double total[METRIC_COLUMNS];
    float *share = memory_array(rows->count, sizeof *share);
    for (size_t i = 0; i < METRIC_COLUMNS; i++)
        total[i] = metric_value(rows, rows->row[0].inclusive, page_tree_deciding_metric(i));
    for (size_t i = 0; i < rows->count; i++)
        share[i] = page_tree_share_of(rows, &rows->row[i], total);
    /* A child's share may exceed its parent's by a rounding error. The parent must be shown all the same. */
    for (size_t i = rows->count; i-- > 1;)
        if (share[rows->row[i].parent] < share[i])
            share[rows->row[i].parent] = share[i];
    share[0] = INFINITY;
    return share;
}

static int page_tree_compare_shares(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;
    return (a < b) - (a > b);
}

/* Returns how many rows the page has if rows with a share below `least` are merged, including the rows that
 * replace the merged ones. stand_ins is scratch memory for two flags per row. */
static size_t page_tree_count_left(const struct rows *rows, const float *share, double least, bool *stand_ins)
{
    size_t left = 0;
    memset(stand_ins, 0, 2 * rows->count * sizeof *stand_ins);
    for (size_t i = 0; i < rows->count; i++) {
        bool *stand_in = i ? &stand_ins[2 * rows->row[i].parent + (rows->row[i].kind == ROW_STATEMENT)] : NULL;
        bool shown = share[i] >= least;
        if (shown)
            left++;
        else if (share[rows->row[i].parent] >= least && !*stand_in) {
            *stand_in = true;
            left++;
        }
    }
    return left;
}

/* Returns the smallest share that leaves at most `most` rows. Of rows with equal shares, either all are shown
 * or all are merged. */
static double page_tree_choose_least_share(const struct rows *rows, const float *share, size_t most)
{
    float *sorted = memory_array(rows->count, sizeof *sorted);
    bool *stand_ins = memory_array(2 * rows->count, sizeof *stand_ins);
    memcpy(sorted, share, rows->count * sizeof *sorted);
    qsort(sorted, rows->count, sizeof *sorted, page_tree_compare_shares);
    /* If `good` rows are kept, the page has few enough rows; if `bad` rows are kept, it has too many. The
     * root is always kept. */
    size_t good = 1, bad = most;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        bool fits = page_tree_count_left(rows, share, nextafterf(sorted[middle], INFINITY), stand_ins) <= most;
        *(fits ? &good : &bad) = middle;
    }
    double least = nextafterf(sorted[good], INFINITY);
    free(stand_ins);
    free(sorted);
    return least;
}

static void page_tree_add_sums(struct rows *made, struct profile_sums **sum, const struct profile_sums *sums)
{
    if (!*sum)
        *sum = rows_alloc(made, sizeof **sum);
    profile_sums_add(*sum, sums);
}

/* Adds the counters of a merged row. The row that replaces the merged rows has no children, so its inclusive
 * counters are also its exclusive ones. */
static void page_tree_add_counters(struct rows *made, struct row_extra **sum, const struct row_extra *extra)
{
    if (!extra)
        return;
    if (!*sum)
        *sum = rows_alloc(made, sizeof **sum);
    sums_add_counters(&(*sum)->inclusive, &extra->inclusive);
    (*sum)->exclusive = (*sum)->inclusive;
}

/* Appends the row that replaces merged children, as the last child of their parent. Appends none if there are
 * no such children. */
static void page_tree_append_stand_in(struct page_tree_walk *walk, const struct open_row *open, enum row_kind kind,
                                      const struct profile_sums *sum, const struct row_extra *counters)
{
    struct rows *made = walk->tree->made;
    if (!sum)
        return;
    uint32_t number = rows_append(made, open->number, kind);
    struct row_label *label = rows_alloc(made, sizeof *label);
    const struct row *parent = &made->row[open->number];
    struct row *row = &made->row[number];
    *label = (struct row_label){
        .name = PAGE_TREE_SMALL, .module = "", .file = kind == ROW_STATEMENT ? parent->label->file : ""};
    row->label = label;
    row->depth = parent->depth + 1;
    row->end = number + 1;
    row->function = kind == ROW_STATEMENT ? ROW_NONE : walk->function;
    row->inclusive = row->exclusive = sum;
    row->extra = counters;
}

static void page_tree_close_row(struct page_tree_walk *walk)
{
    struct open_row *open = &walk->open[--walk->depth];
    page_tree_append_stand_in(walk, open, ROW_STATEMENT, open->lines, open->line_counters);
    page_tree_append_stand_in(walk, open, ROW_PSEUDO, open->calls, open->call_counters);
    walk->tree->made->row[open->number].end = (uint32_t)walk->tree->made->count;
}

static void page_tree_show_row(struct page_tree_walk *walk, uint32_t index)
{
    struct page_tree *tree = walk->tree;
    const struct row *row = &tree->rows->row[index];
    uint32_t parent = walk->depth ? walk->open[walk->depth - 1].number : ROW_NONE;
    uint32_t number = rows_append(tree->made, parent, (enum row_kind)row->kind);
    memory_grow(&walk->open, &walk->room, walk->depth, sizeof *walk->open);
    tree->made->row[number] = *row;
    tree->made->row[number].parent = parent;
    tree->made->row[number].own_inclusive = tree->made->row[number].own_exclusive = false;
    tree->number[index] = number;
    walk->open[walk->depth++] = (struct open_row){.end = row->end, .number = number};
}

static void page_tree_merge_row(struct page_tree_walk *walk, uint32_t index)
{
    struct page_tree *tree = walk->tree;
    const struct row *row = &tree->rows->row[index];
    struct open_row *open = &walk->open[walk->depth - 1];
    tree->left_out += row->end - index;
    bool line = row->kind == ROW_STATEMENT;
    page_tree_add_counters(tree->made, line ? &open->line_counters : &open->call_counters, row->extra);
    page_tree_add_sums(tree->made, line ? &open->lines : &open->calls, row->inclusive);
}

static void page_tree_make_rows(struct page_tree *tree, const float *share)
{
    const struct rows *rows = tree->rows;
    struct page_tree_walk walk = {.tree = tree};
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT && rows->row[i].function != ROW_NONE &&
            rows->row[i].function >= walk.function)
            walk.function = rows->row[i].function + 1;
    for (uint32_t i = 0; i < rows->count;) {
        while (walk.depth && walk.open[walk.depth - 1].end <= i)
            page_tree_close_row(&walk);
        bool shown = share[i] >= tree->least_percent;
        (shown ? page_tree_show_row : page_tree_merge_row)(&walk, i);
        i = shown ? i + 1 : rows->row[i].end;
    }
    while (walk.depth)
        page_tree_close_row(&walk);
    free(walk.open);
}

void page_tree_make(struct page_tree *tree, const struct rows *rows, double least_percent, size_t most)
{
    *tree = (struct page_tree){.rows = rows, .shown = rows, .least_percent = least_percent};
    if (least_percent == 0 || (least_percent < 0 && rows->count <= most)) {
        tree->least_percent = 0;
        return;
    }
    float *share = page_tree_shares(rows);
    if (least_percent < 0)
        tree->least_percent = page_tree_choose_least_share(rows, share, most);
    tree->shown = tree->made = rows_like(rows);
    tree->number = memory_array(rows->count, sizeof *tree->number);
    memset(tree->number, 0xff, rows->count * sizeof *tree->number);
    page_tree_make_rows(tree, share);
    free(share);
}

void page_tree_free(struct page_tree *tree)
{
    rows_free(tree->made);
    free(tree->number);
    *tree = (struct page_tree){0};
}

uint32_t page_tree_number(const struct page_tree *tree, uint32_t row)
{
    return row == ROW_NONE || !tree->number ? row : tree->number[row];
}

uint32_t page_tree_nearest(const struct page_tree *tree, uint32_t row)
{
    while (row != ROW_NONE && page_tree_number(tree, row) == ROW_NONE)
        row = tree->rows->row[row].parent;
    return page_tree_number(tree, row);
}
