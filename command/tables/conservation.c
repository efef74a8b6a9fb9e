#include "command/tables/conservation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_trace.h"
#include "cct/profile_tree.h"
#include "command/rows/error.h"
#include "command/rows/make.h"
#include "command/tables/ranks.h"
#include "command/tables/threads.h"
#include "command/text/memory.h"

#define NO_CORE       "no_core"
#define RANK_IDLENESS "rank_idleness"
#define CORE_IDLENESS "core_idleness"
#define TIMELINE      "timeline_" /* prefix of the names of laws about the timeline */
#define NOBODY_SHARE  0.01        /* smallest share of the effort that ledger_nobody_s() reports */

void ledger_sum(const struct profile *profile, struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        ledger->work += thread->work;
        ledger->overhead += thread->overhead;
        ledger->lock_wait += thread->lock_wait;
        ledger->lock_wait_counted += thread->lock_wait_counted;
        ledger->idle += thread->idle;
        ledger->parked += thread->parked;
        ledger->idle_nobody_busy += thread->idle_nobody_busy;
        ledger->dropped_ns += thread->dropped_ns;
        ledger->ahead += thread->ahead_ns;
        ledger->on_core += thread->on_core_ns;
        ledger->no_core += thread->no_core_ns;
        ledger->no_core_busy += thread->no_core;
        ledger->no_core_sampled += thread->no_core - thread->stolen + thread->idle_no_core;
        ledger->stolen += thread->stolen;
        ledger->blocked += thread->blocked;
        ledger->mpi_wait += thread->mpi_wait;
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
        ledger->lifetime += profile_thread_sampled_ns(profile, thread);
        if (thread->timer_failed) {
            ledger->unsampled += profile_thread_life_ns(profile, thread);
            ledger->unsampled_threads++;
        } else {
            ledger->unsignalled += thread->unsignalled_ns;
        }
    }
}

double ledger_nobody_s(const struct profile *profile, double effort_s)
{
    struct ledger ledger;
    ledger_sum(profile, &ledger);
    double seconds = ledger.idle_nobody_busy * 1e-9;
    return !profile->tree && seconds >= NOBODY_SHARE * effort_s ? seconds : 0;
}

double ledger_taken_s(const struct profile *profile, const struct ledger *ledger)
{
    /* If T threads of the program share C cores, C threads run at any time and T - C wait for a core. */
    double cores = profile->header.cores, more = fmax(0, profile->header.threads_max - cores);
    double taken = ledger->no_core - more / cores * ledger->on_core;
    return 100 * taken >= LEDGER_TAKEN_PERCENT * ledger->lifetime ? 1e-9 * fmax(0, taken) : 0;
}

/* List of a run's laws, to which law_list_add() appends. */
struct law_list {
    struct conservation_law *law;
    size_t count;
};

/* Adds a law and computes its residual. The caller sets name, statement, sides and tolerance. A tolerance of
 * 0 makes the law exact: its sides may differ only because numbers were added in different orders. */
static struct conservation_law *law_list_add(struct law_list *laws, struct conservation_law added)
{
    struct conservation_law *law = &laws->law[laws->count++];
    double larger = fmax(fabs(added.left), fabs(added.right));
    *law = added;
    law->residual = law->left - law->right;
    law->exact = law->tolerance == 0;
    law->relative = larger > 0 ? law->residual / larger : 0;
    law->ok = fabs(law->residual) <= fmax(law->tolerance, 1e-9 * larger);
    return law;
}

/* Returns the tolerance, in s, for the ends of threads. Each thread's time is wrong by less than a period,
 * with a standard deviation of half a period. */
static double law_tolerance_of_thread_ends(const struct error_terms *error, size_t threads)
{
    return error->period * fmin((double)threads, 0.5 * ERROR_NEVER * sqrt((double)threads));
}

/* Returns the tolerance, in s, for idleness. Samples of workers and samples of idle threads have independent
 * errors. */
static double law_tolerance_of_idleness(const struct error_terms *error, double idle_s)
{
    return ERROR_NEVER * sqrt(error_variance(error, METRIC_SHARED_IDLENESS, idle_s, ERROR_ALONE) +
                              error_variance(error, METRIC_WORK, idle_s, ERROR_ALONE));
}

/* Compares two measures of the time in open phases, events and parameters: by samples, and by the clock.
 * Includes only threads whose samples were all recorded. */
