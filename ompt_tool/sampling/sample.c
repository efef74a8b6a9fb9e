/* This file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/sampling/sample.h"

#include <stddef.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "base/registers.h"
#include "blame/account.h"
#include "blame/attribute.h"
#include "blame/ranks.h"
#include "cct/timeline/time.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/sampling/core_idle.h"
#include "ompt_tool/sampling/lock_blame.h"
#include "ompt_tool/sampling/rank_blame.h"
#include "ompt_tool/sampling/sleep.h"
#include "ompt_tool/locks/lock_waits.h"
#include "ompt_tool/locks/pthread_waits.h"
#include "ompt_tool/ranks/mpi_wait.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/sampling/tracing.h"
#include "ompt_tool/sampling/woken.h"
#include "unwind/unwind.h"

/* ---- a stop of the whole process ---- */

/* Books the part of a sample during which the whole process was stopped. Returns false if memory is short.
 * The node is directly below the root, because nothing in the program is the cause. Its inverse_busy is the
 * duration of the stop, which is the time of all stopped threads divided by their number. No thread counts as
 * idle during a stop. Readers know T, the greatest number of threads, and correct for that. */
__attribute__((noinline)) bool sample_book_stopped(struct thread *thread, const struct delivery *delivery)
{
    uint32_t node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_STOPPED);
    struct profile_metric *metric = attribute_at(&thread->tree, node_idx);
    /* The number at the last sample, because some of the stopped threads may have ended since. */
    uint32_t threads = thread->core.before.threads ? thread->core.before.threads : thread_sampled();
    double each = delivery->p / PROFILE_LANE_BINS, inverse = delivery->p / (threads ? threads : 1);
    double between_ns = (double)(delivery->census_ns - delivery->due_ns);
    if (!metric)
        return false;
    account_own(metric, false, delivery->p, delivery->count);
    metric->inverse_busy += inverse;
    for (uint32_t i = 0; i < PROFILE_LANE_BINS; i++) { /* Spreads the time evenly over the stop. */
        uint64_t time_ns = delivery->due_ns + (uint64_t)(between_ns * (i + 0.5) / PROFILE_LANE_BINS);
        time_add_state(&thread->tree, time_ns, PROFILE_TIME_STOPPED, each);
        time_add(&thread->tree, node_idx, time_ns,
                 (struct profile_time_value){(float)each, (float)(inverse / PROFILE_LANE_BINS), 0, 0});
    }
    thread->ledger->blocked += delivery->p;
    thread->ledger->recorded += delivery->count;
    counters_book(thread, node_idx);
    tracing_add(thread, node_idx, PROFILE_TIME_STOPPED, delivery);
    neighbours_found(&thread->neighbours, node_idx);
    sample_compare(thread);
    return true;
}

/* ---- one sample ---- */

void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause)
{
    thread->ledger->dropped[cause] += delivery->count;
    thread->ledger->dropped_ns += delivery->p;
    counters_book_ledger(thread, PROFILE_COUNTERS_LOST);
    tracing_skip(thread, delivery);
}

/* Blames the thread for those that wait for its locks at one moment of the delivery. The blame is booked at the
 * node, or waits for the lock's release if it is to be booked there or the context is not known yet (node 0). */
static void sample_count_waiters(struct thread *thread, uint32_t node_idx, bool no_core,
                                 const struct delivery *delivery, uint32_t number, double p, struct census census)
{
    if (likely(!lock_blame_may_be(thread)))
        return;
    uint64_t time_ns = delivery_moment_ns(delivery, number, delivery_moments(delivery));
    bool inside = session.options.locks != LOCKS_AT_RELEASE;
    lock_blame_count_waiters(thread, inside ? node_idx : 0, no_core, time_ns, p, census);
}

static void sample_note_state(struct thread *thread, uint64_t time_ns, enum profile_time_state state, double p)
{
    time_add_state(&thread->tree, time_ns, state, p);
}

