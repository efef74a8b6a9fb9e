/* How much shorter the run can become if one problem is solved. docs/findings.md has the equations, and
 * docs/accounting.md derives them. */
#include "command/findings/rules.h"

#include <math.h>
#include <stdlib.h>

#include "command/profile/job.h"
#include "command/text/memory.h"

/* Calls of the runtime slow the code between them: the processor does not execute instructions ahead across locked ones,
 * and data moves between caches. It executes about 500 instructions ahead, which take 0.1 us; a call for which
 * threads compete takes 0.4 us. */
#define SLOWED_SHARE 0.25

double slowed_by(double calls_s, double work_s)
{
    return fmin(SLOWED_SHARE * calls_s, work_s);
}

static int compare_descending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* Returns the seconds in which the thread worked, executed the runtime or slept. Returns 0 if it is unknown
 * when the thread had a core, because its time then includes time without one. */
static double busy_s(const struct inquiry *inquiry, const struct profile_thread *thread)
{
    bool known = thread->core_source != PROFILE_CORE_NOT_TOLD && profile_wall_s(inquiry->profile) > 0;
    return known ? 1e-9 * (thread->work + thread->overhead + thread->blocked) : 0;
}

/* Returns the variance of these seconds. Each period has one sample, which finds the thread busy or not. */
static double busy_variance(const struct inquiry *inquiry, double seconds)
{
    return seconds > 0 ? inquiry->period_s * seconds * fmax(0, 1 - seconds / profile_wall_s(inquiry->profile)) : 0;
}

/* Returns the least value that a sum of samples can stand for. */
static double least_of(const struct inquiry *inquiry, double seconds, double variance)
{
    double left = fmax(0, seconds);
    return fmax(0, left - ERROR_DEVIATIONS * sqrt(fmin(variance, inquiry->period_s * left)));
}

/* Returns the seconds before the tool's start in which the initial thread had a core or slept. */
static double before_start_s(const struct profile_header *header)
{
    return fmax(0, 1e-9 * ((double)header->before_start_ns - (double)header->before_no_core_ns));
}

void findings_gather_floors(struct inquiry *inquiry)
{
    const struct profile *profile = inquiry->profile;
    struct floors *floors = &inquiry->floors;
    double on_core_s = 0, work_s = 0;
    bool told = true;
    floors->start_s = profile->header.merged ? 0 : before_start_s(&profile->header);
    floors->busy_s = memory_array(profile->thread_count + 1, sizeof *floors->busy_s);
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        double busy = busy_s(inquiry, thread), variance = busy_variance(inquiry, busy);
        floors->busy_s[floors->threads++] = least_of(inquiry, busy, variance);
        floors->sum_s += busy;
        floors->variance += variance;
        floors->slept_s += fmin(busy, 1e-9 * thread->blocked);
        on_core_s += 1e-9 * thread->on_core_ns;
        work_s += 1e-9 * thread->work;
        told &= thread->on_core_ns > 0 || thread->work + thread->overhead == 0;
    }
    floors->runtime_s = told ? fmax(0, on_core_s - least_of(inquiry, work_s, floors->variance)) : INFINITY;
    for (uint32_t i = 1; i < inquiry->rows->count; i++)
        if (waits_for_threads(inquiry, i))
            floors->awaiting_s += 1e-9 * inquiry->rows->row[i].exclusive->blocked;
    qsort(floors->busy_s, floors->threads, sizeof *floors->busy_s, compare_descending);
}

/* Returns the least possible time of the longest thread after `taken_s` seconds are taken from any of the
 * threads: the level to which all longer threads can be cut down together. */
static double longest_thread_s(const struct floors *floors, double taken_s)
{
    double sum_s = -taken_s;
    for (size_t i = 0; i < floors->threads; i++) {
        sum_s += floors->busy_s[i];
        double level_s = sum_s / (double)(i + 1);
        if (i + 1 == floors->threads || level_s >= floors->busy_s[i + 1])
            return fmax(0, level_s);
    }
    return 0;
}

/* Returns the seconds that the run takes at least, however the remaining work is divided. */
static double least_run_s(const struct inquiry *inquiry, const struct relief *relief)
{
    const struct floors *floors = &inquiry->floors;
    double ranks = (double)job_ranks(inquiry->profile), threads = fmax(1, inquiry->threads);
    /* a program that is linked with a runtime but has no region: its own threads share the work */
    if (inquiry->profile->header.regions == 0 && !inquiry->profile->header.merged)
        threads = fmax(threads, (double)floors->threads);
    double cores = inquiry->cores >= 1 ? fmin(inquiry->cores, threads) : threads;
    double gone_s = relief->spent_s + relief->slowed_s + relief->dropped_s;
    double awake_s = least_of(inquiry, floors->sum_s - floors->slept_s - gone_s, floors->variance);
    gone_s += floors->awaiting_s;
    double longest_s = longest_thread_s(floors, relief->moved_s + gone_s);
    double by_cores_s = awake_s / cores / ranks;
    double by_threads_s = least_of(inquiry, floors->sum_s - gone_s, floors->variance) / threads / ranks;
    double start_s = fmax(0, floors->start_s - relief->start_s);
    return start_s + fmax(longest_s, fmax(by_cores_s, by_threads_s));
}

/* Returns the seconds by which the run is shorter if the waiting and the overhead are gone and all other
 * times stay as they are. */
static double cost_s(const struct inquiry *inquiry, const struct relief *relief)
{
    double wall_s = profile_wall_s(inquiry->profile), ranks = (double)job_ranks(inquiry->profile);
    /* on average; without those that wait for other threads */
    double awaiting = wall_s > 0 ? inquiry->floors.awaiting_s / wall_s / ranks : 0;
    double threads = fmax(1, inquiry->threads - awaiting);
    double cores = inquiry->cores >= 1 ? fmin(inquiry->cores, threads) : threads;
    double idle_to_wall = threads > 1 ? (1 - 1 / cores) / (threads - 1) : 0;
    double asleep_s = fmin(relief->asleep_s, relief->idle_s), spent_s = relief->spent_s + relief->slowed_s;
    double cost = (relief->idle_s - asleep_s) * idle_to_wall + asleep_s / threads;
    double on_cores_s = fmin(relief->spent_s, relief->not_runtime ? INFINITY : inquiry->floors.runtime_s);
    double paid = relief->waited_s / threads +
                  fmax((on_cores_s + relief->slowed_s) / cores, (spent_s + relief->lost_s) / threads);
    cost += paid * (1 + relief->error_share);
    if (relief->idle_follows)
        cost = fmin(cost, relief->waited_s + spent_s + relief->lost_s);
    return cost / ranks + relief->wall_s;
}

double bound_of(const struct inquiry *inquiry, const struct relief *relief)
{
    double cost = cost_s(inquiry, relief), wall_s = profile_wall_s(inquiry->profile);
    return wall_s > 0 ? fmax(0, fmin(cost, wall_s - least_run_s(inquiry, relief))) : cost;
}

double waited_without_core_s(const struct profile *profile)
{
    double without = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        double waited = thread->idle + thread->lock_wait + thread->mpi_wait;
        if (waited > 0)
            without += fmin(waited, thread->idle_no_core * waited / (waited + thread->blocked));
    }
    return 1e-9 * without;
}
