/* Finds calls outside OpenMP in which threads sleep: input and output, sleeps, other libraries' locks. */
#include "command/findings/rules.h"
#include "command/rows/own.h"

#include <math.h>

#include "command/text/memory.h"

/* Returns whether another finding is about the row's sleep: serial code, a unit whose threads wait for it, or a lock
 * that it holds. */
static bool is_told(const struct inquiry *inquiry, uint32_t index)
{
    const struct profile_sums *sums = inquiry->rows->row[index].exclusive;
    uint32_t unit = inquiry->unit_of[index], own = inquiry->own[index];
    double serial_ns = inquiry->idle_ns[CAUSE_NO_TEAM][own] - inquiry->awaited_ns[CAUSE_NO_TEAM][own];
    if (inquiry->region[index] == ROW_NONE && inquiry->idle_to_wall > 0 && serial_ns >= MOSTLY * sums->blocked)
        return true;
    if (sums->lock_wait >= MOSTLY * sums->blocked && finding_is_enough(inquiry, sums->lock_wait * 1e-9))
        return true;
    if (unit == UNIT_NONE || !inquiry->unit[unit].idle_told)
        return false;
    return sums->blocked_idle >= MOSTLY * sums->blocked ||
           (inquiry->unit[unit].passes && waits_for_threads(inquiry->rows, index));
}

/* Returns whether a row's blocked time is that of a call, and not of a process that was stopped or not measured. Waiting
 * for the end of threads is right while these are at work. */
static bool is_call(const struct rows *rows, uint32_t index)
{
    const struct row *row = &rows->row[index];
    const struct awaited *awaited = awaited_of(rows, index);
    return row->kind != ROW_STATEMENT && (row->kind != ROW_PSEUDO || row_is_holder(row)) &&
           !(awaited->threads && awaited->ends_with_it && threads_were_busy(rows, index));
}

static void put_blocked(struct inquiry *inquiry, const struct tallied *blocked)
{
    double seconds = blocked->ns * 1e-9;
    const struct awaited *awaited = awaited_of(inquiry->rows, blocked->row);
    char call[BLOCKED_BYTES], some[64] = "";
    struct finding finding = {.rule = "blocked",
                              .row = blocked->row,
                              .call = blocked->row,
                              .metric = METRIC_BLOCKED,
                              .seconds = seconds,
                              .sampled = true};
    /* The sleep of other threads may be a consequence, so it may be gone as well. Threads that are waited for may get
     * less to do. */
    struct relief relief = {.wall_s = seconds,
                            .moved_s = awaited->threads ? INFINITY : 0,
                            .dropped_s = metric_value(inquiry->rows, inquiry->rows->row[0].inclusive, METRIC_BLOCKED)};
    if (blocked->contexts > 1)
        snprintf(some, sizeof some, ", in %u calling contexts", blocked->contexts);
    describe_blocked(call, inquiry->rows, blocked->row);
    finding.title = format_printable("%s s %s", DECIMAL(seconds, 2), call);
    finding.evidence = format_printable("threads slept in this call%s", some);
    finding.advice = format_printable("%s", awaited->advice);
    if (!awaited->ends_with_it) {
        put_bounded_finding(inquiry, &finding, &relief);
        return;
    }
    finding.rank = FINDING_TIME;
    put_finding(inquiry, &finding);
}

void find_blocked(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct tally calls = {0};
    for (uint32_t i = 1; i < rows->count; i++) {
        double ns = rows->row[i].exclusive->blocked;
        uint32_t call = rows_outermost(rows, i);
        uint64_t caller = rows->row[inquiry->own[i]].function, line = (uint64_t)rows->row[call].call_line;
        if (ns > 0 && is_call(rows, i) && !is_told(inquiry, i))
            tally_add_two(&calls, caller << 32 | rows->row[call].function, line, i, ns);
    }
    for (size_t i = 0; i < calls.count; i++)
        if (finding_is_enough(inquiry, calls.item[i].ns * 1e-9))
            put_blocked(inquiry, &calls.item[i]);
    tally_free(&calls);
}
