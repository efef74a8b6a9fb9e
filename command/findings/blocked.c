/* Finds calls outside OpenMP in which threads sleep: input and output, sleeps, other libraries' locks. */
#include "command/findings/rules.h"

#include <string.h>

#include "command/text/memory.h"

/* Returns whether another finding is about the row's sleep: serial code, a unit whose threads wait for it, or a lock
 * that it holds. */
static bool is_told(const struct inquiry *inquiry, uint32_t index)
{
    const struct profile_sums *sums = inquiry->rows->row[index].exclusive;
    uint32_t unit = inquiry->unit_of[index];
    if (inquiry->region[index] == ROW_NONE && inquiry->idle_ns[CAUSE_NO_TEAM][inquiry->own[index]] > 0)
        return true;
    if (sums->lock_wait >= MOSTLY * sums->blocked && finding_is_enough(inquiry, sums->lock_wait * 1e-9))
        return true;
    return unit != UNIT_NONE && inquiry->unit[unit].idle_told && sums->blocked_idle >= MOSTLY * sums->blocked;
}

/* Returns whether a row's blocked time is a call's, not that of a process that was stopped or not measured. */
static bool is_call(const struct row *row)
{
    return row->kind != ROW_STATEMENT && (row->kind != ROW_PSEUDO || row_is_holder(row));
}

/* Returns the outermost function outside the program that a row is in, or the row itself. */
static uint32_t row_of_call(const struct rows *rows, uint32_t index)
{
    while (rows->row[index].foreign && rows->row[rows->row[index].parent].foreign)
        index = rows->row[index].parent;
    return index;
}

/* Returns advice that depends on what the call waits for, as far as its name tells. */
static const char *blocked_advice(const char *call)
{
    static const char *const parts[] = {"mutex", "cond", "lll_lock", "rwlock", "sem_", "barrier", "futex"};
    if (strstr(call, "_join"))
        return "The call waits until another thread ends. Look at what that thread does, or let this thread work "
               "meanwhile.";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(call, parts[i]))
            return "The call waits for another thread, and the profile does not contain which one. Look at what the "
                   "other threads do before they release the lock or send the signal. For OpenMP's locks and critical "
                   "sections, blame names the holder.";
    return "Overlap the wait with other work, make it shorter, or wait less often. The wait needs no core, so other "
           "work "
           "can run meanwhile.";
}

static void put_blocked(struct inquiry *inquiry, const struct tallied *blocked)
{
    double seconds = blocked->ns * 1e-9;
    char call[NAME_BYTES], some[64] = "";
    struct finding finding = {
        .rule = "blocked", .row = blocked->row, .metric = METRIC_BLOCKED, .seconds = seconds, .sampled = true};
    /* The sleep of other threads may be a consequence, so it may be gone as well. */
    struct relief relief = {.wall_s = seconds,
                            .dropped_s = metric_value(inquiry->rows, inquiry->rows->row[0].inclusive, METRIC_BLOCKED)};
    if (blocked->contexts > 1)
        snprintf(some, sizeof some, ", in %u calling contexts", blocked->contexts);
    shorten_name(call, name_of_call(inquiry->rows, blocked->row));
    finding.title = format_printable("%s s blocked in %s", DECIMAL(seconds, 2), call);
    finding.evidence = format_printable("threads slept in this call%s", some);
    finding.advice = format_printable("%s", blocked_advice(call));
    put_bounded_finding(inquiry, &finding, &relief);
}

void find_blocked(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct tally calls = {0};
    for (uint32_t i = 1; i < rows->count; i++) {
        double ns = rows->row[i].exclusive->blocked;
        uint64_t caller = rows->row[inquiry->own[i]].function;
        if (ns > 0 && is_call(&rows->row[i]) && !is_told(inquiry, i))
            tally_add(&calls, caller << 32 | rows->row[row_of_call(rows, i)].function, i, ns);
    }
    for (size_t i = 0; i < calls.count; i++)
        if (finding_is_enough(inquiry, calls.item[i].ns * 1e-9))
            put_blocked(inquiry, &calls.item[i]);
    tally_free(&calls);
}