static uint64_t sample_place_key(uint64_t place)
{
    uintptr_t codeptr = STATE_PLACE_CODEPTR(place);
    uint64_t key = codeptr ? capture_key(codeptr - 1) : 0;
    if (PROFILE_KEY_MODULE(key) >= PROFILE_PLACE_MODULES)
        key = 0;
    return PROFILE_PLACE_KEY(STATE_PLACE_KIND(place), key);
}

static struct work_share sample_work_share(const struct thread *thread, uint32_t in_use)
{
    uint64_t share = load_relaxed(&thread->construct.share);
    struct work_share of = {.pieces = (double)THREAD_SHARE_PIECES(share),
                            .team = thread->construct.team ? thread->construct.team : in_use};
    if (!share)
        return of;
    switch (THREAD_SHARE_KIND(share)) {
    case ompt_work_single_executor:
        of.kind = SHARE_SINGLE;
        break;
    case ompt_work_loop_dynamic:
    case ompt_work_loop_guided:
        of.kind = SHARE_DYNAMIC;
        break;
    case ompt_work_loop:
    case ompt_work_loop_static:
    case ompt_work_loop_other:
        of.kind = SHARE_STATIC;
        break;
    case ompt_work_sections:
        of.kind = SHARE_SECTIONS;
    }
    return of;
}

static void sample_record_places(struct thread *thread, uint32_t node_idx, double p, struct census census,
                                 struct waiting_places *places)
{
    struct work_share share = sample_work_share(thread, census.in_use);
    for (uint32_t i = 0; i < places->count; i++)
        places->place[i] = sample_place_key(places->place[i]);
    attribute_places(&thread->tree, node_idx, p / census.busy, places, &share);
}

/* How a busy thread's sample is counted, and at which nodes. */
struct busy {
    bool in_runtime, no_core;
    /* node of the context; node for the thread's own time, which may be a <no core> or <blocked> child; 0: no
     * room */
    uint32_t node_idx, own_idx;
    uint32_t ranks_idx;            /* node that is blamed for other ranks' waiting; 0: none */
    double *sum;                   /* sum in the thread's ledger to which the sample's time is added */
    enum profile_time_state state; /* state that the timeline shows for the thread */
    struct waiting_places *places; /* where the idle threads wait at the moment that is being booked */
};

/* Returns the node that is blamed for what others wait for: the missing core, or the context. */
static uint32_t busy_blamed_idx(const struct busy *busy)
{
    return busy->no_core ? busy->own_idx : busy->node_idx;
}

static uint32_t sample_pseudo_child(struct thread *thread, uint32_t node_idx, enum profile_pseudo pseudo)
{
    return node_idx ? tree_child(&thread->tree, node_idx, PROFILE_NODE_PSEUDO, pseudo) : 0;
}

/* Makes the sample one of a thread that waits in a loop. As in other waits, a missing core makes no difference. */
static void sample_busy_spins(struct thread *thread, struct busy *busy)
{
    busy->no_core = false;
    busy->state = PROFILE_TIME_BLOCKED;
    busy->sum = &thread->ledger->blocked;
    busy->node_idx = busy->ranks_idx = sample_pseudo_child(thread, busy->node_idx, PROFILE_PSEUDO_SPINNING);
    busy->own_idx = sample_pseudo_child(thread, busy->node_idx, PROFILE_PSEUDO_BLOCKED);
}

/* Counts the time for which a thread that waits in a loop also lacked a core. */
static void sample_book_spinning_core(struct thread *thread, const struct delivery *delivery, enum core_state core)
{
    if (core == CORE_NONE)
        thread->ledger->idle_no_core += delivery->p * (1 - thread->core.now.stolen_part);
}

