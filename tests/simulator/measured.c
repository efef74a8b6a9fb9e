/* The plugin's file beside the oracle. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/profile/read.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/oracle.h"
#include "tests/simulator/run.h"
#include "tests/simulator/stack.h"
#include "tests/simulator/stated.h"
#include "tests/simulator/wakes.h"
#include "tests/simulator/windows.h"
#include "tests/simulator/traced.h"

#define NS             1e-9
#define WINDOWED_SEEDS 4u  /* of so many one has figures of windows, too */
#define FLOATS_NS      1e3 /* what floats may leave of differences */

const char *const metric_name[METRIC_COUNT] = {
    "work",
    "overhead",
    "lock wait here",
    "lock wait",
    "shared idleness",
    "thread idleness",
    "core idleness",
    "idle",
    "parked",
    "no core",
    "blocked",
    "stolen",
    "mpi wait",
    "rank idleness",
    "rank wait",
    "idle without a core",
};

static void fail(struct run *run, const char *format, ...)
{
    va_list arguments;
    if (run->failure[0])
        return;
    va_start(arguments, format);
    vsnprintf(run->failure, sizeof(run->failure), format, arguments);
    va_end(arguments);
}

/* Contexts of the oracle for the profile's nodes; what is not code belongs to the code around it. */
static uint32_t *contexts_of(const struct profile *profile, struct run *run)
{
    uint32_t *contexts = calloc(profile->node_count, sizeof(*contexts));
    for (size_t i = 1; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        uint32_t parent = contexts[node->parent];
        contexts[i] = parent;
        if (node->kind == PROFILE_NODE_FRAME && PROFILE_KEY_MODULE(node->key) != 1)
            fail(run, "a row is of module %u", PROFILE_KEY_MODULE(node->key));
        if (node->kind == PROFILE_NODE_FRAME)
            contexts[i] = context_child(parent, stack_function(PROFILE_KEY_VADDR(node->key)));
        if (node->kind == PROFILE_NODE_PHASE)
            contexts[i] = context_child(parent, CONTEXT_PHASE + (unsigned char)profile_name_of(profile, node)->text[0]);
        bool handoff = node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_HANDOFF;
        if (handoff && parent) /* else: whoever was to take it had released the lock for the last time */
            contexts[i] = oracle_handoff(parent);
        if (node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_NOBODY)
            contexts[i] = context_child(0, CONTEXT_NOBODY);
        if (node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_STOPPED)
            contexts[i] = context_child(0, CONTEXT_STOPPED);
        if (node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_NO_THREAD_RAN)
            contexts[i] = context_child(0, CONTEXT_NO_THREAD);
        bool no_core = node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_NO_CORE;
        if (no_core)
            contexts[i] = oracle_no_core(parent);
        if (node->kind == PROFILE_NODE_LOCK && parent)
            contexts[i] = context_child(parent, CONTEXT_LOCK((PROFILE_LOCK_KEY_ID(node->key) - WAIT_ID(0)) / 64));
        bool lost = node->kind == PROFILE_NODE_PSEUDO &&
                    (node->key == PROFILE_PSEUDO_TRUNCATED || node->key == PROFILE_PSEUDO_UNRESOLVED);
        if (lost && run->ended)
            fail(run, "a context is %s", node->key == PROFILE_PSEUDO_TRUNCATED ? "truncated" : "unresolved");
    }
    return contexts;
}

static void add_metric(double *to, const struct profile *profile, const struct profile_sums *metric)
{
    double own = profile_sums_own(metric);
    to[METRIC_NO_CORE] += metric->no_core;
    to[METRIC_BLOCKED] += metric->blocked;
    to[METRIC_MPI_WAIT] += metric->mpi_wait;
    to[METRIC_RANK_BLAME] += metric->rank_idle;
    to[METRIC_RANK_WAITED] += metric->rank_waited;
    to[METRIC_WORK] += metric->work;
    to[METRIC_OVERHEAD] += metric->overhead;
    to[METRIC_LOCK_HERE] += metric->lock_wait_here;
    to[METRIC_LOCK_WAIT] += metric->lock_wait;
    to[METRIC_SHARED_IDLE] += metric->shared_idle;
    to[METRIC_THREAD_IDLE] += profile->header.threads_max * metric->inverse_busy - own;
    to[METRIC_CORE_IDLE] +=
        profile->header.without_team ? metric->core_idle : profile->header.cores * metric->inverse_busy - own;
}

