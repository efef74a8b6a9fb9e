/* This file runs in the signal handler, so the rules in sampler.c hold. In the handler, the code uses only
 * the thread's own struct counters and file descriptors. */
#include "ompt_tool/counters/counters.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/os.h"
#include "base/perf_event.h"
#include "cct/arena.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/session/session.h"

/* A thread's counters. They have a mapping of their own that is never unmapped. */
struct counters {
    struct perf_group group, overflow;
    int64_t now[PROFILE_COUNTERS];     /* counter values at the last sample */
    int64_t waiting[PROFILE_COUNTERS]; /* counts since then that have not been booked yet */
    /* sums in the measurement file, one for each enum profile_counters_sum */
    struct profile_counters *sum[3];
};

static uint32_t failure_told;

/* Reports on stderr that counting failed, if no thread has reported a failure before. */
static void counters_report_failure(const char *variable, const char *what)
{
    uint32_t expected = 0;
    int cause = errno;
    if (compare_exchange(&failure_told, &expected, 1))
        log_line(variable, ": ", what, " in one or more threads: ", strerror(cause), NULL);
}

static struct counters *counters_have_record(struct thread *thread)
{
    struct counters *counters = thread->counters;
    if (!counters)
        counters = os_map(sizeof(*counters));
    else
        memset(counters, 0, sizeof(*counters));
    return counters;
}

static bool counters_make_sums(struct thread *thread, struct counters *counters)
{
    for (uint32_t sum = 0; sum < 3; sum++) {
        uint32_t unit_idx = tree_record(&thread->tree);
        if (!unit_idx)
            return false;
        thread->ledger->counters[sum] = unit_idx;
        counters->sum[sum] = arena_unit(unit_idx);
    }
    return true;
}

void counters_attach(struct thread *thread)
{
    if (likely(!counters_plan.count && !counters_plan.sample_period))
        return;
    struct counters *counters = counters_have_record(thread);
    thread->counters = counters;
    if (!counters_plan.count)
        return;
    /* a ledger that several threads share has room for the counter sums of only one thread */
    if (!counters || !thread->ledger->tree || thread->ledger->counters[PROFILE_COUNTERS_TOTAL] ||
        !counters_make_sums(thread, counters) ||
        !perf_group_open(&counters->group, counters_plan.event, counters_plan.events)) {
        thread->ledger->counters_failed = 1;
        counters_report_failure("BLAME_COUNTERS", "nothing is counted");
    }
}

/* Computes the counter values from the kernel's event counts. A counter is the sum of its parts, or its first
 * part minus the others. */
static void counters_combine(const uint64_t *numbers, int64_t *values)
{
    for (uint32_t i = 0; i < counters_plan.count; i++) {
        const struct counters_plan_entry *entry = &counters_plan.entry[i];
        values[i] = (int64_t)numbers[entry->first];
        for (uint32_t part = 1; part < entry->parts; part++) {
            int64_t number = (int64_t)numbers[entry->first + part];
            values[i] += entry->subtract ? -number : number;
        }
    }
}

bool counters_read_all(struct thread *thread, int64_t values[PROFILE_COUNTERS])
{
    uint64_t numbers[PERF_GROUP_EVENTS];
    if (!perf_group_read(&thread->counters->group, numbers))
        return false;
    memset(values, 0, PROFILE_COUNTERS * sizeof(values[0]));
    counters_combine(numbers, values);
    return true;
}

void counters_take_delta(struct thread *thread)
{
    struct counters *counters = thread->counters;
    int64_t now[PROFILE_COUNTERS];
    if (!counters->group.count)
        return;
    if (!counters_read_all(thread, now)) {
        /* the program has closed the descriptor, or the kernel has stopped counting the event */
        thread->ledger->counters_failed = 1;
        return;
    }
    for (uint32_t i = 0; i < counters_plan.count; i++) {
        counters->waiting[i] += now[i] - counters->now[i];
        counters->now[i] = now[i];
        counters->sum[PROFILE_COUNTERS_TOTAL]->value[i] = (double)now[i];
    }
}

static bool counters_any_waiting(const struct counters *counters)
{
    int64_t any = 0;
    for (uint32_t i = 0; i < counters_plan.count; i++)
        any |= counters->waiting[i];
    return any != 0;
}

static void counters_move_waiting(struct counters *counters, struct profile_counters *record)
{
    for (uint32_t i = 0; i < counters_plan.count; i++) {
        record->value[i] += (double)counters->waiting[i];
        counters->waiting[i] = 0;
    }
}

void counters_book_to(struct thread *thread, enum profile_counters_sum sum)
{
    struct counters *counters = thread->counters;
    if (counters->group.count && counters_any_waiting(counters))
        counters_move_waiting(counters, counters->sum[sum]);
}

void counters_book_at(struct thread *thread, uint32_t node_idx)
{
    struct counters *counters = thread->counters;
    if (!counters->group.count || !counters_any_waiting(counters))
        return;
    uint32_t child = tree_child(&thread->tree, node_idx, PROFILE_NODE_COUNTERS, 0);
    void *record = child ? tree_metric(&thread->tree, child) : NULL;
    counters_move_waiting(counters, record ? record : counters->sum[PROFILE_COUNTERS_LOST]);
}

void counters_settle(struct thread *thread)
{
    counters_take(thread);
    counters_book_ledger(thread, PROFILE_COUNTERS_LOST);
}

void counters_detach(struct thread *thread)
{
    if (likely(!thread->counters))
        return;
    perf_group_close(&thread->counters->group);
    perf_group_close(&thread->counters->overflow);
}

void counters_forked(void)
{
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        counters_detach(thread);
}

bool counters_overflow_start(struct thread *thread, int signal)
{
    struct counters *counters = thread->counters;
    if (counters &&
        perf_overflow_open(&counters->overflow, &counters_plan.sample_event, counters_plan.sample_period, signal)) {
        perf_overflow_arm(&counters->overflow);
        return true;
    }
    counters_report_failure("BLAME_SAMPLE", "no samples are taken");
    return false;
}

void counters_overflow_stop(struct thread *thread)
{
    if (thread->counters)
        perf_overflow_stop(&thread->counters->overflow);
}

void counters_overflow_rearm(struct thread *thread)
{
    if (likely(thread->sampling.word && !load_seq_cst(&session.stopping)))
        perf_overflow_arm(&thread->counters->overflow);
}

bool counters_is_own(const struct thread *thread, const siginfo_t *info)
{
    const struct perf_group *overflow = &thread->counters->overflow;
    return overflow->count && info->si_code > 0 && info->si_fd == overflow->fd[0];
}
