#include "command/tables/wakes.h"

#include <stdlib.h>

#include "command/rows/own.h"
#include "command/symbols/symbols.h"
#include "command/text/memory.h"

const char *const wake_name[PROFILE_WAKES] = {
    [PROFILE_WAKE_UNKNOWN] = "unknown",     [PROFILE_WAKE_CONDITION] = "condition variable",
    [PROFILE_WAKE_SEMAPHORE] = "semaphore", [PROFILE_WAKE_BARRIER] = "barrier",
    [PROFILE_WAKE_END] = "end of a thread", [PROFILE_WAKE_FUTEX] = "futex",
    [PROFILE_WAKE_ONCE] = "initialisation",
};

/* Returns the outermost row of the program's own code above a row: the function that a thread executes. Returns the row
 * itself if there is none. */
static uint32_t wake_thread_of(const struct rows *rows, uint32_t row)
{
    uint32_t outermost = row;
    for (uint32_t i = row; i != 0; i = rows->row[i].parent)
        if (!rows->row[i].foreign)
            outermost = i;
    return outermost;
}

/* Finds the line of the program's own code that is executed in a context: the line of a call, if the context is in a
 * library. */
static struct wake_end wake_end_of(const struct profile *profile, const struct rows *rows, struct symbols *symbols,
                                   uint32_t node, bool thread)
{
    uint32_t row = thread ? wake_thread_of(rows, row_of_node(rows, node)) : row_of_node(rows, node);
    if (rows->row[row].kind == ROW_STATEMENT)
        row = rows->row[row].parent;
    uint32_t call = rows_outermost(rows, row), own = rows_own(rows, row);
    const struct row_label *label = rows->row[own].label;
    struct wake_end end = {.row = call, .function = label->name, .file = label->file, .line = label->line};
    const struct symbol_frame *frames;
    if (thread)
        return end;
    if (call != own) {
        end.line = rows->row[call].call_line;
    } else if (profile->nodes[node].kind == PROFILE_NODE_FRAME) {
        symbols_lookup(symbols, profile->nodes[node].key, &frames);
        end.file = frames[0].at_file;
        end.line = frames[0].at_line;
    }
    return end;
}

static int wake_order(double a, double b)
{
    return (a > b) - (a < b);
}

static int wake_ends_order(const struct wake_end *a, const struct wake_end *b)
{
    return a->row != b->row ? wake_order(a->row, b->row) : wake_order(a->line, b->line);
}

static int wake_places_order(const struct wake_pair *a, const struct wake_pair *b)
{
    return a->wake != b->wake ? wake_order(a->wake, b->wake) : wake_ends_order(&a->waiter, &b->waiter);
}

bool wake_pairs_share_place(const struct wake_pair *a, const struct wake_pair *b)
{
    return wake_places_order(a, b) == 0;
}

/* Puts pairs with the same ends together. */
static int wake_pairs_order(const void *left, const void *right)
{
    const struct wake_pair *a = left, *b = right;
    int order = wake_places_order(a, b);
    order = order ? order : wake_ends_order(&a->waker, &b->waker);
    return order ? order : wake_order(b->ns, a->ns);
}

/* The order of the table. */
static int wake_table_order(const void *left, const void *right)
{
    const struct wake_pair *a = left, *b = right;
    int order = wake_order(b->place_ns, a->place_ns);
    order = order ? order : wake_order(a->waiter.row, b->waiter.row);
    order = order ? order : wake_places_order(a, b);
    order = order ? order : wake_order(b->ns, a->ns);
    return order ? order : wake_ends_order(&a->waker, &b->waker);
}

static void wake_table_sort(struct wake_table *table, int (*order)(const void *, const void *))
{
    if (table->count)
        qsort(table->pair, table->count, sizeof *table->pair, order);
}

/* Makes one pair of those with the same ends. */
static void wake_table_unite(struct wake_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct wake_pair *pair = &table->pair[i];
        struct wake_pair *last = count ? &table->pair[count - 1] : NULL;
        if (last && wake_pairs_share_place(last, pair) && wake_ends_order(&last->waker, &pair->waker) == 0) {
            last->ns += pair->ns;
            last->waits += pair->waits;
        } else {
            table->pair[count++] = *pair;
        }
    }
    table->count = count;
}

static void wake_table_sum_places(struct wake_table *table)
{
    for (size_t first = 0, end; first < table->count; first = end) {
        double ns = 0;
        for (end = first; end < table->count && wake_pairs_share_place(&table->pair[first], &table->pair[end]); end++)
            ns += table->pair[end].ns;
        for (size_t i = first; i < end; i++)
            table->pair[i].place_ns = ns;
    }
}

struct wake_table *wake_table_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols)
{
    struct wake_table *table = memory_array(1, sizeof *table);
    table->pair = memory_array(profile->wake_count, sizeof *table->pair);
    table->count = profile->wake_count;
    for (size_t i = 0; i < profile->wake_count; i++) {
        const struct merged_wake *wake = &profile->wakes[i];
        bool ends = wake->wake == PROFILE_WAKE_END;
        table->pair[i] = (struct wake_pair){.wake = wake->wake,
                                            .waiter = wake_end_of(profile, rows, symbols, wake->waiter, false),
                                            .waker = wake_end_of(profile, rows, symbols, wake->waker, ends),
                                            .ns = wake->ns,
                                            .waits = wake->waits};
    }
    wake_table_sort(table, wake_pairs_order);
    wake_table_unite(table);
    wake_table_sum_places(table);
    wake_table_sort(table, wake_table_order);
    return table;
}

void wake_table_free(struct wake_table *table)
{
    if (!table)
        return;
    free(table->pair);
    free(table);
}
