/* Finds calls outside OpenMP in which threads sleep: input and output, sleeps, other libraries' locks. */
#include "command/findings/rules.h"
#include "command/rows/own.h"

#include <math.h>

#include "command/text/memory.h"

/* Returns whether calls that wait for a unit's other code do so for no longer than the team waits for that code, so that one
 * finding is about both. */
static bool waits_less_than_team(const struct unit *unit)
{
    double idle_ns = unit->idle_ns[CAUSE_BARRIER] + unit->idle_ns[CAUSE_TASKS] + unit->lost_ns[CAUSE_BARRIER] +
                     unit->lost_ns[CAUSE_TASKS];
    return unit->passes && idle_ns >= MOSTLY * unit->awaiting_ns;
}

/* Returns whether another finding is about the row's sleep: serial code, a unit whose threads wait for it, or a lock
 * that it holds. */
static bool is_told(const struct inquiry *inquiry, uint32_t index)
{
    const struct profile_sums *sums = inquiry->rows->row[index].exclusive;
    uint32_t unit = inquiry->unit_of[index], own = inquiry->own[index];
    double serial_ns = inquiry->idle_ns[CAUSE_NO_TEAM][own] - inquiry->awaited_ns[CAUSE_NO_TEAM][own];
    if (inquiry->region[index] == ROW_NONE && inquiry->idle_to_wall > 0 && serial_ns >= MOSTLY * sums->blocked)
        return true;
    if (inquiry->holds_told[index] || (sums->blocked > 0 && inquiry->wait_told_ns[index] >= MOSTLY * sums->blocked) ||
        (sums->lock_wait >= MOSTLY * sums->blocked && finding_is_enough(inquiry, sums->lock_wait * 1e-9)))
        return true;
    if (unit == UNIT_NONE || !inquiry->unit[unit].idle_told)
        return false;
    return sums->blocked_idle >= MOSTLY * sums->blocked ||
           (waits_for_threads(inquiry, index) && waits_less_than_team(&inquiry->unit[unit]));
}

/* Returns whether a row's blocked time is that of a call, and not of a process that was stopped or not measured. */
static bool is_call(const struct row *row)
{
    return row->kind != ROW_STATEMENT && (row->kind != ROW_PSEUDO || row_is_holder(row));
}

/* Returns whether a row waits for measured threads as it should: for the end of threads that work or, in a thread of no
 * team, for work. What those threads do is the cause of any loss. */
static bool waits_rightly(const struct inquiry *inquiry, uint32_t index)
{
    const struct awaited *awaited = inquiry->awaited[index];
    bool team = inquiry->region[index] != ROW_NONE && inquiry->profile->header.regions > 0;
    if (!awaited->threads || awaited->held)
        return false;
    return team ? awaited->ends_with_it && threads_were_busy(inquiry->rows, index) : inquiry->threads > 1;
}

/* Counts as one call: calls of a function by the same line of the same function. */
static void call_key(const struct inquiry *inquiry, uint32_t row, uint64_t *key, uint64_t *line)
{
    const struct row *call = &inquiry->rows->row[rows_outermost(inquiry->rows, row)];
    *key = (uint64_t)inquiry->rows->row[inquiry->own[row]].function << 32 | call->function;
    *line = (uint64_t)call->call_line;
}

/* Waiting is mentioned if it is at least this share of the sleep. */
#define NOTABLE_SHARE 0.05

/* Writes "; meanwhile others waited for 2.00 s, mostly at a barrier in solve" for other threads that idled or waited for
 * locks beside a call. */
static void describe_waiters(const struct inquiry *inquiry, const struct tallied *blocked, char *text, size_t bytes)
{
    const struct wait_table *waits = inquiry->waits;
    const struct wait_place *most = NULL;
    double sum_ns = 0, place_ns = 0, most_ns = 0;
    uint64_t wanted, wanted_line, key, line;
    char name[NAME_BYTES];
    *text = '\0';
    call_key(inquiry, blocked->row, &wanted, &wanted_line);
    for (size_t i = 0; i < waits->pair_count; i++) {
        const struct wait_pair *pair = &waits->pair[i];
        place_ns = i && pair->place == waits->pair[i - 1].place ? place_ns : 0;
        call_key(inquiry, pair->row, &key, &line);
        if (key != wanted || line != wanted_line || waits->place[pair->place].kind == WAIT_MPI)
            continue;
        sum_ns += pair->ns;
        place_ns += pair->ns;
        if (place_ns > most_ns) {
            most_ns = place_ns;
            most = &waits->place[pair->place];
        }
    }
    if (!most || sum_ns < NOTABLE_SHARE * blocked->ns)
        return;
    char where[2 * NAME_BYTES] = "";
    shorten_name(name, most->function);
    if (most->kind == WAIT_LOCK)
        snprintf(where, sizeof where, ", mostly for %s", name);
    else if (most->kind == WAIT_BETWEEN_REGIONS)
        snprintf(where, sizeof where, ", mostly outside any team");
    else if (*wait_kind_name[most->kind] != '<')
        snprintf(where, sizeof where, ", mostly at a %s in %s", wait_kind_name[most->kind], name);
    snprintf(text, bytes, "; meanwhile others waited for %s s%s", DECIMAL(sum_ns * 1e-9, 2), where);
}

static void put_blocked(struct inquiry *inquiry, const struct tallied *blocked)
{
    double seconds = blocked->ns * 1e-9;
    const struct awaited *awaited = inquiry->awaited[blocked->row];
    char call[BLOCKED_BYTES], some[64] = "", waiters[3 * NAME_BYTES], wakers[WAKERS_BYTES];
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
                            .dropped_s = metric_value(inquiry->rows, inquiry->rows->row[0].inclusive, METRIC_BLOCKED) -
                                         inquiry->floors.awaiting_s};
    if (blocked->contexts > 1)
        snprintf(some, sizeof some, ", in %u calling contexts", blocked->contexts);
    describe_blocked(call, inquiry->rows, blocked->row, awaited);
    finding.title = format_printable("%s s %s", DECIMAL(seconds, 2), call);
    describe_waiters(inquiry, blocked, waiters, sizeof waiters);
    describe_wakers(inquiry, blocked->row, wakers);
    finding.evidence = format_printable("threads slept in this call%s%s%s", some, wakers, waiters);
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
        uint64_t key, line;
        if (!(ns > 0) || !is_call(&rows->row[i]) || waits_rightly(inquiry, i) || is_told(inquiry, i))
            continue;
        call_key(inquiry, i, &key, &line);
        tally_add_two(&calls, key, line, i, ns);
    }
    for (size_t i = 0; i < calls.count; i++)
        if (finding_is_enough(inquiry, calls.item[i].ns * 1e-9))
            put_blocked(inquiry, &calls.item[i]);
    tally_free(&calls);
}