static double (*sum_metrics(const struct profile *profile, const uint32_t *contexts))[METRIC_COUNT]
{
    double(*sums)[METRIC_COUNT] = calloc(context_count(), sizeof(*sums));
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        if (node->kind == PROFILE_NODE_WAITERS ||
            (node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_BEFORE_START))
            continue;
        for (uint32_t context = contexts[i];; context = context_parent(context)) {
            add_metric(sums[context], profile, &node->metric);
            if (!context)
                break;
        }
    }
    for (size_t i = 0; i < profile->thread_count; i++) {
        sums[0][METRIC_IDLE] += profile->threads[i].idle;
        sums[0][METRIC_PARKED] += profile->threads[i].parked;
        sums[0][METRIC_STOLEN] += profile->threads[i].stolen;
        sums[0][METRIC_IDLE_NO_CORE] += profile->threads[i].idle_no_core;
    }
    return sums;
}

/* The sums of each context, as rows of reports have them. */
static struct profile_sums *rows_of(const struct profile *profile, const uint32_t *contexts)
{
    struct profile_sums *rows = calloc(context_count(), sizeof(*rows));
    for (size_t i = 0; i < profile->node_count; i++)
        for (uint32_t context = contexts[i]; profile->nodes[i].kind != PROFILE_NODE_WAITERS;
             context = context_parent(context)) {
            profile_sums_add(&rows[context], &profile->nodes[i].metric);
            if (!context)
                break;
        }
    return rows;
}

static void name_context(const struct scenario *scenario, uint32_t context, char *name, size_t bytes)
{
    char above[FIGURE_NAME - 24] = "";
    if (!context) {
        name[0] = '\0';
        return;
    }
    name_context(scenario, context_parent(context), above, sizeof(above));
    uint32_t function = context_function(context);
    const char *text = function < scenario->functions ? scenario->function_name[function] : "?";
    char other[16];
    if (function < CONTEXT_LOCK(0))
        snprintf(other, sizeof(other), "%c", (int)(function - CONTEXT_PHASE));
    else
        snprintf(other, sizeof(other), "lock%u", function - CONTEXT_LOCK(0));
    size_t length = strlen(above);
    snprintf(name, bytes, "%s%s%s", length > 40 ? above + length - 40 : above, length ? ">" : "",
             function >= CONTEXT_PHASE ? other : text);
}

/* Times that reports do not show, or show without an error. */
static bool is_never_stated(int number)
{
    return number == METRIC_IDLE || number == METRIC_PARKED || number == METRIC_STOLEN ||
           number == METRIC_RANK_WAITED || number == METRIC_IDLE_NO_CORE;
}

static void add_figure(struct run *run, enum figure_of kind, const char *of, const struct exact *exact, int number,
                       double measured, double stated, double period_ns)
{
    if (run->figure_count == MAX_FIGURES)
        return;
    struct figure *figure = &run->figures[run->figure_count++];
    snprintf(figure->name, sizeof(figure->name), "%.50s %s", of, metric_name[number]);
    figure->exact = exact->value[number] * NS;
    figure->measured = measured * NS;
    figure->stated = stated;
    figure->of = kind;
    if (!isfinite(stated) && kind != FIGURE_WINDOW && !is_never_stated(number))
        fail(run, "no error is stated for %s", figure->name);
    figure->metric = (uint32_t)number;
    figure->samples = exact->heaviest[number] ? fabs(exact->value[number]) / (period_ns * exact->heaviest[number]) : 0;
    double variance = oracle_variance(exact, number, period_ns), one = period_ns * exact->heaviest[number];
    bool many = exact->value[number] * exact->value[number] > 16 * variance; /* so that the error is about normal */
    figure->deviation = sqrt(variance + (many ? 0 : one * one)) * NS;
    bool learns = number == METRIC_CORE_IDLE && machine.scenario->learns_ns;
    if (fabs(measured) > 1 && exact->heaviest[number] == 0 && !machine.scenario->bias && !learns)
        fail(run, "%s is %g s, and nothing was there", figure->name, figure->measured);
}