static void conservation_add_probed(struct law_list *laws, const struct profile *profile)
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
    law_list_add(laws,
                 (struct conservation_law){
                     .name = "probed",
                     .statement = "time of threads in phases, events and parameters: by their samples = by the clock",
                     .left = sampled * 1e-9,
                     .right = exact * 1e-9,
                     .tolerance = ERROR_NEVER * 1e-9 * sqrt(variance)});
}

/* Returns an upper bound, in s, on a thread's waits for a core that samples do not see. A traced program
 * (strace) stops at each system call and then waits for a core. The kernel counts that wait. It is too short
 * for samples, which find the thread asleep or idle. */
static double law_waits_after_stops_s(const struct profile *profile, const struct profile_thread *thread)
{
    return profile_text(profile, "traced_by") ? 1e-9 * (thread->blocked + thread->idle) : 0;
}

/* Compares two measures of the time without a core: by samples, and by the kernel's count. Time that a
 * hypervisor took is left out, because the kernel does not count it. Includes only threads whose samples
 * could show missing cores and whose kernel count was read at their end, which a killed program does not do. */
static void conservation_add_no_core(struct law_list *laws, const struct profile *profile,
                                     const struct error_terms *error)
{
    double sampled = 0, counted = 0, unknown = 0;
    size_t threads = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->core_source == PROFILE_CORE_NOT_TOLD || thread->timer_failed || !(thread->on_core_ns > 0))
            continue;
        threads++;
        sampled += 1e-9 * (thread->no_core - thread->stolen + thread->idle_no_core);
        counted += 1e-9 * (thread->no_core_ns - thread->no_core_dropped_ns);
        unknown += error->period * (double)thread->core_unasked + law_waits_after_stops_s(profile, thread);
    }
    if (threads)
        law_list_add(laws, (struct conservation_law){
                               .name = NO_CORE,
                               .statement = "time of threads without a core: by their samples = by the kernel's count",
                               .left = sampled,
                               .right = counted,
                               .tolerance = ERROR_NEVER * sqrt(error_variance(error, METRIC_NO_CORE,
                                                                              fmax(sampled, counted), ERROR_ALONE)) +
                                            law_tolerance_of_thread_ends(error, threads) + unknown});
}

/* Compares rank idleness, which comes from samples of busy ranks, with MPI wait, which comes from samples of
 * waiting ranks. */
static void conservation_add_ranks(struct law_list *laws, const struct profile *profile,
                                   const struct profile_sums *total, const struct error_terms *error)
{
    double blamed = 1e-9 * total->rank_idle, waited = 1e-9 * total->rank_waited, most = fmax(blamed, waited);
    if (ranks_saw_each_other(profile))
        law_list_add(
            laws,
            (struct conservation_law){
                .name = RANK_IDLENESS,
                .statement = "rank idleness of contexts = mpi wait of ranks while another rank of their node was busy",
                .left = blamed,
                .right = waited,
                .tolerance = ERROR_NEVER * sqrt(error_variance(error, METRIC_RANK_IDLENESS, most, ERROR_ALONE) +
                                                error_variance(error, METRIC_MPI_WAIT, most, ERROR_ALONE))});
}

#define BINS_TOLERANCE 1e-4 /* relative tolerance for a sum of bins, because bins are floats */

struct sides {
    double left, right;
};

/* Combines several sums, each of which must hold, into one law, and returns its two sides and its tolerance.
 * If all sums hold, the sides are their totals; otherwise they are the sides of the sum that is furthest off.
 * `beside` is the largest difference that a sum may have in addition to rounding. */
static struct conservation_law law_of_bins(const struct sides *sums, size_t sum_count, double beside)
{
    struct sides all = {0}, worst = {0};
    double furthest = 0;
    for (size_t i = 0; i < sum_count; i++) {
        double beyond = fabs(sums[i].left - sums[i].right) - beside -
                        BINS_TOLERANCE * fmax(fabs(sums[i].left), fabs(sums[i].right));
        worst = beyond > furthest ? sums[i] : worst;
        furthest = fmax(beyond, furthest);
        all.left += sums[i].left;
        all.right += sums[i].right;
    }
    struct sides shown = furthest > 0 ? worst : all;
    return (struct conservation_law){.left = shown.left,
                                     .right = shown.right,
                                     .tolerance = beside + BINS_TOLERANCE * fmax(fabs(shown.left), fabs(shown.right))};
}

