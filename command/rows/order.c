/* Puts rows in preorder and sorts siblings. Does not use recursion, because paths can be thousands of rows
 * deep. */
#include <stdlib.h>
#include <string.h>

#include "command/rows/make.h"
#include "command/text/memory.h"

struct order {
    struct rows *rows;
    double *value; /* for each old index: value by which siblings are sorted */
    /* for each old index: position of the row's first child in child[]; count + 2 entries */
    uint32_t *first_child;
    uint32_t *child;     /* old indices of the rows, grouped by parent */
    uint32_t *new_index; /* for each old index: new index; ROW_NONE: the row is removed */
};

uint32_t rows_append(struct rows *rows, uint32_t parent, enum row_kind kind)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity + rows->capacity / 2 : 256;
        rows->row = memory_check(capacity < ROW_NONE ? realloc(rows->row, capacity * sizeof *rows->row) : NULL);
        rows->capacity = capacity;
    }
    rows->row[rows->count] = (struct row){.parent = parent,
                                          .kind = (uint8_t)kind,
                                          .function = ROW_NONE,
                                          .label = &row_no_label,
                                          .inclusive = &row_no_sums,
                                          .exclusive = &row_no_sums};
    return (uint32_t)rows->count++;
}

/* Compares two siblings. No two siblings compare equal, so that equal profiles give equal files. */
static int rows_compare_siblings(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    uint32_t a_index = *(const uint32_t *)left, b_index = *(const uint32_t *)right;
    const struct row *a = &order->rows->row[a_index], *b = &order->rows->row[b_index];
    int difference = (order->value[a_index] < order->value[b_index]) - (order->value[a_index] > order->value[b_index]);
    if (difference == 0)
        difference = a->kind - b->kind;
    if (difference == 0)
        difference = strcmp(a->label->name, b->label->name);
    if (difference == 0)
        difference = strcmp(a->label->file, b->label->file);
    if (difference == 0)
        difference = (a->label->line > b->label->line) - (a->label->line < b->label->line);
    if (difference == 0)
        difference = (a->call_line > b->call_line) - (a->call_line < b->call_line);
    if (difference == 0)
        difference = strcmp(a->label->module, b->label->module);
    return difference ? difference : (a_index > b_index) - (a_index < b_index);
}

static void rows_order_group_children(struct order *order)
{
    const struct rows *rows = order->rows;
    size_t count = rows->count;
    /* The number of a row's children is stored two entries after the row's own entry. While child[] is
     * filled, entry i + 1 moves from the start of row i's children to their end, where the children of row i
     * + 1 start. */
    for (size_t i = 1; i < count; i++)
        order->first_child[rows->row[i].parent + 2]++;
    for (size_t i = 0; i < count; i++)
        order->first_child[i + 2] += order->first_child[i + 1];
    for (size_t i = 1; i < count; i++)
        order->child[order->first_child[rows->row[i].parent + 1]++] = (uint32_t)i;
}

static void rows_order_sort_children(struct order *order, enum metric metric, bool by_exclusive)
{
    const struct rows *rows = order->rows;
    order->value = memory_array(rows->count, sizeof *order->value);
    for (size_t i = 0; i < rows->count; i++) {
        order->value[i] = row_value(rows, &rows->row[i], by_exclusive, metric);
    }
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t *first = &order->child[order->first_child[i]];
        size_t children = order->first_child[i + 1] - order->first_child[i];
        if (children > 1)
            qsort_r(first, children, sizeof *first, rows_compare_siblings, order);
    }
    free(order->value);
}

/* Sets each row's `end` to the number of rows in its subtree, or to 0 if the subtree has no cost, no exact
 * times and no row to be kept. Children have larger indices than their parents. */
static void rows_order_count_subtrees(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        rows->row[i].end = 1;
    for (size_t i = rows->count; i-- > 1;) {
        if (rows_sums_are_zero(rows->row[i].inclusive) && !rows->row[i].extra && !rows->row[i].kept &&
            rows->row[i].end == 1)
            rows->row[i].end = 0;
        rows->row[rows->row[i].parent].end += rows->row[i].end;
    }
}

/* Numbers the rows. A parent comes before its children, and a row after the subtrees of its earlier siblings.
 * Returns the number of rows that stay. */
static size_t rows_order_number_rows(struct order *order)
{
    struct rows *rows = order->rows;
    size_t kept = rows->row[0].end;
    memset(order->new_index, 0xff, rows->count * sizeof *order->new_index);
    order->new_index[0] = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct row *row = &rows->row[i];
        uint32_t number = order->new_index[i], next = number + 1;
        if (number == ROW_NONE)
            continue;
        for (uint32_t c = order->first_child[i]; c < order->first_child[i + 1]; c++) {
            uint32_t child = order->child[c];
            if (rows->row[child].end == 0)
                continue;
            order->new_index[child] = next;
            next += rows->row[child].end;
            rows->row[child].depth = row->depth + 1;
        }
        row->end = next;
        row->parent = i ? order->new_index[row->parent] : ROW_NONE;
    }
    return kept;
}

/* Moves each row to its new index. Removed rows go to the end and are cut off. */
static void rows_order_move_rows(struct rows *rows, uint32_t *new_index, size_t kept)
{
    uint32_t behind = (uint32_t)kept;
    for (size_t i = 0; i < rows->count; i++)
        if (new_index[i] == ROW_NONE)
            new_index[i] = behind++;
    for (size_t i = 0; i < rows->count; i++)
        while (new_index[i] != i) {
            uint32_t to = new_index[i];
            struct row row = rows->row[to];
            rows->row[to] = rows->row[i];
            rows->row[i] = row;
            new_index[i] = new_index[to];
            new_index[to] = to;
        }
    struct row *fewer = realloc(rows->row, kept * sizeof *fewer);
    rows->row = fewer ? fewer : rows->row;
    rows->count = rows->capacity = kept;
}

static int rows_order_compare_spreads(const void *left, const void *right)
{
    uint32_t a = ((const struct row_spread *)left)->row, b = ((const struct row_spread *)right)->row;
    return (a > b) - (a < b);
}

static void rows_order_renumber_spreads(struct rows *rows, const uint32_t *new_index)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->spread_count; i++) {
        rows->spread[kept] = rows->spread[i];
        rows->spread[kept].row = new_index[rows->spread[i].row];
        kept += rows->spread[kept].row != ROW_NONE;
    }
    rows->spread_count = kept;
    if (kept)
        qsort(rows->spread, kept, sizeof *rows->spread, rows_order_compare_spreads);
}

void rows_order(struct rows *rows, enum metric metric, bool by_exclusive)
{
    size_t count = rows->count;
    struct order order = {.rows = rows,
                          .first_child = memory_array(count + 2, sizeof *order.first_child),
                          .child = memory_array(count, sizeof *order.child)};
    rows_order_group_children(&order);
    rows_order_sort_children(&order, metric, by_exclusive);
    order.new_index = memory_array(count, sizeof *order.new_index);
    rows_order_count_subtrees(rows);
    rows->row[0].depth = 0;
    size_t kept = rows_order_number_rows(&order);
    for (size_t n = 0; n < rows->node_count; n++) {
        if (rows->node_row[n] != ROW_NONE)
            rows->node_row[n] = order.new_index[rows->node_row[n]];
        if (rows->node_context && rows->node_context[n] != ROW_NONE)
            rows->node_context[n] = order.new_index[rows->node_context[n]];
    }
    rows_order_renumber_spreads(rows, order.new_index);
    free(order.first_child);
    free(order.child);
    rows_order_move_rows(rows, order.new_index, kept);
    free(order.new_index);
}