/* Reports state no error of a pair. */
static void add_wakes(struct run *run, const struct profile *profile, const uint32_t *contexts, double period_ns)
{
    uint32_t count;
    const struct sim_wake *wakes = wakes_all(&count);
    for (uint32_t number = 0; number < count; number++) {
        const struct sim_wake *wake = &wakes[number];
        char name[FIGURE_NAME];
        double measured = 0;
        snprintf(name, sizeof(name), "woken %u by %u", wake->waiter, wake->waker);
        for (size_t i = 0; i < profile->wake_count; i++)
            if (contexts[profile->wakes[i].waiter] == wake->waiter && contexts[profile->wakes[i].waker] == wake->waker)
                measured += profile->wakes[i].ns;
        add_figure(run, FIGURE_WINDOW, name, &wake->exact, METRIC_BLOCKED, measured, INFINITY, period_ns);
    }
}

static void add_places(struct run *run, const struct profile *profile, double period_ns)
{
    for (uint32_t number = 0; number < oracle_place_count(); number++) {
        struct exact exact = oracle_place_exact(number);
        char name[40];
        double measured = 0;
        snprintf(name, sizeof(name), "waiting at %llx", (unsigned long long)oracle_place(number));
        for (size_t i = 0; i < profile->node_count; i++)
            if (profile->nodes[i].kind == PROFILE_NODE_WAITERS && profile->nodes[i].key == oracle_place(number))
                measured += profile->nodes[i].metric.shared_idle;
        add_figure(run, FIGURE_PLACE, name, &exact, METRIC_SHARED_IDLE, measured,
                   stated_error(profile, metric_name[METRIC_SHARED_IDLE], measured * NS, &(struct profile_sums){0}),
                   period_ns);
    }
}

/* The laws of docs/accounting.md that hold in every run, at every moment. */
static void check_laws(const struct profile *profile, struct run *run, double period_ns)
{
    uint64_t delivered = 0, recorded = 0, dropped = 0;
    double here = 0, waits = 0, busy = 0, times = 0, lifetimes = 0, lost = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        delivered += thread->delivered;
        recorded += thread->recorded;
        for (int cause = 0; cause < PROFILE_DROP_REASONS; cause++)
            dropped += thread->dropped[cause];
        waits += thread->lock_wait;
        busy += thread->work + thread->overhead + thread->no_core + thread->blocked + thread->mpi_wait;
        lost += thread->dropped_ns;
        times += thread->work + thread->overhead + thread->no_core + thread->blocked + thread->mpi_wait +
                 thread->lock_wait + thread->idle + thread->dropped_ns;
        uint64_t end_ns = thread->end_ns ? thread->end_ns : thread->last_ns;
        lifetimes += end_ns > thread->begin_ns ? (double)(end_ns - thread->begin_ns) : 0;
        lifetimes += thread->ahead_ns;
    }
    double contexts = 0;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        bool before = node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_BEFORE_START;
        if (node->kind == PROFILE_NODE_WAITERS || before)
            continue;
        contexts += node->metric.work + node->metric.overhead + node->metric.no_core + node->metric.blocked +
                    node->metric.mpi_wait;
        here += node->metric.lock_wait_here;
    }
    if (delivered != recorded + dropped)
        fail(run, "delivered %g != recorded %g + dropped %g", (double)delivered, (double)recorded, (double)dropped);
    if (fabs(contexts - busy) > 1)
        fail(run, "busy time of contexts %.9f s, of threads %.9f s", contexts * NS, busy * NS);
    if (fabs(here - waits) > 1)
        fail(run, "lock wait of contexts %.9f s, of threads %.9f s", here * NS, waits * NS);
    if (*windows_law(profile))
        fail(run, "%s", windows_law(profile));
    /* A sample that is not settled yet is missing where the run was stopped. */
    if (fabs(times - lifetimes) > (run->ended ? 1 : 2) * period_ns * (double)profile->thread_count)
        fail(run, "times %.9f s (%.9f s lost), lifetimes %.9f s", times * NS, lost * NS, lifetimes * NS);
}

/* Without a team nobody counts threads that have no part in it, and no report shows them. */
static bool means_something(int metric)
{
    return metric != METRIC_THREAD_IDLE || !machine.scenario->without_team;
}

/* What is lost around the begin of a wait is divided by guess. */
static double doubt_of(uint32_t context, double period_ns)
{
    return context_function(context) == CONTEXT_NO_CORE ? 2 * period_ns * oracle_threads_most() : 0;
}