static void conservation_add_timeline(struct law_list *laws, const struct profile *profile, const struct ledger *ledger,
                                      const struct profile_sums *total)
{
    const double s = 1e-9;
    double in_bins[PROFILE_TIME_STATES];
    struct timeline_sum cells = timeline_sum_cells(&profile->timeline);
    timeline_sum_lanes(&profile->timeline, in_bins);
    /* samples that are in only one of the two sums because the program still runs or was killed; then, time
     * for which no bins were left */
    double beside =
        profile->header.finished ? 0 : s * (double)profile->header.period_ns * (double)profile->thread_count;
    beside += s * (double)profile->header.timeline_lost_ns * profile->header.threads_max;
    const struct sides states[] = {
        {s * in_bins[PROFILE_TIME_WORK], s * ledger->work},
        {s * in_bins[PROFILE_TIME_OVERHEAD], s * ledger->overhead},
        {s * in_bins[PROFILE_TIME_IDLE], s * ledger->idle},
        {s * in_bins[PROFILE_TIME_LOCK_WAIT], s * ledger->lock_wait},
        {s * in_bins[PROFILE_TIME_MPI_WAIT], s * ledger->mpi_wait},
        {s * in_bins[PROFILE_TIME_NO_CORE], s * ledger->no_core_busy},
        {s * (in_bins[PROFILE_TIME_BLOCKED] + in_bins[PROFILE_TIME_STOPPED]), s * ledger->blocked}};
    const struct sides contexts[] = {{s * cells.own, s * (profile_sums_own(total) - total->lock_wait)},
                                     {s * cells.inverse_busy, s * total->inverse_busy},
                                     {s * cells.shared_idle, s * total->shared_idle},
                                     {s * cells.lock_wait, s * total->lock_wait}};
    struct conservation_law of_states = law_of_bins(states, sizeof states / sizeof *states, beside);
    of_states.name = TIMELINE "states";
    of_states.statement = "time of threads by state: the bins of the timeline = their ledgers";
    law_list_add(laws, of_states);
    struct conservation_law of_contexts = law_of_bins(contexts, sizeof contexts / sizeof *contexts, beside);
    of_contexts.name = TIMELINE "contexts";
    of_contexts.statement = "time of contexts and blame on them: the bins of the timeline = their sums";
    law_list_add(laws, of_contexts);
}

/* Returns the greatest number of threads that may wait for one. */
static double law_other_threads(const struct profile *profile)
{
    double others = (double)profile->header.threads_max - 1;
    for (size_t i = 0; i < profile->thread_count; i++)
        others += profile->threads[i].kind == PROFILE_THREAD_HELPER;
    return others;
}

/* Checks for each context that at most n - 1 of n threads wait for the thread that executes the context.
 * (While nobody is busy, they wait for a thread that no sample knows: <no core> below the root.) The right
 * side is the idleness, limited to this bound. The law does not apply to files from before version 0.3, which
 * book idleness and time in different contexts if cores are missing (own_elsewhere). */
static void conservation_add_bound(struct law_list *laws, const struct profile *profile)
{
    double idle_ns = 0, possible_ns = 0, others = law_other_threads(profile);
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct profile_sums *sums = &profile->nodes[i].metric;
        if (sums->own_elsewhere != 0)
            return;
        bool nobody_busy = i && profile->nodes[i].parent == 0 && profile->nodes[i].kind == PROFILE_NODE_PSEUDO &&
                           profile->nodes[i].key == PROFILE_PSEUDO_NO_CORE;
        if (nobody_busy || profile->nodes[i].kind == PROFILE_NODE_WAITERS)
            continue;
        idle_ns += sums->shared_idle;
        possible_ns += fmin(sums->shared_idle, others * profile_sums_own(sums));
    }
    law_list_add(
        laws,
        (struct conservation_law){
            .name = "idleness_bound",
            .statement = "idleness blamed on each context <= (most threads - 1) x time of threads in that context",
            .left = idle_ns * 1e-9,
            .right = possible_ns * 1e-9,
            /* one thread may end, and another begin, while a census reads the lines */
            .tolerance = 1e-9 * (double)profile->header.period_ns});
}

