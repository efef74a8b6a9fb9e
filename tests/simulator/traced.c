#include "tests/simulator/traced.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cct/profile_tree.h"
#include "command/profile/trace.h"

#define NS 1e-9

/* Renewed periods cut off others in the trace, but that of a thread's last sample, if none has come since. */
static bool has_renewed(const struct profile_thread *thread)
{
    return thread->lock_wait > 0 || thread->ahead_ns != 0;
}

/* How much time the trace may have beyond what is booked, and how much it may lack. A thread's last period may extend
 * beyond its end, into the life of the next thread with the same tree. */
static double most_more(const struct profile *profile)
{
    double more_ns = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        more_ns += has_renewed(&profile->threads[i]) ? (double)profile->threads[i].period_ns : 0;
    return more_ns;
}

static double lack_most(const struct profile *profile)
{
    double most_ns = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        most_ns += has_renewed(&profile->threads[i]) ? INFINITY : 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        for (size_t j = 0; j < profile->thread_count; j++) {
            const struct profile_thread *thread = &profile->threads[i], *next = &profile->threads[j];
            double extends_ns =
                (double)profile_thread_end_ns(thread) + (double)thread->period_ns - (double)next->begin_ns;
            if (thread->tree == next->tree && thread->begin_ns < next->begin_ns && extends_ns > 0)
                most_ns += extends_ns;
        }
    return most_ns;
}

/* Off by parts of a nanosecond at each of a late sample's moments. What the trace lacks is taken from *lack_ns. */
static bool is_near(double traced, double booked, double more_ns, double *lack_ns)
{
    double tolerance_ns = 1000 + 1e-6 * booked + more_ns, lacks_ns = booked - traced;
    if (lacks_ns > tolerance_ns)
        *lack_ns -= lacks_ns;
    return lacks_ns >= -tolerance_ns && *lack_ns >= 0;
}

static const char *check_states(const struct profile *profile, const double *traced, char *text, size_t bytes)
{
    double lack_ns = lack_most(profile), more_ns = most_more(profile);
    double booked[PROFILE_TIME_STATES] = {0};
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        const double states[] = {thread->work,     thread->overhead, thread->idle,   thread->lock_wait,
                                 thread->mpi_wait, thread->no_core,  thread->blocked};
        for (size_t state = 0; state < sizeof(states) / sizeof(*states); state++)
            booked[state] += states[state];
    }
    booked[PROFILE_TIME_BLOCKED] -= traced[PROFILE_TIME_STOPPED]; /* of which it is a part */
    booked[PROFILE_TIME_STOPPED] = traced[PROFILE_TIME_STOPPED];
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        if (!is_near(traced[state], booked[state], more_ns, &lack_ns)) {
            snprintf(text, bytes, "state %zu: %.9f s in the trace, %.9f s in the ledgers", state, traced[state] * NS,
                     booked[state] * NS);
            return text;
        }
    return NULL;
}

/* Of the code around it is what no code is. */
static uint32_t context_of(const struct profile *profile, uint32_t node)
{
    while (node && (profile->nodes[node].kind == PROFILE_NODE_PSEUDO &&
                    (profile->nodes[node].key == PROFILE_PSEUDO_NO_CORE ||
                     profile->nodes[node].key == PROFILE_PSEUDO_UNTOLD_WAIT)))
        node = profile->nodes[node].parent;
    return node;
}

static const char *check_contexts(const struct profile *profile, double *traced, char *text, size_t bytes)
{
    double lack_ns = lack_most(profile), more_ns = most_more(profile);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        const struct profile_sums *sums = &node->metric;
        bool before = node->kind == PROFILE_NODE_PSEUDO && node->key == PROFILE_PSEUDO_BEFORE_START;
        if (node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS || before)
            continue;
        uint32_t context = node->kind == PROFILE_NODE_LOCK ? context_of(profile, node->parent) : context_of(profile, i);
        traced[context] -=
            sums->work + sums->overhead + sums->no_core + sums->blocked + sums->mpi_wait + sums->lock_wait_here;
    }
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (!is_near(traced[i], 0, more_ns, &lack_ns)) {
            snprintf(text, bytes, "context %u has %.9f s more in the trace than in the tree", i, traced[i] * NS);
            return text;
        }
    return NULL;
}

const char *traced_wrong(struct profile *profile, bool ended, char *text, size_t bytes)
{
    struct trace *trace = trace_read(profile, text, bytes);
    if (!trace)
        return text;
    double states[PROFILE_TIME_STATES] = {0}, *contexts = calloc(profile->node_count, sizeof(*contexts));
    const char *wrong = NULL;
    uint64_t recorded = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        recorded += profile->threads[i].recorded;
    for (size_t i = 0; i < trace->lane_count; i++)
        for (size_t j = 0; j < trace->lanes[i].span_count; j++) {
            const struct trace_span *span = &trace->lanes[i].spans[j];
            double ns = (double)(span->end_ns - span->begin_ns);
            states[span->state] += ns;
            if (span->state != PROFILE_TIME_IDLE)
                contexts[context_of(profile, span->node)] += ns;
            if (j > 0 && span->begin_ns < span[-1].end_ns)
                wrong = "a span reaches into the next";
        }
    uint64_t traced = trace->samples + trace->thinned;
    if (!wrong && (ended ? traced != recorded : traced > recorded)) {
        snprintf(text, bytes, "%llu samples in the trace, %llu recorded", (unsigned long long)trace->samples,
                 (unsigned long long)recorded);
        wrong = text;
    }
    if (!wrong && trace->thinned)
        wrong = "the trace was thinned";
    if (!wrong && ended)
        wrong = check_states(profile, states, text, bytes);
    if (!wrong && ended)
        wrong = check_contexts(profile, contexts, text, bytes);
    free(contexts);
    trace_free(trace);
    return wrong;
}