static struct busy sample_busy_of(struct thread *thread, const struct capture *capture, enum core_state core,
                                  struct waiting_places *places, const ucontext_t *context)
{
    struct profile_thread *ledger = thread->ledger;
    struct busy busy = {capture->in_runtime,
                        core == CORE_NONE,
                        capture->node_idx,
                        capture->node_idx,
                        capture->node_idx,
                        capture->in_runtime ? &ledger->overhead : &ledger->work,
                        capture->in_runtime ? PROFILE_TIME_OVERHEAD : PROFILE_TIME_WORK,
                        places};
    if (!busy.in_runtime && core != CORE_ASLEEP && unlikely(unwind_is_spinning(context))) {
        sample_busy_spins(thread, &busy);
    } else if (busy.no_core) {
        busy.state = PROFILE_TIME_NO_CORE;
        busy.sum = &ledger->no_core;
        busy.own_idx = busy.ranks_idx = sample_pseudo_child(thread, busy.node_idx, PROFILE_PSEUDO_NO_CORE);
    } else if (core == CORE_ASLEEP &&
               !busy.in_runtime) { /* A thread that sleeps in the runtime without an event counts as overhead. */
        if (unlikely(thread->unwinder.python != NULL))
            busy.node_idx = busy.ranks_idx = capture_interpreter_wait(thread, busy.node_idx);
        busy.state = PROFILE_TIME_BLOCKED;
        busy.sum = &ledger->blocked;
        busy.own_idx = sample_pseudo_child(thread, busy.node_idx, PROFILE_PSEUDO_BLOCKED);
    }
    busy.in_runtime = busy.in_runtime && !busy.no_core;
    return busy;
}

/* Books the other threads' idleness at the node. Also adds it and the thread's own time to the node's
 * timeline, where a blocked thread's time belongs to its context. */
static inline void sample_book_part(struct thread *thread, struct profile_metric *metric, uint32_t node_idx, double p,
                                    struct census census, uint64_t time_ns)
{
    struct lock_blame idleness = account_idleness(metric, p, census);
    neighbours_add(&thread->neighbours, &idleness);
    attribute_time(&thread->tree, node_idx, time_ns,
                   (struct profile_time_value){(float)p, (float)idleness.inverse_busy, (float)idleness.shared_idle, 0});
}

/* Books one moment of the delivery: the thread's own time, and the idleness of the other threads. Blames the
 * missing core for that idleness if the thread lacked one, and the thread's code otherwise. Returns false if
 * memory is short. */
static bool sample_book_busy(struct thread *thread, const struct busy *busy, double p, uint64_t count,
                             struct census census, uint64_t time_ns)
{
    struct profile_metric *metric = attribute_at(&thread->tree, busy->own_idx);
    if (!metric)
        return false;
    account_own(metric, busy->in_runtime, p, count);
    sample_book_part(thread, metric, busy_blamed_idx(busy), p, census, time_ns);
    if (busy->no_core)
        thread->ledger->stolen += p * thread->core.now.stolen_part;
    if (busy->places->count)
        sample_record_places(thread, busy->own_idx, p, census, busy->places);
    if (unlikely(session.counts_cores))
        core_idle_book(thread, busy_blamed_idx(busy), p, census, busy->state != PROFILE_TIME_BLOCKED);
    return true;
}

static bool sample_is_in_mpi(const struct thread *thread)
{
    return load_relaxed(&thread->line->state) == STATE_MPI_WAIT;
}

static struct census sample_census_of_busy(struct thread *thread, const struct delivery *delivery, uint32_t number,
                                           struct waiting_places *places)
{
    uint64_t time_ns = delivery_moment_ns(delivery, number, delivery_moments(delivery));
    places->count = 0;
    struct census census = state_census_at(&delivery->clocks, time_ns, thread->line, 0, places);
    if (unlikely(load_relaxed(&thread->line->state) == STATE_IDLE)) { /* its wait is over */
        census.busy++;
        census.in_use++;
    }
    if (number == 0)
        thread->sleep.beside_now = census.beside;
    /* If others were busy at a gap's begin, all of it is beside them; otherwise the census decides at each moment. */
    if (unlikely(census.own_asleep) && thread->sleep.state == SLEEP_GOES_ON && thread->sleep.beside)
        state_count_beside(&census, places);
    return census;
}

/* Books all moments of a delivery, in all of which the thread had the same state. Returns false if memory is
 * short. `census` and busy->places are those of the last moment, which is number 0. */