/* Returns the time, in ns, for which the process had a thread that was sampled. */
static double law_observed_ns(const struct profile *profile)
{
    double begin_ns = INFINITY, end_ns = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        double end = (double)profile_thread_end_ns(&profile->threads[i]);
        begin_ns = fmin(begin_ns, end - profile_thread_life_ns(profile, &profile->threads[i]));
        end_ns = fmax(end_ns, end);
    }
    return fmax(0, end_ns - begin_ns - (double)profile->header.paused_ns - profile->stopped_ns);
}

/* Checks for a program without a team that each core either had a thread or is counted as idle. */
static void conservation_add_cores(struct law_list *laws, const struct profile *profile, const struct ledger *ledger,
                                   const struct profile_sums *total, const struct error_terms *error)
{
    const struct profile_header *header = &profile->header;
    double capacity_s = 1e-9 * header->cores * law_observed_ns(profile);
    if (!header->without_team || header->merged || header->threads_untracked || profile->tree || ledger->unsampled > 0)
        return;
    law_list_add(
        laws,
        (struct conservation_law){
            .name = CORE_IDLENESS,
            .statement = "core idleness of contexts = cores x observed wall time - time of threads that ran or were "
                         "ready + time of those beyond the cores",
            .left = 1e-9 * total->core_idle,
            .right =
                capacity_s - 1e-9 * (ledger_busy(ledger) - ledger->lock_wait - ledger->blocked - total->core_beyond),
            .tolerance = ERROR_NEVER * sqrt(error_variance(error, METRIC_CORE_IDLENESS, capacity_s, ERROR_ALONE)) +
                         header->cores * law_tolerance_of_thread_ends(error, profile->thread_count)});
}

/* Returns the context to which a node belongs, for lock wait: a LOCK node's parent, or the context that has the
 * pseudo node. */
static size_t law_context_of(const struct profile *profile, size_t node)
{
    while (node && (profile->nodes[node].kind == PROFILE_NODE_LOCK || profile->nodes[node].kind == PROFILE_NODE_PSEUDO))
        node = profile->nodes[node].parent;
    return node;
}

/* Returns the lock wait blamed at the node, without that for locks of POSIX threads: their holders may be threads
 * that are not measured. */
static double law_lock_wait(const struct merged_node *node)
{
    bool posix = node->kind == PROFILE_NODE_LOCK && PROFILE_LOCK_KEY_KIND(node->key) > PROFILE_LOCK_ORDERED;
    return posix ? 0 : node->metric.lock_wait;
}

/* Checks for each context that at most n - 1 of n threads wait for the locks of the thread that executes the
 * context. That is exact for the lock wait that samples of holders book in the context that they find. The rest is
 * the tolerance: lock wait that a holder's later context takes, or that passes from one owner to the next. But a
 * thread that is alone has no lock wait. */
static void conservation_add_lock_bound(struct law_list *laws, const struct profile *profile,
                                        const struct ledger *ledger)
{
    double others = law_other_threads(profile), wait_ns = 0, possible_ns = 0;
    struct bound {
        double wait, time;
    } *contexts = memory_array(profile->node_count, sizeof *contexts);
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct profile_sums *sums = &profile->nodes[i].metric;
        struct bound *context = &contexts[law_context_of(profile, i)];
        if (profile->nodes[i].kind == PROFILE_NODE_WAITERS)
            continue;
        context->wait += law_lock_wait(&profile->nodes[i]);
        context->time += profile_sums_own(sums) - sums->lock_wait + sums->lock_wait_here;
    }
    for (size_t i = 0; i < profile->node_count; i++) {
        wait_ns += contexts[i].wait;
        possible_ns += fmin(contexts[i].wait, others * contexts[i].time);
    }
    free(contexts);
    double rest_ns = others > 0 ? fmax(0, wait_ns - ledger->lock_wait_counted) : 0;
    if (profile->tree || wait_ns <= rest_ns)
        return;
    law_list_add(laws, (struct conservation_law){
                           .name = "lock_bound",
                           .statement = "lock wait blamed on each context <= (most threads - 1) x time of threads in "
                                        "that context",
                           .left = wait_ns * 1e-9,
                           .right = possible_ns * 1e-9,
                           .tolerance = 1e-9 * ((double)profile->header.period_ns + rest_ns)});
}

/* Finds the cause of a failed law. If time of one thread is missing, every other thread may seem idle for as
 * long. The same holds for ranks. Missing cores explain neither an error in the time without a core nor an
 * error in the ranks' waiting for each other. */