static void add_windows(struct run *run, const struct profile *profile, const uint32_t *contexts, double period_ns)
{
    for (uint32_t context = 0; context < context_count() && context < WINDOW_CONTEXTS; context++) {
        for (uint32_t window = 0; window < windows_count(); window++) {
            const struct exact *exact = windows_exact(context, window);
            char name[FIGURE_NAME - 8], of[FIGURE_NAME + 8];
            name_context(machine.scenario, context, name, sizeof(name));
            snprintf(of, sizeof(of), "%u: %s", window, name);
            for (int metric = 0; metric < METRIC_COUNT; metric++) {
                double measured = windows_measured(profile, contexts, context, window, (enum exact_metric)metric);
                if (means_something(metric) && !isnan(measured) &&
                    (fabs(measured) > fmax(FLOATS_NS, doubt_of(context, period_ns)) || exact->heaviest[metric] != 0))
                    add_figure(run, FIGURE_WINDOW, of, exact, metric, measured, INFINITY, period_ns);
            }
        }
    }
}

/* Of all that is no clock's and no process's: equal for equal measurements. */
static uint64_t digest_of(const struct profile *profile, double (*sums)[METRIC_COUNT])
{
    double digest = 0;
    for (uint32_t context = 0; context < context_count(); context++) {
        double path = 1;
        for (uint32_t at = context; at; at = context_parent(at))
            path = path * 31 + context_function(at);
        for (int i = 0; i < METRIC_COUNT; i++)
            digest += fmod(path, 997) * (i + 1) * round(sums[context][i] / 1000);
    }
    return (uint64_t)(int64_t)digest + profile->thread_count;
}

void measured_read(const struct scenario *scenario, const char *path, bool ended, struct run *run)
{
    char error[256];
    run->ended = ended;
    struct profile *profile = profile_read(path, error, sizeof(error));
    if (!profile) {
        fail(run, "%s", error);
        return;
    }
    double period_ns = (double)profile->header.period_ns;
    for (size_t i = 0; i < profile->thread_count; i++)
        period_ns = fmax(period_ns, (double)profile->threads[i].period_ns);
    check_laws(profile, run, period_ns);
    char text[200];
    const char *traced = profile->header.traced ? traced_wrong(profile, ended, text, sizeof(text)) : NULL;
    if (traced)
        fail(run, "%s", traced);
    run->chunks = profile->header.chunk_count;
    if (ended && scenario->chunks && run->chunks > scenario->chunks)
        fail(run, "the file has grown to %u chunks", run->chunks);
    uint32_t *contexts = contexts_of(profile, run);
    windows_begin(scenario->bias || scenario->late_wakes || run->seed % WINDOWED_SEEDS ? NULL : profile);
    double(*sums)[METRIC_COUNT] = sum_metrics(profile, contexts);
    run->digest = digest_of(profile, sums);
    if (profile->header.threads_max + profile->header.threads_untracked != oracle_threads_most() && ended)
        fail(run, "%u threads at most, %u without room, and it were %u", (unsigned)profile->header.threads_max,
             (unsigned)profile->header.threads_untracked, oracle_threads_most());
    if (!ended || scenario->laws_only)
        return;
    const struct exact *exact = oracle_integrate(profile->header.cores, period_ns);
    const struct profile_sums *rows = rows_of(profile, contexts);
    for (uint32_t context = 0; context < context_count(); context++) {
        char name[FIGURE_NAME] = "";
        name_context(scenario, context, name, sizeof(name));
        double doubt_ns = doubt_of(context, period_ns);
        int count = scenario->bias || scenario->late_wakes ? METRIC_IDLE_NO_CORE : METRIC_COUNT;
        for (int i = 0; i < count; i++)
            if (means_something(i) && (exact[context].heaviest[i] != 0 || fabs(sums[context][i]) > fmax(1, doubt_ns)))
                add_figure(run, context ? FIGURE_ROW : FIGURE_TOTAL, name, &exact[context], i, sums[context][i],
                           stated_error(profile, metric_name[i], sums[context][i] * NS, &rows[context]), period_ns);
    }
    add_places(run, profile, period_ns);
    add_wakes(run, profile, contexts, period_ns);
    add_windows(run, profile, contexts, period_ns);
    if (profile->header.threads_max != oracle_threads_most())
        fail(run, "%u threads at most, and it were %u", (unsigned)profile->header.threads_max, oracle_threads_most());
}
