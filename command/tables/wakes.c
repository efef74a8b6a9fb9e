#include "command/tables/wakes.h"

#include <stdlib.h>

#include "command/rows/own.h"
#include "command/symbols/symbols.h"
#include "command/text/memory.h"

const char *const wake_name[PROFILE_WAKES] = {
    [PROFILE_WAKE_UNKNOWN] = "unknown",     [PROFILE_WAKE_CONDITION] = "condition variable",
    [PROFILE_WAKE_SEMAPHORE] = "semaphore", [PROFILE_WAKE_BARRIER] = "barrier",
    [PROFILE_WAKE_END] = "end of a thread", [PROFILE_WAKE_FUTEX] = "futex",
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

static bool wake_ends_match(const struct wake_end *a, const struct wake_end *b)
{
    return a->row == b->row && a->line == b->line;
}

bool wake_pairs_share_place(const struct wake_pair *a, const struct wake_pair *b)
{
    return a->wake == b->wake && wake_ends_match(&a->waiter, &b->waiter);
}

/* Adds waiting to the pair of these two contexts and lines. There are few, so the search is linear. */
static void wake_table_add(struct wake_table *table, const struct wake_pair *pair)
{
    for (size_t i = 0; i < table->count; i++) {
        struct wake_pair *to = &table->pair[i];
        if (wake_pairs_share_place(to, pair) && wake_ends_match(&to->waker, &pair->waker)) {
            to->ns += pair->ns;
            to->waits += pair->waits;
            return;
        }
    }
    memory_grow(&table->pair, &table->capacity, table->count, sizeof *table->pair);
    table->pair[table->count++] = *pair;
}

static int wake_table_compare(const void *left, const void *right)
{
    const struct wake_pair *a = left, *b = right;
    if (a->place_ns != b->place_ns)
        return a->place_ns > b->place_ns ? -1 : 1;
    if (a->waiter.row != b->waiter.row)
        return a->waiter.row < b->waiter.row ? -1 : 1;
    if (!wake_pairs_share_place(a, b))
        return a->wake != b->wake ? (int)a->wake - (int)b->wake : a->waiter.line - b->waiter.line;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->waker.row > b->waker.row) - (a->waker.row < b->waker.row);
}

struct wake_table *wake_table_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols)
{
    struct wake_table *table = memory_array(1, sizeof *table);
    for (size_t i = 0; i < profile->wake_count; i++) {
        const struct merged_wake *wake = &profile->wakes[i];
        struct wake_pair pair = {.wake = wake->wake,
                                 .waiter = wake_end_of(profile, rows, symbols, wake->waiter, false),
                                 .waker =
                                     wake_end_of(profile, rows, symbols, wake->waker, wake->wake == PROFILE_WAKE_END),
                                 .ns = wake->ns,
                                 .waits = wake->waits};
        wake_table_add(table, &pair);
    }
    for (size_t i = 0; i < table->count; i++)
        for (size_t other = 0; other < table->count; other++)
            if (wake_pairs_share_place(&table->pair[i], &table->pair[other]))
                table->pair[i].place_ns += table->pair[other].ns;
    if (table->count)
        qsort(table->pair, table->count, sizeof *table->pair, wake_table_compare);
    return table;
}

void wake_table_free(struct wake_table *table)
{
    if (!table)
        return;
    free(table->pair);
    free(table);
}