static void law_explain_residual(struct conservation_law *law, const struct ledger *ledger,
                                 const struct profile *profile, double threads)
{
    bool of_ranks = strcmp(law->name, RANK_IDLENESS) == 0;
    double beyond = fabs(law->residual) - law->tolerance;
    bool of_core = strcmp(law->name, NO_CORE) == 0; /* a lost sample changes only its own thread's time */
    double others = of_core ? 1 : fmax(1, (of_ranks ? (double)profile->rank_count : threads) - 1);
    double lost_s = ledger->dropped_ns * 1e-9, no_core_s = of_ranks || of_core ? 0 : ledger->no_core * 1e-9;
    if (law->ok)
        return;
    /* lost samples change both sides of these laws by the same amount */
    bool of_bins = strncmp(law->name, TIMELINE, strlen(TIMELINE)) == 0;
    const char *otherwise = profile->header.snapshot ? LAW_COPIED : LAW_UNEXPLAINED;
    const char *inexact = profile_text(profile, "traced_by") ? LAW_TRACED : otherwise;
    if (strcmp(law->name, CORE_IDLENESS) == 0 && threads > 1 &&
        beyond <= profile->header.cores * ledger->blocked * 1e-9)
        inexact = LAW_SLEEPS;
    law->cause = law->exact || of_bins          ? otherwise
                 : beyond <= others * lost_s    ? LAW_LOST
                 : beyond <= others * no_core_s ? LAW_NO_CORE
                                                : inexact;
}

/* Checks that the trace of a whole run is complete. In a killed run, the trace lacks the samples of threads
 * that were inside the tool at the end. */
static void conservation_add_trace(struct law_list *laws, const struct profile *profile, const struct ledger *ledger)
{
    const struct profile_header *header = &profile->header;
    if (header->traced == PROFILE_TRACED_WHOLE && header->finished && !profile->tree && !header->merged)
        law_list_add(laws, (struct conservation_law){
                               .name = "trace",
                               .statement = "samples in the trace + samples thinned out = samples recorded",
                               .left = (double)(profile->trace_samples + header->trace_thinned),
                               .right = (double)ledger->recorded});
}

/* Returns the time, in s, of samples that a killed or copied process may have booked in contexts but not yet
 * in its threads' ledgers, which are written last. If the time is 0, the law is exact. */
static double law_half_booked_s(const struct profile *profile)
{
    uint64_t cut_off_ns = 0;
    for (size_t i = 0; i < profile->thread_count && !profile->header.finished; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        cut_off_ns +=
            thread->dropped[PROFILE_DROP_CUT_OFF] * (thread->period_ns ? thread->period_ns : profile->header.period_ns);
    }
    return 1e-9 * (double)cut_off_ns * (1 + 1e-6);
}

/* Returns the tolerance, in s, for waiting for locks. Samples of the locks' holders count the waiters, and their
 * errors are independent of those of the waiters' own samples. With samples by CPU time or events, only the
 * waiters' samples count. */
static double law_tolerance_of_lock_wait(const struct profile *profile, const struct error_terms *error, double wait_s)
{
    if (profile->header.clock != 0 || profile_text(profile, "sample") || error->threads < 2)
        return 0;
    return ERROR_NEVER * sqrt(error_variance(error, METRIC_LOCK_WAIT, wait_s, ERROR_ALONE) +
                              error_variance(error, METRIC_WORK, wait_s, ERROR_ALONE));
}

/* Adds the laws that compare the totals of contexts and of threads. */
static void conservation_add_sums(struct law_list *laws, const struct profile *profile, const struct error_terms *error,
                                  const struct ledger *ledger, const struct profile_sums *total)
{
    const double s = 1e-9, wait_s = fmax(total->lock_wait, ledger->lock_wait) * s;
    law_list_add(laws, (struct conservation_law){.name = "lock_wait",
                                                 .statement = "lock wait blamed on contexts = lock wait of threads",
                                                 .left = total->lock_wait * s,
                                                 .right = ledger->lock_wait * s,
                                                 .tolerance = law_tolerance_of_lock_wait(profile, error, wait_s)});
    law_list_add(laws, (struct conservation_law){.name = "samples",
                                                 .statement = "samples delivered = recorded + dropped",
                                                 .left = (double)ledger->delivered,
                                                 .right = (double)(ledger->recorded + ledger->dropped)})
        ->ok = ledger->delivered == ledger->recorded + ledger->dropped;
    law_list_add(laws,
                 (struct conservation_law){
                     .name = "busy_time",
                     .statement = "work + overhead + no core + blocked + mpi wait of contexts = the same of threads",
                     .left = (profile_sums_own(total) - total->lock_wait) * s,
                     .right = (ledger_busy(ledger) - ledger->lock_wait) * s,
                     .tolerance = law_half_booked_s(profile)});
}