static bool sample_book_moments(struct thread *thread, const struct busy *busy, const struct delivery *delivery,
                                struct census census)
{
    uint32_t moments = delivery_moments(delivery);
    double p = delivery->p / moments;
    uint64_t time_ns = delivery_moment_ns(delivery, 0, moments);
    if (!sample_book_busy(thread, busy, p, delivery->count, census, time_ns))
        return false;
    neighbours_found(&thread->neighbours, busy->own_idx);
    sample_note_state(thread, time_ns, busy->state, p);
    sample_count_waiters(thread, busy_blamed_idx(busy), busy->no_core, delivery, 0, p, census);
    bool ranks = ranks_are_seen() && busy->ranks_idx;
    if (unlikely(ranks))
        rank_blame_busy(thread, busy->ranks_idx, delivery, 0, census);
    for (uint32_t number = 1; number < moments; number++) {
        census = sample_census_of_busy(thread, delivery, number, busy->places);
        time_ns = delivery_moment_ns(delivery, number, moments);
        sample_book_busy(thread, busy, p, 0, census, time_ns);
        sample_note_state(thread, time_ns, busy->state, p);
        sample_count_waiters(thread, busy_blamed_idx(busy), busy->no_core, delivery, number, p, census);
        if (unlikely(ranks))
            rank_blame_busy(thread, busy->ranks_idx, delivery, number, census);
    }
    *busy->sum += delivery->p;
    thread->ledger->recorded += delivery->count;
    tracing_add(thread, busy->node_idx, busy->state, delivery);
    lock_blame_take_held(thread, busy->node_idx, delivery->census_ns);
    return true;
}

static void sample_record_busy_in(struct thread *thread, enum core_state core, const struct delivery *delivery,
                                  const ucontext_t *context)
{
    struct waiting_places places;
    struct census census = sample_census_of_busy(thread, delivery, 0, &places);
    struct capture capture = capture_interrupted(thread, context, LEAF_RUNTIME);
    struct busy busy = sample_busy_of(thread, &capture, core, &places, context);
    if (!sample_book_moments(thread, &busy, delivery, census)) {
        sample_drop(thread, delivery, capture.cause);
        return;
    }
    counters_book(thread, busy.node_idx);
    thread->pthread.node_idx = busy.node_idx;
    thread->pthread.grafts = thread->tree.grafts;
    if (busy.state != PROFILE_TIME_BLOCKED)
        return;
    if (core != CORE_ASLEEP) {
        sample_book_spinning_core(thread, delivery, core);
        return;
    }
    sleep_found(thread, busy.node_idx, delivery->clocks.ns);
    woken_slept(thread, busy.node_idx, delivery->p);
}

void sample_compare(struct thread *thread)
{
    neighbours_compare(&thread->neighbours, &thread->tree, thread->ledger);
}

void sample_record_sleep(struct thread *thread, uint32_t node_idx, bool no_core, const struct delivery *delivery)
{
    struct waiting_places places;
    struct census census = sample_census_of_busy(thread, delivery, 0, &places);
    struct busy busy = {
        .no_core = no_core,
        .node_idx = node_idx,
        .own_idx = sample_pseudo_child(thread, node_idx, no_core ? PROFILE_PSEUDO_NO_CORE : PROFILE_PSEUDO_BLOCKED),
        .sum = no_core ? &thread->ledger->no_core : &thread->ledger->blocked,
        .state = no_core ? PROFILE_TIME_NO_CORE : PROFILE_TIME_BLOCKED,
        .places = &places};
    busy.ranks_idx = no_core ? busy.own_idx : node_idx;
    thread->ledger->delivered += delivery->count;
    if (!sample_book_moments(thread, &busy, delivery, census))
        sample_drop(thread, delivery, PROFILE_DROP_NO_MEMORY);
    else if (!no_core)
        woken_slept(thread, node_idx, delivery->p);
    sample_compare(thread);
}

