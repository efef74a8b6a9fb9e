#include "tests/simulator/windows.h"

#include <math.h>
#include <stdio.h>

#include "cct/profile_tree.h"

#define TOLERANCE 1e-4 /* of a sum: bins are floats */

static struct {
    uint64_t origin_ns, width_ns; /* 0: none */
    uint32_t bins;                /* of contexts, in each */
    struct exact exact[WINDOW_CONTEXTS][WINDOWS];
} windows;

void windows_begin(const struct profile *profile)
{
    windows.width_ns = 0;
    if (!profile || !profile->timeline.bins)
        return;
    windows.bins = profile->timeline.bins / WINDOWS + 1;
    windows.origin_ns = profile->timeline.origin_ns;
    windows.width_ns = windows.bins * profile->timeline.bin_ns;
}

uint32_t windows_count(void)
{
    return windows.width_ns ? WINDOWS : 0;
}

struct weighed windows_weighed(const double weight[METRIC_COUNT])
{
    struct weighed weighed = {0};
    for (int i = 0; i < METRIC_COUNT; i++)
        if (weight[i] != 0)
            weighed.metric[weighed.count++] = i;
    return weighed;
}

void windows_add(uint32_t context, const double *weight, const struct weighed *weighed, uint64_t begin_ns,
                 uint64_t end_ns)
{
    if (!windows.width_ns || context >= WINDOW_CONTEXTS)
        return;
    for (uint64_t at_ns = begin_ns, next_ns; at_ns < end_ns; at_ns = next_ns) {
        uint64_t after_ns = at_ns > windows.origin_ns ? at_ns - windows.origin_ns : 0,
                 window = after_ns / windows.width_ns;
        struct exact *exact = &windows.exact[context][window < WINDOWS ? window : WINDOWS - 1];
        uint64_t window_end_ns = windows.origin_ns + (window + 1) * windows.width_ns;
        next_ns = window_end_ns < end_ns ? window_end_ns : end_ns;
        for (int at = 0; at < weighed->count; at++) {
            int i = weighed->metric[at];
            exact->value[i] += weight[i] * (double)(next_ns - at_ns);
            exact->squares[i] += weight[i] * weight[i] * (double)(next_ns - at_ns);
            if (fabs(weight[i]) > exact->heaviest[i])
                exact->heaviest[i] = fabs(weight[i]);
        }
    }
}

const struct exact *windows_exact(uint32_t context, uint32_t window)
{
    return &windows.exact[context][window];
}

static const int state_of[METRIC_COUNT] = {
    [METRIC_WORK] = 1 + PROFILE_TIME_WORK,           [METRIC_OVERHEAD] = 1 + PROFILE_TIME_OVERHEAD,
    [METRIC_LOCK_HERE] = 1 + PROFILE_TIME_LOCK_WAIT, [METRIC_IDLE] = 1 + PROFILE_TIME_IDLE,
    [METRIC_NO_CORE] = 1 + PROFILE_TIME_NO_CORE,     [METRIC_BLOCKED] = 1 + PROFILE_TIME_BLOCKED,
    [METRIC_MPI_WAIT] = 1 + PROFILE_TIME_MPI_WAIT,
};

static double lanes_measured(const struct timeline *timeline, uint32_t window, uint32_t state)
{
    double sum = 0;
    for (size_t lane = 0; lane < timeline->lane_count; lane++)
        for (uint32_t bin = 0; bin < timeline->lane_bins; bin++)
            if (bin * timeline->lane_bin_ns / windows.width_ns == window)
                sum += timeline->lanes[lane].ns[bin][state];
    return sum;
}

static bool is_below(uint32_t context, uint32_t above)
{
    while (context && context != above)
        context = context_parent(context);
    return context == above;
}

double windows_measured(const struct profile *profile, const uint32_t *contexts, uint32_t context, uint32_t window,
                        enum exact_metric metric)
{
    const struct timeline *timeline = &profile->timeline;
    double sum = 0;
    if (context == 0 && state_of[metric])
        return lanes_measured(timeline, window, (uint32_t)state_of[metric] - 1) +
               (metric == METRIC_BLOCKED ? lanes_measured(timeline, window, PROFILE_TIME_STOPPED) : 0);
    bool claimed = windows.exact[0][window].value[METRIC_LOCK_WAIT] == 0 &&
                   (metric == METRIC_SHARED_IDLE || metric == METRIC_THREAD_IDLE);
    for (size_t i = 0; i < timeline->cell_count && claimed; i++) {
        const struct profile_time_value *value = &timeline->cells[i].value;
        if (timeline->cells[i].bin / windows.bins != window || !is_below(contexts[timeline->cells[i].node], context))
            continue;
        sum += metric == METRIC_SHARED_IDLE ? (double)value->shared_idle
                                            : profile->header.threads_max * (double)value->inverse_busy -
                                                  (double)value->own - (double)value->lock_wait;
    }
    return claimed ? sum : NAN;
}

static bool differ(double a, double b)
{
    return fabs(a - b) > TOLERANCE * fmax(fabs(a), fabs(b)) + 1;
}

const char *windows_law(const struct profile *profile)
{
    static char wrong[128];
    double state[PROFILE_TIME_STATES], ledgers[PROFILE_TIME_STATES] = {0};
    struct timeline_sum cells = timeline_sum_cells(&profile->timeline), nodes = {0};
    wrong[0] = '\0';
    if (!profile->timeline.bins)
        return wrong;
    timeline_sum_lanes(&profile->timeline, state);
    state[PROFILE_TIME_BLOCKED] += state[PROFILE_TIME_STOPPED]; /* a part of it */
    state[PROFILE_TIME_STOPPED] = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        const double times[] = {thread->work,     thread->overhead, thread->idle,   thread->lock_wait,
                                thread->mpi_wait, thread->no_core,  thread->blocked};
        for (uint32_t s = 0; s < sizeof(times) / sizeof(*times); s++)
            ledgers[s] += times[s];
    }
    for (uint32_t s = 0; s < PROFILE_TIME_STATES; s++)
        if (differ(state[s], ledgers[s]))
            snprintf(wrong, sizeof(wrong), "in state %u the lanes have %.9f s, the threads %.9f s", s, 1e-9 * state[s],
                     1e-9 * ledgers[s]);
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        if (node->kind == PROFILE_NODE_WAITERS ||
            (node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_BEFORE_START))
            continue;
        nodes.own += profile_sums_own(&node->metric) - node->metric.lock_wait;
        nodes.inverse_busy += node->metric.inverse_busy;
        nodes.shared_idle += node->metric.shared_idle;
        nodes.lock_wait += node->metric.lock_wait;
    }
    if (differ(cells.own, nodes.own) || differ(cells.inverse_busy, nodes.inverse_busy) ||
        differ(cells.shared_idle, nodes.shared_idle) || differ(cells.lock_wait, nodes.lock_wait))
        snprintf(wrong, sizeof(wrong), "the contexts' bins have %.9f s of %.9f s, inversely %.9f s of %.9f s",
                 1e-9 * cells.own, 1e-9 * nodes.own, 1e-9 * cells.inverse_busy, 1e-9 * nodes.inverse_busy);
    return wrong;
}