/* Adds the laws about the idleness of threads. They apply only if a clock triggers the samples. */
static void conservation_add_idleness(struct law_list *laws, const struct profile *profile, const struct rows *rows,
                                      const struct ledger *ledger, const struct profile_sums *total)
{
    const double s = 1e-9, before_s = (double)profile->header.before_start_ns * s, shared_s = total->shared_idle * s;
    const struct error_terms bound = error_terms_bound(&rows->error);
    double idle_s = (ledger->idle - ledger->parked - ledger->idle_nobody_busy) * s, thread_idle = 0;
    struct profile_sums lost, early = profile_sums_before_start(&profile->header, &lost);
    double capacity_s = rows->threads * (total->inverse_busy + early.inverse_busy + lost.inverse_busy) * s;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT)
            thread_idle += metric_value(rows, rows->row[i].exclusive, METRIC_THREAD_IDLENESS);
    law_list_add(
        laws,
        (struct conservation_law){
            .name = "shared_idle",
            .statement = "shared idleness of contexts = idle time of threads in use while a thread was busy or ready",
            .left = shared_s,
            .right = idle_s,
            .tolerance = law_tolerance_of_idleness(&bound, fmax(idle_s, shared_s))});
    /* exact, but the right side may be a small difference of large numbers */
    law_list_add(
        laws, (struct conservation_law){
                  .name = "thread_idle",
                  .statement = "thread idleness of contexts = most threads x observed wall time - busy time of threads",
                  .left = thread_idle,
                  .right = capacity_s - (ledger_busy(ledger) - ledger->lock_wait + total->lock_wait) * s - before_s,
                  .tolerance = 1e-9 * fmax(capacity_s, 1)});
}

size_t conservation_check(const struct profile *profile, const struct rows *rows,
                          struct conservation_law laws[CONSERVATION_LAWS])
{
    const double s = 1e-9;
    const struct error_terms bound = error_terms_bound(&rows->error), *error = &bound;
    struct ledger ledger;
    struct profile_sums total = {0};
    struct law_list list = {.law = laws};
    ledger_sum(profile, &ledger);
    for (size_t i = 0; i < profile->node_count; i++)
        /* the sums of WAITERS nodes are contained in their parents' sums */
        if (profile->nodes[i].kind != PROFILE_NODE_WAITERS)
            profile_sums_add(&total, &profile->nodes[i].metric);
    /* samples triggered by a counter's overflow measure neither time nor idle threads */
    bool events = profile_text(profile, "sample") != NULL;
    if (profile->header.clock == 0 && !events)
        law_list_add(&list, (struct conservation_law){
                                .name = "thread_time",
                                .statement = "work + overhead + no core + blocked + mpi wait of all contexts, + lock "
                                             "wait + idle time + time of dropped samples of threads = lifetimes of "
                                             "all sampled threads + what their renewed periods count twice",
                                .left = (profile_sums_own(&total) - total.lock_wait + ledger.lock_wait + ledger.idle +
                                         ledger.dropped_ns) *
                                        s,
                                .right = (ledger.lifetime + ledger.ahead) * s,
                                .tolerance = law_tolerance_of_thread_ends(error, profile->thread_count)});
    conservation_add_sums(&list, profile, error, &ledger, &total);
    if (!events) {
        conservation_add_idleness(&list, profile, rows, &ledger, &total);
        conservation_add_bound(&list, profile);
        conservation_add_lock_bound(&list, profile, &ledger);
        conservation_add_probed(&list, profile);
        conservation_add_no_core(&list, profile, error);
        conservation_add_cores(&list, profile, &ledger, &total, error);
        conservation_add_ranks(&list, profile, &total, error);
    }
    if (profile->timeline.bins && !profile->timeline.without && !profile->tree)
        conservation_add_timeline(&list, profile, &ledger, &total);
    conservation_add_trace(&list, profile, &ledger);
    for (size_t i = 0; i < list.count; i++)
        law_explain_residual(&laws[i], &ledger, profile, rows->threads);
    return list.count;
}