/* Records the delivery's moments from number `from` on, counted from the first one, of a busy thread. */
static void sample_record_busy_from(struct thread *thread, const struct delivery *delivery, uint64_t from,
                                    const ucontext_t *context)
{
    const struct core *core = &thread->core;
    const uint64_t ends[] = {core->now.first_moments, delivery->count - core->now.had_last, delivery->count};
    struct delivery rest = *delivery;
    if (from)
        delivery_take(&rest, from);
    for (uint32_t i = 0; i < 3; i++) {
        if (ends[i] <= from)
            continue;
        struct delivery part = delivery_take(&rest, ends[i] - from);
        sample_record_busy_in(thread, i == 1 ? core->now.state : i ? CORE_HAD : core->now.first, &part, context);
        sample_compare(thread); /* so that each state is a stay of its own */
        from = ends[i];
    }
}

static void sample_record_busy(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    if (likely(core_moments_in_state(&thread->core, delivery) == delivery->count))
        sample_record_busy_in(thread, thread->core.now.state, delivery, context);
    else
        sample_record_busy_from(thread, delivery, 0, context);
}

/* Counts the time for which a waiting thread also lacked a core, at `moments` of the delivery's moments, so
 * that the sums agree with the kernel's counts. The time still counts as waiting: the thread waits for another
 * thread. */
static void sample_book_waiting_core_at(struct thread *thread, const struct delivery *delivery, uint64_t moments)
{
    if (thread->core.now.state == CORE_NONE)
        thread->ledger->idle_no_core +=
            delivery->p * (1 - thread->core.now.stolen_part) * (double)moments / (double)delivery->count;
}

static void sample_book_waiting_core(struct thread *thread, const struct delivery *delivery)
{
    sample_book_waiting_core_at(thread, delivery, core_moments_in_state(&thread->core, delivery));
}

/* Records a sample in an MPI call. Whatever the thread does there, with or without a core, it waits for other
 * ranks. That wait is blamed for other threads' idleness. */
static void sample_record_mpi(struct thread *thread, const struct delivery *delivery)
{
    struct waiting_places places;
    struct census census = sample_census_of_busy(thread, delivery, 0, &places);
    struct capture capture = capture_mpi(thread);
    struct busy busy = {.node_idx = capture.node_idx,
                        .own_idx = capture.node_idx,
                        .sum = &thread->ledger->mpi_wait,
                        .state = PROFILE_TIME_MPI_WAIT,
                        .places = &places};
    if (!sample_book_moments(thread, &busy, delivery, census)) {
        sample_drop(thread, delivery, capture.cause);
        return;
    }
    counters_book(thread, busy.node_idx);
    if (ranks_are_seen())
        rank_blame_waiting(thread, capture.node_idx, delivery);
    thread->mpi.samples++;
    thread->mpi.node_idx = capture.node_idx;
    thread->mpi.grafts = thread->tree.grafts;
    sample_book_waiting_core(thread, delivery);
}

/* Books the moments of an idle thread at which no thread was busy. Some thread's wait was over by then, but
 * that thread had no core yet. Which thread it was, and in which code, is unknown, so the idleness goes to
 * <no core> below the root. If memory is short, or threads may have waited for something outside the teams,
 * it goes to the ledger only. */
static __attribute__((noinline, cold)) void sample_book_nobody_busy(struct thread *thread,
                                                                    const struct delivery *delivery, uint32_t moments,
                                                                    const struct idle_moment told[DELIVERY_MOMENTS])
{
    bool outside = load_relaxed(&state_waits_outside) || thread_untracked();
    uint32_t node_idx = outside ? 0 : sample_pseudo_child(thread, thread->tree.root, PROFILE_PSEUDO_NO_CORE);
    struct profile_metric *metric = attribute_at(&thread->tree, node_idx);
    struct waiting_places places = {
        .count = 1, .threads = {1}, .place = {sample_place_key(state_wait_place(thread->line))}};
    struct work_share share = {.kind = SHARE_NONE};
    double p = delivery->p / moments;
    for (uint32_t number = 0; number < moments; number++) {
        if (!told[number].idle)
            continue;
        if (!metric) {
            thread->ledger->idle_nobody_busy += p;
            continue;
        }
        double inverse = p / told[number].idle;
        metric->shared_idle += p;
        metric->inverse_busy += inverse;
        neighbours_add(&thread->neighbours, &(struct lock_blame){.inverse_busy = inverse, .shared_idle = p});
        attribute_time(&thread->tree, node_idx, delivery_moment_ns(delivery, number, moments),
                       (struct profile_time_value){0, (float)inverse, (float)p, 0});
        attribute_places(&thread->tree, node_idx, p, &places, &share);
    }
}

