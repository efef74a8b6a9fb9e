/* The rules of this house: as in sampler.c. */
#include "ompt_tool/sample.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "ompt_tool/capture.h"
#include "ompt_tool/lock_waits.h"

void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause)
{
    thread->ledger->dropped[cause] += delivery->count;
    thread->ledger->dropped_ns += delivery->p;
}

static struct profile_metric *metric_at(struct thread *thread, uint32_t node_idx)
{
    return node_idx ? tree_metric(&thread->tree, node_idx) : NULL;
}

static struct profile_metric *lock_metric_at(struct thread *thread, uint32_t node_idx, uint64_t key)
{
    return node_idx ? metric_at(thread, tree_child(&thread->tree, node_idx, PROFILE_NODE_LOCK, key)) : NULL;
}

static void record_busy(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    struct census census = state_census(delivery->census_ns, 0);
    struct capture capture = capture_interrupted(thread, context, LEAF_RUNTIME);
    struct profile_metric *metric = metric_at(thread, capture.node_idx);
    if (!metric) {
        sample_drop(thread, delivery, capture.cause);
        return;
    }
    account_busy(metric, capture.in_runtime, delivery->p, delivery->count, census);
    if (capture.in_runtime)
        thread->ledger->overhead += delivery->p;
    else
        thread->ledger->work += delivery->p;
    thread->ledger->recorded += delivery->count;
}

/* No unwinding here: idle threads must cost next to nothing. */
static void record_idle(struct thread *thread, const struct delivery *delivery)
{
    struct idle_sample *sample = &thread->idle;
    uint64_t since_ns = load_relaxed(&thread->line->idle_since_ns);
    struct census census = state_census(delivery->census_ns, 0);
    bool self_counted = delivery->census_ns < since_ns + STATE_GRACE_NS;
    if (sample->pending)
        account_idle(thread->ledger, sample); /* a second sample in one gap: it is longer than any grace */
    sample->parked = state_is_parked(thread->line);
    sample->busy_others = census.busy - self_counted;
    census.busy += !self_counted;
    census.in_use += !self_counted && sample->parked;
    sample->census = census;
    sample->p = delivery->p;
    sample->count = delivery->count;
    sample->before_ns = delivery->due_ns > since_ns ? delivery->due_ns - since_ns : 0;
    sample->pending = sample->before_ns < STATE_GRACE_NS;
    thread->ledger->recorded += delivery->count;
    if (sample->pending)
        state_hide_idle(thread->line);
    else
        account_idle(thread->ledger, sample);
    sample->since_ns = since_ns;
}

void sample_resume_idle(struct thread *thread, uint64_t begin_ns)
{
    uint64_t now_ns = clock_now_ns();
    thread->idle.settled_from_ns = now_ns;
    state_set_idle(thread->line, thread->idle.since_ns + (now_ns - begin_ns));
}

/* Where a waiter's blame goes: to the table for the holder; to a named row when nobody holds the lock
 * (handoff: not the next holder's doing) or the table is full. In `ordered` the one whose turn it is may be
 * far from its section: it is the holder all the same. */
static bool send_blame(struct thread *thread, uint64_t key, uint32_t context_idx,
                       const struct lock_blame *blame, uint32_t holder)
{
    uint64_t name = PROFILE_PSEUDO_HANDOFF;
    if (PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_ORDERED)
        holder = LOCKS_ANY_HOLDER;
    if (holder != STATE_NO_HOLDER) {
        if (locks_add(key, holder, blame))
            return true;
        name = PROFILE_PSEUDO_TABLE_FULL;
    }
    uint32_t node_idx = tree_child(&thread->tree, context_idx, PROFILE_NODE_PSEUDO, name);
    struct profile_metric *metric = lock_metric_at(thread, node_idx, key);
    if (metric)
        account_blame(metric, blame);
    return metric != NULL;
}

static void record_waiting(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t key = load_relaxed(&thread->line->wait_key);
    struct census census = state_census(delivery->census_ns, key);
    struct lock_blame blame = account_waiter(delivery->p, census);
    struct capture capture = capture_interrupted(thread, context, LEAF_USER);
    struct profile_metric *here = lock_metric_at(thread, capture.node_idx, key);
    if (!here || !send_blame(thread, key, capture.node_idx, &blame, census.holder)) {
        sample_drop(thread, delivery, capture.cause);
        return;
    }
    account_waiting_here(here, delivery->p, delivery->count, thread->counted_wait != thread->acquisitions);
    thread->counted_wait = thread->acquisitions;
    lock_waits_sample(thread, key, delivery->p);
    thread->ledger->lock_wait += delivery->p;
    thread->ledger->recorded += delivery->count;
}

void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    switch (load_relaxed(&thread->line->state)) {
    case STATE_IDLE:
        record_idle(thread, delivery);
        break;
    case STATE_LOCKWAIT:
        record_waiting(thread, delivery, context);
        break;
    default:
        record_busy(thread, delivery, context);
    }
}

/* Dispatch that was recorded as pending but has no room in the tree after all. */
static void lose_pending(struct thread *thread, enum profile_drop cause)
{
    struct delivery lost = {.count = thread->idle.count, .p = thread->idle.p};
    thread->ledger->recorded -= lost.count;
    sample_drop(thread, &lost, cause);
}

void sample_settle(struct thread *thread, uint64_t event_ns, bool in_region)
{
    struct idle_sample *sample = &thread->idle;
    if (!sample->pending)
        return;
    sample->pending = false;
    if (!idle_sample_is_dispatch(sample, event_ns)) {
        account_idle(thread->ledger, sample);
        return;
    }
    struct profile_metric *metric = &thread->carried;
    if (in_region) {
        struct capture capture = capture_callback(thread, LEAF_RUNTIME);
        metric = metric_at(thread, capture.node_idx);
        if (!metric) {
            lose_pending(thread, capture.cause);
            return;
        }
    } else if (!thread->carries) {
        thread->carried = (struct profile_metric){0};
        thread->carries = true;
    }
    account_busy(metric, true, sample->p, sample->count, sample->census);
    thread->ledger->overhead += sample->p;
}

void sample_book_carried(struct thread *thread, struct region *region)
{
    struct profile_metric *metric = metric_at(thread, capture_region_end(thread, region));
    if (!metric)
        return; /* stays carried */
    tree_add_metric(metric, &thread->carried);
    thread->carries = false;
}

void sample_book_release(struct thread *thread, uint64_t lock_key, uint32_t holder,
                         const struct lock_blame *blame)
{
    struct capture capture = capture_callback(thread, LEAF_USER);
    struct profile_metric *metric = lock_metric_at(thread, capture.node_idx, lock_key);
    if (metric)
        account_blame(metric, blame);
    else
        locks_add(lock_key, holder,
                  blame); /* back to where it came from: the next release, or the end, takes it */
}
