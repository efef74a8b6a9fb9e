#include "ompt_tool/sampling/settle.h"

#include <stddef.h>

#include "base/clock.h"
#include "blame/attribute.h"
#include "cct/sums.h"
#include "cct/timeline/time.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/locks/lock_waits.h"
#include "ompt_tool/sampling/lock_blame.h"
#include "ompt_tool/sampling/rank_blame.h"
#include "ompt_tool/sampling/sample.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/sampling/tracing.h"
#include "ompt_tool/sampling/woken.h"

#define LEAST_NS 1000u /* the sums are rounded */

/* Counts the dispatch that is waiting to be booked as dropped. It has already been counted as recorded, but
 * the tree cannot grow. */
static void settle_lose_dispatch(struct thread *thread, enum profile_drop cause)
{
    struct delivery lost = {.count = thread->idle.count, .p = thread->idle.p};
    thread->idle.pending = false;
    rank_blame_settle(thread, 0);
    tracing_lose(thread);
    thread->traced = false; /* The trace already contains later entries, so no gap can be recorded there. */
    thread->ledger->recorded -= lost.count;
    sample_drop(thread, &lost, cause);
}

static void settle_add_dispatch(struct thread *thread, uint32_t node_idx, struct profile_metric *metric,
                                const struct profile_metric *dispatch)
{
    sums_add(metric, dispatch);
    attribute_time(&thread->tree, node_idx, thread->idle.last_ns,
                   (struct profile_time_value){(float)dispatch->overhead, (float)dispatch->inverse_busy,
                                               (float)dispatch->shared_idle, 0});
}

/* Keeps the dispatch, to book it in the thread's next region. The region in which it occurred may have ended. */
static void settle_carry_dispatch(struct thread *thread)
{
    if (!thread->dispatch.is_carried)
        thread->dispatch.sums = (struct profile_metric){0};
    thread->dispatch.is_carried = true;
    sums_add(&thread->dispatch.sums, &thread->idle.dispatch);
}

static void settle_book_dispatch(struct thread *thread, uint32_t node_idx, struct profile_metric *metric)
{
    if (metric)
        settle_add_dispatch(thread, node_idx, metric, &thread->idle.dispatch);
    else
        settle_carry_dispatch(thread);
    tracing_tell(thread, TRACER_DISPATCH, metric ? node_idx : (uint32_t)TRACER_CARRIED);
    thread->ledger->overhead += thread->idle.p;
    neighbours_add(&thread->neighbours, &(struct lock_blame){.inverse_busy = thread->idle.dispatch.inverse_busy,
                                                             .shared_idle = thread->idle.dispatch.shared_idle});
    time_add_state(&thread->tree, thread->idle.last_ns, PROFILE_TIME_OVERHEAD, thread->idle.p);
    thread->idle.pending = false;
}

/* Returns the context of the wait that is just ending; node 0 if its region may have ended. */
static struct capture settle_capture_wait(struct thread *thread, bool in_region)
{
    if (in_region)
        return capture_callback(thread, LEAF_RUNTIME);
    bool joins = (thread->level->team & LEVEL_PRIMARY) && levels_region(thread) == thread->line->region;
    return (struct capture){.node_idx = joins ? capture_region_end(thread, thread->line->region) : 0};
}

void settle_wait(struct thread *thread, bool in_region)
{
    if (!thread->idle.pending)
        return;
    struct capture capture = settle_capture_wait(thread, in_region);
    struct profile_metric *metric = attribute_at(&thread->tree, capture.node_idx);
    if (metric || !in_region)
        settle_book_dispatch(thread, capture.node_idx, metric);
    else
        settle_lose_dispatch(thread, capture.cause);
    if (metric)
        rank_blame_settle(thread, capture.node_idx);
}

void settle_held(struct thread *thread, bool in_region)
{
    if (!attribute_is_held(thread->line))
        return;
    uint32_t node_idx = settle_capture_wait(thread, in_region).node_idx;
    if (node_idx)
        lock_blame_take_held(thread, node_idx, clock_now_ns());
}