/* Blames an idle thread for those that wait for its locks. The end of its wait shows in which context. */
static __attribute__((noinline)) void sample_count_waiters_idle(struct thread *thread, const struct delivery *delivery)
{
    uint32_t moments = delivery_moments(delivery);
    for (uint32_t number = 0; number < moments; number++) {
        uint64_t time_ns = delivery_moment_ns(delivery, number, moments);
        struct census others = state_census_at(&delivery->clocks, time_ns, thread->line, 0, NULL);
        sample_count_waiters(thread, 0, false, delivery, number, delivery->p / moments, others);
    }
}

/* Records moments of an idle thread. Does not walk the stack, so an idle thread costs almost nothing. */
static void sample_record_waiting_idle(struct thread *thread, const struct delivery *delivery)
{
    struct idle_moment told[DELIVERY_MOMENTS];
    thread->ledger->recorded += delivery->count;
    counters_book_ledger(thread, PROFILE_COUNTERS_IDLE);
    uint32_t moments = account_idle_hit(thread->ledger, &thread->tree, &thread->idle, thread->line, delivery, told);
    if (unlikely(moments))
        sample_book_nobody_busy(thread, delivery, moments, told);
    if (unlikely(ranks_are_seen()))
        rank_blame_idle(thread, delivery, told);
    if (unlikely(thread->traced))
        tracing_add_idle(thread, delivery, told);
    if (lock_blame_may_be(thread))
        sample_count_waiters_idle(thread, delivery);
}

/* Returns how many of the delivery's moments are before that time. */
static uint64_t sample_moments_before(const struct thread *thread, const struct delivery *delivery, uint64_t time_ns)
{
    return time_ns > delivery->due_ns ? core_moments_within(&thread->core, delivery, time_ns - delivery->due_ns) : 0;
}

/* Returns how many of the delivery's first `count` moments have the state core->now.state. */
static uint64_t sample_first_in_state(const struct thread *thread, const struct delivery *delivery, uint64_t count)
{
    const struct core_now *now = &thread->core.now;
    uint64_t end = delivery->count - now->had_last < count ? delivery->count - now->had_last : count;
    return end > now->first_moments ? end - now->first_moments : 0;
}

/* Records a sample of a thread that waits in OpenMP. From the time on at which another thread has passed its barrier, it
 * counts as busy in the barrier's context. One that had not been woken by then is overhead. */
static void sample_record_idle(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    struct delivery rest = *delivery;
    uint64_t released_ns = state_released_ns(thread->line, &delivery->clocks);
    uint64_t waits = delivery->count;
    if (unlikely(released_ns <= delivery->census_ns))
        waits = sample_moments_before(thread, delivery, released_ns);
    if (likely(waits)) {
        struct delivery waiting = delivery_take(&rest, waits);
        sample_record_waiting_idle(thread, &waiting);
        sample_book_waiting_core_at(thread, &waiting, sample_first_in_state(thread, delivery, waits));
    }
    if (unlikely(rest.count))
        sample_record_busy_from(thread, delivery, waits, context);
}

static uint64_t sample_waiting_moment_ns(const struct thread *thread, const struct delivery *delivery, uint32_t number)
{
    uint64_t time_ns = delivery_moment_ns(delivery, number, delivery_moments(delivery));
    return account_waiting_ns(thread->line, &delivery->clocks, time_ns);
}

