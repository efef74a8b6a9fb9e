/* The rules of this house: as in sampler.c. */
#include "ompt_tool/sample.h"

#include <omp-tools.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/locks/lock_waits.h"
#include "ompt_tool/session/session.h"

void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause)
{
    thread->ledger->dropped[cause] += delivery->count;
    thread->ledger->dropped_ns += delivery->p;
    counters_book_ledger(thread, PROFILE_COUNTERS_LOST);
}

static struct profile_metric *metric_at(struct thread *thread, uint32_t node_idx)
{
    return node_idx ? tree_metric(&thread->tree, node_idx) : NULL;
}

static struct profile_metric *lock_metric_at(struct thread *thread, uint32_t node_idx, uint64_t key)
{
    return node_idx ? metric_at(thread, tree_child(&thread->tree, node_idx, PROFILE_NODE_LOCK, key)) : NULL;
}

/* Waiting that has gathered for what the sampled thread holds: the line that it executes now keeps the others
 * waiting. What gathers after its last sample in the section is left to the release (LMF13, 3.1.2). */
static void take_held(struct thread *thread, uint32_t node_idx)
{
    uint32_t own_line = state_line_number(thread->line);
    if (session.options.locks == LOCKS_AT_RELEASE)
        return;
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++) {
        uint64_t key = thread->line->held[i];
        struct lock_blame blame;
        uint32_t holder = PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_ORDERED ? LOCKS_ANY_HOLDER : own_line;
        if (likely(!key || !locks_waiting(key, holder)))
            continue;
        struct profile_metric *metric = lock_metric_at(thread, node_idx, key);
        if (metric && locks_take(key, holder, &blame))
            account_blame(metric, &blame);
    }
}

static uint64_t place_key(uint64_t place)
{
    uintptr_t codeptr = STATE_PLACE_CODEPTR(place);
    uint64_t key = codeptr ? capture_key(codeptr - 1) : 0;
    if (PROFILE_KEY_MODULE(key) >= PROFILE_PLACE_MODULES)
        key = 0;
    return PROFILE_PLACE_KEY(STATE_PLACE_KIND(place), key);
}

/* Idleness beside a thread that executes its share of a worksharing construct: of which kind, of how many
 * pieces. */
static void record_share(struct profile_idle *idle, double ns, uint64_t share, double team)
{
    double pieces = (double)THREAD_SHARE_PIECES(share);
    switch (THREAD_SHARE_KIND(share)) {
    case ompt_work_single_executor:
        idle->single += ns;
        break;
    case ompt_work_loop_dynamic:
    case ompt_work_loop_guided:
        idle->dynamic += ns;
        /* fallthrough */
    case ompt_work_loop:
    case ompt_work_loop_static:
    case ompt_work_loop_other:
    case ompt_work_sections:
        if (pieces > 0) {
            idle->loops += ns;
            idle->scarcity += ns * team / pieces;
        }
    }
}

/* The context's idleness once more, by where the idle threads waited: each of them p / b. Without room it is
 * idleness whose place is not known. */
static void record_places(struct thread *thread, uint32_t node_idx, double each, uint32_t team,
                          const struct waiting_places *places)
{
    uint64_t share = load_relaxed(&thread->share);
    for (uint32_t i = 0; i < places->count; i++) {
        uint32_t child =
            tree_child(&thread->tree, node_idx, PROFILE_NODE_WAITERS, place_key(places->place[i]));
        struct profile_idle *idle = (struct profile_idle *)metric_at(thread, child);
        if (!idle)
            continue;
        idle->shared_idle += each * places->threads[i];
        if (share)
            record_share(idle, each * places->threads[i], share, team);
    }
}

static void record_busy(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    struct waiting_places places = {0};
    struct census census = state_census_at(&delivery->clocks, delivery->census_ns, 0, &places);
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
    counters_book(thread, capture.node_idx);
    take_held(thread, capture.node_idx);
    record_places(thread, capture.node_idx, delivery->p / census.busy,
                  thread->team ? thread->team : census.in_use, &places);
}