void settle_carried(struct thread *thread, struct region *region)
{
    uint32_t node_idx = capture_region_end(thread, region);
    struct profile_metric *metric = attribute_at(&thread->tree, node_idx);
    if (!metric)
        return; /* Memory is short, so the dispatch is kept. */
    settle_add_dispatch(thread, node_idx, metric, &thread->dispatch.sums);
    thread->dispatch.is_carried = false;
    tracing_tell(thread, TRACER_CARRIED, node_idx);
    rank_blame_settle(thread, node_idx);
}

void settle_rest(struct thread *thread)
{
    if (thread->handover.key)
        lock_blame_settle(thread);
    if (thread->idle.pending)
        settle_book_dispatch(thread, 0, NULL);
    if (thread->dispatch.is_carried)
        settle_carried(thread, NULL);
    woken_end(thread, woken_close(thread), false); /* a thread that is cancelled in a wait does not report its end */
    woken_forget(thread);
}

void settle_release(struct thread *thread, uint64_t lock_key, uint32_t holder, const struct lock_blame *blame)
{
    struct capture capture = capture_callback(thread, LEAF_USER);
    uint32_t node_idx = capture.node_idx;
    if (node_idx && directed_is_no_core(lock_key))
        node_idx = tree_child(&thread->tree, node_idx, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    if (!attribute_blame(&thread->tree, node_idx, directed_lock_of(lock_key), blame, clock_now_ns()))
        /* Memory is short. Keeps the blame for the lock's next release or the end of the measurement. */
        directed_add(lock_key, holder, blame);
}

static bool settle_book_lock_wait(struct thread *thread, uint64_t key, bool sampled, double ns)
{
    struct capture capture = capture_callback(thread, LEAF_USER);
    struct profile_metric *here = attribute_lock_at(&thread->tree, capture.node_idx, key);
    if (!here || here->lock_wait_here + ns < 0) /* the sample may have found another context */
        return false;
    account_waiting_here(here, ns, 0, !sampled);
    lock_waits_sample(thread, key, ns);
    if (ns > 0)
        time_add_state(&thread->tree, clock_now_ns(), PROFILE_TIME_LOCK_WAIT, ns);
    else
        time_take_state(&thread->tree, thread->counted_ns, PROFILE_TIME_LOCK_WAIT, -ns);
    thread->ledger->lock_wait += ns;
    return true;
}

/* Returns true if the thread has waited for the lock, and not for a core alone. `sampled`: a sample has found that. */
static bool settle_waited_for(const struct thread *thread, uint64_t key, bool sampled)
{
    const struct delivery now = {.clocks = clock_read()};
    return sampled || !account_is_taking(thread->line, &now, key, STATE_NO_HOLDER);
}

/* Short waits change little, and a period that begins anew has no samples of what a sample itself takes. If the thread has
 * waited since the current period's begin, that part of the wait is known: it replaces the period's sample, if one came. */
void settle_lock_wait(struct thread *thread, uint64_t key, uint64_t now_ticks)
{
    const struct state_line *line = thread->line;
    uint64_t waited_ns = (now_ticks - line->wait_since) * STATE_GRACE_NS / line->grace_ticks;
    bool sampled = thread->counted_wait == line->acquisitions;
    const struct moments *moments = &thread->sampling.moments;
    int64_t ahead_ns = waited_ns >= moments->period_ns / 2 ? sampler_renew(thread) : 0;
    if (!ahead_ns)
        return;
    bool known = waited_ns >= moments->missed_ns && moments->missed_ns >= LEAST_NS;
    if (ahead_ns > 0)
        known = known && sampled && thread->counted_ns >= moments->begin_ns && thread->counted_p >= (double)ahead_ns;
    if (!known || !settle_waited_for(thread, key, sampled) ||
        !settle_book_lock_wait(thread, key, sampled, (double)-ahead_ns))
        thread->ledger->ahead_ns += (float)ahead_ns;
}