/* Returns whether the thread had no core at one moment of the delivery. */
static bool sample_lacked_core(const struct thread *thread, const struct delivery *delivery, uint32_t number)
{
    const struct core *core = &thread->core;
    uint32_t moments = delivery_moments(delivery);
    uint64_t before = delivery->count * (moments - 1 - number) / moments; /* periods before the moment's */
    return core->now.state == CORE_NONE && before >= core->now.first_moments &&
           before < delivery->count - core->now.had_last;
}

static void sample_note_lock_wait(struct thread *thread, uint64_t key)
{
    contended_note(key);
    if (unlikely(thread->handover.key))
        lock_blame_look(thread);
}

/* Books one moment of a thread that waits for a lock, and blames it for those that wait for its own locks.
 * Returns false if memory is short. */
static bool sample_book_waiting(struct thread *thread, uint32_t node_idx, const struct delivery *delivery,
                                uint32_t number, uint64_t key, struct census census)
{
    double p = delivery->p / delivery_moments(delivery);
    uint64_t time_ns = sample_waiting_moment_ns(thread, delivery, number);
    if (!lock_blame_moment(thread, node_idx, key, p, census, time_ns, sample_lacked_core(thread, delivery, number)))
        return false;
    sample_note_state(thread, time_ns, PROFILE_TIME_LOCK_WAIT, p);
    if (unlikely(session.counts_cores))
        core_idle_book(thread, node_idx, p, census, false);
    sample_count_waiters(thread, node_idx, false, delivery, number, p, census);
    if (unlikely(ranks_are_seen()))
        rank_blame_busy(thread, node_idx, delivery, number, census);
    return true;
}

static void sample_record_waiting(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t key = load_relaxed(&thread->line->wait_key);
    uint64_t asked = contended_is_posix(key) ? 0 : key; /* no state line names the holder */
    uint64_t time_ns = sample_waiting_moment_ns(thread, delivery, 0);
    struct census census = state_census_at(&delivery->clocks, time_ns, thread->line, asked, NULL);
    if (account_is_taking(thread->line, delivery, key, census.holder)) {
        sample_record_busy(thread, delivery, context);
        return;
    }
    sample_note_lock_wait(thread, key);
    struct capture capture = capture_interrupted(thread, context, LEAF_USER);
    struct profile_metric *here = attribute_lock_at(&thread->tree, capture.node_idx, key);
    if (!here || !sample_book_waiting(thread, capture.node_idx, delivery, 0, key, census)) {
        sample_drop(thread, delivery, capture.cause);
        return;
    }
    for (uint32_t number = 1; number < delivery_moments(delivery); number++) {
        time_ns = sample_waiting_moment_ns(thread, delivery, number);
        struct census then = state_census_at(&delivery->clocks, time_ns, thread->line, asked, NULL);
        if (!sample_book_waiting(thread, capture.node_idx, delivery, number, key, then))
            /* There is no memory for that moment's blame. Books it as the last moment's (number 0), for which
             * there was room. */
            sample_book_waiting(thread, capture.node_idx, delivery, number, key, census);
    }
    neighbours_found(&thread->neighbours, capture.node_idx);
    account_waiting_here(here, delivery->p, delivery->count, thread->counted_wait != thread->line->acquisitions);
    thread->counted_wait = thread->line->acquisitions;
    thread->counted_ns = sample_waiting_moment_ns(thread, delivery, 0);
    thread->counted_p = delivery->p / delivery_moments(delivery);
    lock_waits_sample(thread, key, delivery->p);
    thread->ledger->lock_wait += delivery->p;
    sample_book_waiting_core(thread, delivery);
    thread->ledger->recorded += delivery->count;
    counters_book(thread, capture.node_idx);
    tracing_add(thread, capture.node_idx, PROFILE_TIME_LOCK_WAIT, delivery);
    lock_blame_take_held(thread, capture.node_idx, delivery->census_ns);
}

/* Records a sample of a thread whose condition wait is over but for the mutex, which another thread holds. */
static __attribute__((noinline)) void sample_record_reacquiring(struct thread *thread, const struct delivery *delivery,
                                                                const ucontext_t *context)
{
    pthread_wait_sets_mutex(thread);
    sample_record_waiting(thread, delivery, context);
    state_end_lockwait(thread->line);
}