/* No unwinding here: idle threads must cost next to nothing. */
static void record_idle(struct thread *thread, const struct delivery *delivery)
{
    struct idle_sample *sample = &thread->idle;
    uint64_t since_ticks = load_relaxed(&thread->line->idle_since);
    uint64_t since_ns = clock_ticks_ns(&delivery->clocks, since_ticks);
    struct census census = state_census_at(&delivery->clocks, delivery->census_ns, 0, NULL);
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
    sample->since_ticks = since_ticks;
    counters_book_ledger(thread, PROFILE_COUNTERS_IDLE);
}

void sample_resume_idle(struct thread *thread, uint64_t begin_ticks)
{
    thread->idle.settled_from_ns = clock_now_ns();
    state_set_idle(thread->line, thread->idle.since_ticks + (clock_ticks() - begin_ticks));
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

/* Nobody holds the lock, and the thread has only just asked for it, as far as is known: it is taking it. */
static bool is_uncontended(const struct thread *thread, const struct delivery *delivery, uint64_t key,
                           struct census census)
{
    uint64_t since_ticks = thread->line->wait_since;
    uint64_t since_ns = clock_ticks_ns(&delivery->clocks, since_ticks);
    return census.holder == STATE_NO_HOLDER && PROFILE_LOCK_KEY_KIND(key) != PROFILE_LOCK_ORDERED &&
           (!since_ticks || delivery->due_ns < since_ns + STATE_LOCK_GRACE_NS);
}

static void record_waiting(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t key = load_relaxed(&thread->line->wait_key);
    struct census census = state_census_at(&delivery->clocks, delivery->census_ns, key, NULL);
    if (is_uncontended(thread, delivery, key, census)) {
        record_busy(thread, delivery, context);
        return;
    }
    contended_note(key);
    struct lock_blame blame = account_waiter(delivery->p, census);
    struct capture capture = capture_interrupted(thread, context, LEAF_USER);
    struct profile_metric *here = lock_metric_at(thread, capture.node_idx, key);
    if (!here || !send_blame(thread, key, capture.node_idx, &blame, census.holder)) {
        sample_drop(thread, delivery, capture.cause);
        return;
    }
    account_waiting_here(here, delivery->p, delivery->count,
                         thread->counted_wait != thread->line->acquisitions);
    thread->counted_wait = thread->line->acquisitions;
    lock_waits_sample(thread, key, delivery->p);
    thread->ledger->lock_wait += delivery->p;
    thread->ledger->recorded += delivery->count;
    counters_book(thread, capture.node_idx);
    take_held(thread, capture.node_idx);
}

void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    contended_forget(delivery->clocks.ns);
    contended_choose(thread->line, &thread->pace, delivery->clocks.ns);
    if (load_relaxed(&thread->line->state) == STATE_IDLE)
        record_idle(thread, delivery);
    else if (load_relaxed(&thread->line->wait_key))
        record_waiting(thread, delivery, context);
    else
        record_busy(thread, delivery, context);
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
    if (thread->helper || !idle_sample_is_dispatch(sample, event_ns)) { /* helpers are not waited for */
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

void sample_take_held(struct thread *thread, bool in_region)
{
    uint32_t own_line = state_line_number(thread->line), place = 0;
    while (place < STATE_HELD_LOCKS &&
           (!thread->line->held[place] || !locks_waiting(thread->line->held[place], own_line)))
        place++;
    if (place == STATE_HELD_LOCKS)
        return;
    uint32_t node_idx = 0;
    if (in_region)
        node_idx = capture_callback(thread, LEAF_RUNTIME).node_idx;
    else if ((thread->level->team & LEVEL_PRIMARY) && levels_region(thread) == thread->line->region)
        node_idx = capture_region_end(thread, thread->line->region);
    if (node_idx)
        take_held(thread, node_idx);
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
