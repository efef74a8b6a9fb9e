#include "report/tables/conservation.h"

#include <math.h>

#include "report/rows/make.h"
#include "report/tables/threads.h"

void ledger_sum(const struct profile *profile, struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        ledger->work += thread->work;
        ledger->overhead += thread->overhead;
        ledger->lock_wait += thread->lock_wait;
        ledger->idle += thread->idle;
        ledger->parked += thread->parked;
        ledger->idle_nobody_busy += thread->idle_nobody_busy;
        ledger->dropped_ns += thread->dropped_ns;
        ledger->on_core += thread->on_core_ns;
        ledger->no_core += thread->no_core_ns;
        ledger->no_core_busy += thread->no_core;
        ledger->no_core_sampled += thread->no_core + thread->idle_no_core;
        ledger->blocked += thread->blocked;
        ledger->delivered += thread->delivered;
        ledger->recorded += thread->recorded;
        ledger->paths_truncated += thread->paths_truncated;
        ledger->unrestored_calls += thread->unrestored_calls;
        ledger->creation_walks += thread->creation_walks;
        ledger->creations_lost += thread->creations_lost;
        ledger->frames += thread->frames;
        ledger->recipes_read += thread->recipes_read;
        ledger->decoded_steps += thread->decoded_steps;
        ledger->slow_reads += thread->unwind_slow;
        for (size_t cause = 0; cause < RECIPE_CAUSES; cause++)
            ledger->slow_steps[cause] += thread->slow_steps[cause];
        for (size_t reason = 0; reason < PROFILE_DROP_REASONS; reason++) {
            ledger->dropped_by[reason] += thread->dropped[reason];
            ledger->dropped += thread->dropped[reason];
        }
        /* A thread is not sampled before the tool is there. */
        uint64_t begin = thread->begin_ns, end = thread_end_ns(thread);
        if (begin < profile->header.tool_start_ns)
            begin = profile->header.tool_start_ns;
        double lifetime = end > begin ? (double)(end - begin) : 0;
        if (thread->timer_failed) {
            ledger->unsampled += lifetime;
            ledger->unsampled_threads++;
        } else {
            ledger->lifetime += fmax(0, lifetime - thread->unsignalled_ns);
            ledger->unsignalled += thread->unsignalled_ns;
        }
    }
}

double ledger_taken_s(const struct profile *profile, const struct ledger *ledger)
{
    /* While T threads wait for each other's C cores all of these run them: T - C wait, C run. */
    double cores = profile->header.cores, more = fmax(0, profile->header.threads_max - cores);
    double taken = ledger->no_core - more / cores * ledger->on_core;
    return 100 * taken >= LEDGER_TAKEN_PERCENT * ledger->lifetime ? 1e-9 * fmax(0, taken) : 0;
}

double profile_least_rate(const struct profile *profile)
{
    uint64_t longest_ns = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].period_ns > longest_ns)
            longest_ns = profile->threads[i].period_ns;
    return longest_ns > profile->header.period_ns ? 1e9 / (double)longest_ns : profile->header.rate;
}

double profile_wall_s(const struct profile *profile)
{
    uint64_t start = profile->header.start_ns, end = profile->header.end_ns;
    for (size_t i = 0; i < profile->thread_count && profile->header.end_ns == 0; i++) {
        uint64_t last = thread_end_ns(&profile->threads[i]);
        end = last > end ? last : end;
    }
    return end > start ? (double)(end - start) * 1e-9 : 0;
}

static void add_law(struct conservation_law *laws, size_t *count, const char *name, const char *statement,
                    double left, double right, bool exact)
{
    struct conservation_law *law = &laws[(*count)++];
    double larger = fmax(fabs(left), fabs(right));
    *law = (struct conservation_law){.name = name,
                                     .statement = statement,
                                     .left = left,
                                     .right = right,
                                     .residual = left - right,
                                     .exact = exact};
    law->relative = larger > 0 ? law->residual / larger : 0;
    /* Exact sums differ by the rounding of additions in another order only. */
    law->ok = fabs(law->relative) <= 1e-9;
}

/* The time with something open, by samples and by the clock: of threads whose samples were all recorded. */
static void add_probed(struct conservation_law *laws, size_t *count, const struct profile *profile)
{
    double exact = 0, sampled = 0, variance = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        uint64_t dropped = 0, period = thread->period_ns ? thread->period_ns : profile->header.period_ns;
        for (size_t reason = 0; reason < PROFILE_DROP_REASONS; reason++)
            dropped += reason == PROFILE_DROP_STOPPING ? 0 : thread->dropped[reason];
        if (dropped || thread->timer_failed || thread->unsignalled_ns > 0)
            continue;
        exact += thread->probed_exact;
        sampled += thread->probed_sampled;
        variance += (double)period * fmax(thread->probed_exact, thread->probed_sampled);
    }
    if (profile->header.pauses || profile->header.clock != 0 || !(exact > 0))
        return;
    add_law(laws, count, "probed",
            "time of threads in phases, events and parameters: by their samples = by the clock",
            sampled * 1e-9, exact * 1e-9, false);
    laws[*count - 1].tolerance = 4e-9 * sqrt(variance);
}

size_t conservation_check(const struct profile *profile, const struct rows *rows,
                          struct conservation_law laws[CONSERVATION_LAWS])
{
    const double s = 1e-9, before = (double)profile->header.before_start_ns * s;
    struct ledger ledger;
    struct profile_sums total = {0};
    double thread_idle = 0;
    size_t count = 0;
    ledger_sum(profile, &ledger);
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind != PROFILE_NODE_WAITERS) /* part of their parents' */
            profile_sums_add(&total, &profile->nodes[i].metric);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT)
            thread_idle += metric_value(rows, rows->row[i].exclusive, METRIC_THREAD_IDLENESS);
    double busy = profile_sums_own(&total);
    bool events =
        profile_text(profile, "sample") != NULL; /* samples by overflow: no time, none of idle threads */
    if (profile->header.clock == 0 && !events)
        add_law(laws, &count, "thread_time",
                "work + overhead + lock wait + no core + blocked of all contexts, + idle time + time of dropped "
                "samples = lifetimes of all sampled threads",
                (busy + ledger.idle + ledger.dropped_ns) * s, ledger.lifetime * s, false);
    add_law(laws, &count, "lock_wait", "lock wait blamed on contexts = lock wait of threads",
            total.lock_wait * s, ledger.lock_wait * s, true);
    add_law(laws, &count, "samples", "samples delivered = recorded + dropped", (double)ledger.delivered,
            (double)(ledger.recorded + ledger.dropped), true);
    laws[count - 1].ok = ledger.delivered == ledger.recorded + ledger.dropped;
    add_law(laws, &count, "busy_time",
            "work + overhead + no core + blocked of contexts = work + overhead + no core + blocked of threads",
            (busy - total.lock_wait) * s, (ledger_busy(&ledger) - ledger.lock_wait) * s, true);
    if (events)
        return count;
    add_law(laws, &count, "shared_idle",
            "shared idleness of contexts = idle time of threads in use while a thread was busy",
            total.shared_idle * s, (ledger.idle - ledger.parked - ledger.idle_nobody_busy) * s, false);
    add_law(laws, &count, "thread_idle",
            "thread idleness of contexts = most threads x observed wall time - busy time of threads",
            thread_idle,
            rows->threads * (total.inverse_busy * s + before) -
                ledger_busy(&ledger) * s - before,
            false);
    add_probed(laws, &count, profile);
    return count;
}