void sample_record_state(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    if (unlikely(session.counts_cores) || unlikely(thread->awaits.aside))
        core_idle_note_sleep(thread, delivery, unwind_is_spinning(context));
    else if (unlikely(load_relaxed(&thread->line->state) == STATE_ASLEEP)) /* since before the first team */
        state_wake_up(thread->line, clock_ticks());
    if (load_relaxed(&thread->line->state) == STATE_IDLE)
        sample_record_idle(thread, delivery, context);
    else if (unlikely(sample_is_in_mpi(thread)) && !mpi_wait_is_left(thread, context))
        sample_record_mpi(thread, delivery);
    else if (load_relaxed(&thread->line->wait_key) && !pthread_wait_is_left(thread, context))
        sample_record_waiting(thread, delivery, context);
    else if (pthread_wait_reacquires(thread, context))
        sample_record_reacquiring(thread, delivery, context);
    else
        sample_record_busy(thread, delivery, context);
}

/* Records a sample that came late because the whole process was stopped. The moments until the thread ran
 * again belong to the stop. After the stop, the thread may have waited for a core, to execute its code or
 * only to run the handler in its system call. The moments of that time are recorded by the thread's state. */
static __attribute__((noinline, cold)) void sample_record_stop(struct thread *thread, const struct delivery *delivery,
                                                               const ucontext_t *context)
{
    struct delivery rest = *delivery;
    uint64_t lost_ns = thread->core.now.lost_ns, until_ns = delivery->clocks.ns - lost_ns, count = delivery->count;
    if (lost_ns >= STATE_LATE_NS && delivery->count > 1)
        count =
            until_ns > delivery->due_ns ? core_moments_within(&thread->core, delivery, until_ns - delivery->due_ns) : 0;
    if (count) {
        struct delivery stopped = delivery_take(&rest, count);
        if (!sample_book_stopped(thread, &stopped))
            sample_drop(thread, &stopped, PROFILE_DROP_NO_MEMORY);
    }
    if (rest.count)
        sample_record_state(thread, &rest, context);
}

/* Notes when others have ended or signalled what the thread waits for. A condition wait may go on until the mutex is free. */
static void sample_note_signals(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    struct core_now *now = &thread->core.now;
    now->signals = 0;
    if (load_relaxed(&thread->line->state) == STATE_IDLE) {
        now->signalled_ns[0] = state_wait_ended_ns(thread->line, &delivery->clocks);
        now->signals = 1;
        return;
    }
    if (likely(!load_relaxed(&thread->awaits.key)))
        return;
    uintptr_t mutex = load_relaxed(&thread->pthread.mutex);
    if (!mutex || registers_argument(context, 0) != mutex)
        now->signals = woken_times(thread, now->signalled_ns);
    for (uint32_t i = 0; i < now->signals; i++)
        now->signalled_ns[i] = clock_ticks_ns(&delivery->clocks, now->signalled_ns[i]);
    if (delivery->clocks.ns - delivery->due_ns >= STATE_LATE_NS)
        woken_late(thread);
}

void sample_ask(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    sample_note_signals(thread, delivery, context);
    thread->pthread.is_awaited = thread->pthread.holds_is_new = false;
    stopped_hear(delivery->clocks.ns);
    contended_forget(delivery->clocks.ns);
    contended_choose(thread->line, &thread->pace, delivery->clocks.ns);
    core_ask(&thread->core, thread->ledger, delivery, context);
}

void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    sample_ask(thread, delivery, context);
    tracing_begin(thread, delivery);
    bool stopped = stopped_until_now(&thread->core, delivery, context);
    thread->ledger->idle_no_core += (double)thread->core.now.woken_ns;
    if (unlikely(stopped))
        sample_record_stop(thread, delivery, context);
    else
        sample_record_state(thread, delivery, context);
    thread->core.before.threads = thread_sampled();
    tracing_end(thread, delivery);
}
