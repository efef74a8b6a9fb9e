/* Says which code woke the threads that slept in a call. */
#include "command/findings/rules.h"
#include "command/rows/label.h"
#include "command/rows/own.h"

#include <stdlib.h>

#include "command/text/memory.h"

static bool is_same_call(const struct inquiry *inquiry, uint32_t a, uint32_t b)
{
    const struct row *row = inquiry->rows->row;
    uint32_t x = rows_outermost(inquiry->rows, a), y = rows_outermost(inquiry->rows, b);
    return row[x].function == row[y].function && row[x].call_line == row[y].call_line &&
           row[rows_own(inquiry->rows, a)].function == row[rows_own(inquiry->rows, b)].function;
}

void describe_wakers(const struct inquiry *inquiry, uint32_t call, char text[WAKERS_BYTES])
{
    const struct profile *profile = inquiry->profile;
    struct tally wakers = {0};
    const struct tallied *most = NULL;
    for (size_t i = 0; i < profile->wake_count; i++) {
        const struct merged_wake *wake = &profile->wakes[i];
        uint32_t waker = row_of_node(inquiry->rows, wake->waker);
        if (is_same_call(inquiry, row_of_node(inquiry->rows, wake->waiter), call))
            tally_add(&wakers, rows_own(inquiry->rows, waker), waker, wake->ns);
    }
    for (size_t i = 0; i < wakers.count; i++)
        if (!most || wakers.item[i].ns > most->ns)
            most = &wakers.item[i];
    *text = '\0';
    if (most) {
        char *label = row_call_label(inquiry->rows, most->row, METRIC_BLOCKED, NAME_COLUMNS, false);
        snprintf(text, WAKERS_BYTES, "; mostly woken by %s", label);
        free(label);
    }
    tally_free(&wakers);
}
