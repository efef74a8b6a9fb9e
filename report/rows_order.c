/* Putting rows in preorder with sorted siblings; iterative, because paths can be thousands of rows deep. */
#include "report/rows.h"

#include <stdlib.h>
#include <string.h>

struct order {
    struct rows *rows;
    double *value;         /* what siblings are sorted by, by old index */
    uint32_t *first_child; /* by old index: where its children begin in child[], count + 1 entries */
    uint32_t *child;       /* old indices, grouped by parent */
    uint32_t *stack;
    uint32_t *new_index; /* by old index, ROW_NONE: pruned */
    struct row *sorted;
};

void rows_free(struct rows *rows)
{
    if (!rows)
        return;
    free(rows->row);
    free(rows->node_row);
    strings_free(rows->strings);
    free(rows);
}

uint32_t rows_append(struct rows *rows, uint32_t parent, enum row_kind kind)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity + rows->capacity / 2 : 256;
        struct row *row = capacity < ROW_NONE ? realloc(rows->row, capacity * sizeof *row) : NULL;
        if (!row)
            return ROW_NONE;
        rows->row = row;
        rows->capacity = capacity;
    }
    rows->row[rows->count] = (struct row){
        .parent = parent, .kind = (uint8_t)kind, .function = ROW_NONE, .name = "", .module = "", .file = ""};
    return (uint32_t)rows->count++;
}

/* A total order, so that equal profiles give equal files. */
static int compare_siblings(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    uint32_t a_index = *(const uint32_t *)left, b_index = *(const uint32_t *)right;
    const struct row *a = &order->rows->row[a_index], *b = &order->rows->row[b_index];
    int difference =
        (order->value[a_index] < order->value[b_index]) - (order->value[a_index] > order->value[b_index]);
    if (difference == 0)
        difference = a->kind - b->kind;
    if (difference == 0)
        difference = strcmp(a->name, b->name);
    if (difference == 0)
        difference = strcmp(a->file, b->file);
    if (difference == 0)
        difference = (a->line > b->line) - (a->line < b->line);
    if (difference == 0)
        difference = (a->call_line > b->call_line) - (a->call_line < b->call_line);
    if (difference == 0)
        difference = strcmp(a->module, b->module);
    return difference ? difference : (a_index > b_index) - (a_index < b_index);
}

static void group_children(struct order *order)
{
    const struct rows *rows = order->rows;
    size_t count = rows->count;
    for (size_t i = 1; i < count; i++)
        order->first_child[rows->row[i].parent + 1]++;
    for (size_t i = 0; i < count; i++)
        order->first_child[i + 1] += order->first_child[i];
    uint32_t *next = order->new_index; /* not needed yet */
    memcpy(next, order->first_child, count * sizeof *next);
    for (size_t i = 1; i < count; i++)
        order->child[next[rows->row[i].parent]++] = (uint32_t)i;
}

static size_t emit_preorder(struct order *order)
{
    const struct rows *rows = order->rows;
    size_t emitted = 0, waiting = 1;
    memset(order->new_index, 0xff, rows->count * sizeof *order->new_index);
    order->stack[0] = 0;
    while (waiting) {
        uint32_t old = order->stack[--waiting];
        struct row *row = &order->sorted[emitted];
        *row = rows->row[old];
        order->new_index[old] = (uint32_t)emitted++;
        row->end = (uint32_t)emitted;
        row->parent = old ? order->new_index[row->parent] : ROW_NONE;
        row->depth = old ? order->sorted[row->parent].depth + 1 : 0;
        uint32_t *first = &order->child[order->first_child[old]];
        size_t children = order->first_child[old + 1] - order->first_child[old];
        if (children > 1)
            qsort_r(first, children, sizeof *first, compare_siblings, order);
        for (size_t i = children; i-- > 0;)
            if (!metric_is_zero(&rows->row[first[i]].inclusive))
                order->stack[waiting++] = first[i];
    }
    for (size_t i = emitted; i-- > 1;) {
        struct row *parent = &order->sorted[order->sorted[i].parent];
        if (parent->end < order->sorted[i].end)
            parent->end = order->sorted[i].end;
    }
    return emitted;
}

bool rows_order(struct rows *rows, enum measure measure, bool by_exclusive)
{
    struct order order = {.rows = rows};
    size_t count = rows->count;
    order.value = malloc(count * sizeof *order.value);
    order.first_child = calloc(count + 2, sizeof *order.first_child);
    order.child = malloc(count * sizeof *order.child);
    order.stack = malloc(count * sizeof *order.stack);
    order.new_index = malloc(count * sizeof *order.new_index);
    order.sorted = malloc(count * sizeof *order.sorted);
    bool done =
        order.value && order.first_child && order.child && order.stack && order.new_index && order.sorted;
    if (done) {
        for (size_t i = 0; i < count; i++) {
            const struct row *row = &rows->row[i];
            order.value[i] = measure_value(rows, by_exclusive ? &row->exclusive : &row->inclusive, measure);
        }
        group_children(&order);
        size_t emitted = emit_preorder(&order);
        free(rows->row);
        rows->row = order.sorted;
        rows->count = rows->capacity = emitted;
        for (size_t n = 0; n < rows->node_count; n++)
            if (rows->node_row[n] != ROW_NONE)
                rows->node_row[n] = order.new_index[rows->node_row[n]];
    } else {
        free(order.sorted);
    }
    free(order.value);
    free(order.first_child);
    free(order.child);
    free(order.stack);
    free(order.new_index);
    return done;
}
