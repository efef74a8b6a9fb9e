/* This file runs in the signal handler, so the rules in sampler.c hold. Only lock_blame_settle() and
 * lock_blame_lacked_ticks() run outside the handler. */
#include "ompt_tool/sampling/lock_blame.h"

#include "base/run_counts.h"
#include "blame/account.h"
#include "blame/attribute.h"
#include "blame/contended.h"
#include "blame/waited.h"
#include "cct/profile_format.h"
#include "ompt_tool/locks/lock_waits.h"
#include "ompt_tool/locks/pthread_waits.h"
#include "ompt_tool/session/session.h"

/* ---- the holder's side ---- */

static void lock_blame_book(struct thread *thread, uint32_t node_idx, uint64_t key, const struct lock_blame *blame,
                            bool no_core, uint64_t time_ns)
{
    bool posix = contended_is_posix(key);
    contended_note(key);
    lock_waits_note(thread, key);
    neighbours_add(&thread->neighbours, blame);
    if (!node_idx || !attribute_blame(&thread->tree, node_idx, key, blame, time_ns))
        attribute_waiting(&thread->tree, thread->tree.root, no_core && !posix ? DIRECTED_NO_CORE | key : key, blame,
                          state_line_number(thread->line), time_ns);
    else if (!posix)
        thread->ledger->lock_wait_counted += blame->lock_wait;
}

/* Finds the locks of POSIX threads for which others wait and that the thread holds: once a sample, however late it is,
 * because each lock that is read costs a system call. */
static void lock_blame_find_posix(struct thread *thread, uint64_t salt)
{
    struct waited *holds = &thread->pthread.holds;
    uint32_t held = 0;
    waited_find(thread->line, salt, holds);
    for (uint32_t i = 0; i < holds->count; i++)
        if (pthread_lock_is_held(thread, holds->key[i]))
            holds->key[held++] = holds->key[i];
    holds->count = held;
    thread->pthread.holds_is_new = true;
}

/* Blames the thread for those that wait for its locks of POSIX threads. */
static __attribute__((noinline)) void lock_blame_count_posix(struct thread *thread, uint32_t node_idx, bool no_core,
                                                             uint64_t time_ns, double p, struct census census)
{
    const struct waited *holds = &thread->pthread.holds;
    uint32_t waiters[WAITED_LOCKS];
    if (!thread->pthread.holds_is_new)
        lock_blame_find_posix(thread, (uint64_t)census.ticks);
    if (likely(!holds->count))
        return;
    waited_count(thread->line, census.ticks, holds, waiters);
    for (uint32_t i = 0; i < holds->count; i++) {
        if (!waiters[i])
            continue;
        struct lock_blame blame = account_waiter(p * waiters[i] * holds->one_in, census);
        thread->pthread.is_awaited = true;
        lock_blame_book(thread, node_idx, holds->key[i], &blame, no_core, time_ns);
    }
}

void lock_blame_count_waiters(struct thread *thread, uint32_t node_idx, bool no_core, uint64_t time_ns, double p,
                              struct census census)
{
    const struct state_line *line = thread->line;
    uint32_t waiters[STATE_HELD_LOCKS];
    if (!line->counts_waiters)
        return;
    if (unlikely(load_relaxed(&contended_posix_waits)))
        lock_blame_count_posix(thread, node_idx, no_core, time_ns, p, census);
    if (!state_holds_locks(line) || !state_count_waiters(line, census.ticks, waiters))
        return;
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++) {
        struct lock_blame blame = account_waiter(p * waiters[i], census);
        if (waiters[i])
            lock_blame_book(thread, node_idx, line->held[i], &blame, no_core, time_ns);
    }
}

void lock_blame_take_held(struct thread *thread, uint32_t node_idx, uint64_t time_ns)
{
    if (state_holds_locks(thread->line) && session.options.locks != LOCKS_AT_RELEASE)
        attribute_held(&thread->tree, thread->line, node_idx, time_ns);
}

/* ---- the waiter's side ---- */

static void lock_blame_keep(struct thread *thread, uint32_t node_idx, uint64_t key, const struct lock_blame *blame,
                            struct census census, uint64_t time_ns, bool no_core)
{
    struct thread_handover *kept = &thread->handover;
    if (kept->key != key)
        *kept = (struct thread_handover){.key = key};
    kept->node_idx = node_idx;
    kept->grafts = thread->tree.grafts;
    bool full = kept->count == THREAD_HANDOVER_MOMENTS;
    struct thread_handover_moment *moment = &kept->moment[full ? kept->count - 1 : kept->count++];
    if (!full)
        *moment = (struct thread_handover_moment){.ticks = census.ticks, .time_ns = time_ns, .no_core = no_core};
    moment->blame.lock_wait += blame->lock_wait;
    moment->blame.inverse_busy += blame->inverse_busy;
    moment->blame.shared_idle += blame->shared_idle;
}

static bool lock_blame_is_ordered(uint64_t key)
{
    return PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_ORDERED;
}

/* Books waiting while nobody held the lock, now that it is known whether the next owner had a core. In `ordered`, the
 * next owner is the thread whose turn it is; if it had a core, it was on its way, and it takes the blame at its release. */
static bool lock_blame_pass_on(struct thread *thread, uint32_t node_idx, uint64_t key, const struct lock_blame *blame,
                               bool no_core, uint64_t time_ns)
{
    if (lock_blame_is_ordered(key) && !no_core)
        return attribute_waiting(&thread->tree, node_idx, key, blame, DIRECTED_ANY_HOLDER, time_ns);
    return attribute_handover(&thread->tree, node_idx, key, blame, no_core, time_ns);
}

bool lock_blame_moment(struct thread *thread, uint32_t node_idx, uint64_t key, double p, struct census census,
                       uint64_t time_ns, bool no_core)
{
    struct lock_blame blame = account_waiter(p, census);
    uint32_t owner;
    bool counts = census.holder != STATE_NO_HOLDER && census.holder_counts && !directed_is_for_any_holder(key);
    if (pthread_lock_is_counted(thread, key))
        return true;
    if (!counts) /* otherwise the holder's samples book it */
        neighbours_add(&thread->neighbours, &blame);
    if (pthread_lock_is_passing(thread, key))
        return attribute_handover(&thread->tree, node_idx, key, &blame, no_core, time_ns);
    if (census.holder != STATE_NO_HOLDER && census.holder_counts && !directed_is_for_any_holder(key))
        return true;
    bool posix = directed_is_for_any_holder(key) && !lock_blame_is_ordered(key);
    if (posix || census.holder != STATE_NO_HOLDER)
        return attribute_waiting(&thread->tree, node_idx, key, &blame, census.holder, time_ns);
    enum state_handover handover = state_handover_after(census.ticks, key, &owner);
    if (handover != STATE_FREE)
        return lock_blame_pass_on(thread, node_idx, key, &blame, handover == STATE_PASSED_WITHOUT, time_ns);
    lock_blame_keep(thread, node_idx, key, &blame, census, time_ns, no_core);
    return true;
}

/* Books the moments that are kept. Those for which the next owner is not known yet stay, if `all` is not set.
 * With very many threads, not every moment is looked up, and the others count like the last one that was. */
static void lock_blame_pass(struct thread *thread, bool all)
{
    struct thread_handover *kept = &thread->handover;
    bool moved = kept->grafts != thread->tree.grafts; /* the node may have moved since */
    uint32_t left = 0, own = state_line_number(thread->line), owner = STATE_NO_HOLDER;
    uint32_t looked_up = delivery_moments_most();
    enum state_handover handover = STATE_FREE;
    for (uint32_t i = 0; i < kept->count; i++) {
        const struct thread_handover_moment *moment = &kept->moment[i];
        if (likely(i < looked_up))
            handover = state_handover_after(moment->ticks, kept->key, &owner);
        if (handover == STATE_FREE && !all) {
            kept->moment[left++] = *moment;
            continue;
        }
        /* If the thread itself is the next owner, its sample knows when it certainly had no core. */
        bool self = owner == own || (handover == STATE_FREE && state_holds(own, kept->key));
        bool without = handover == STATE_PASSED_WITHOUT || (self && moment->no_core);
        lock_blame_pass_on(thread, moved ? thread->tree.root : kept->node_idx, kept->key, &moment->blame, without,
                           moment->time_ns);
    }
    kept->count = left;
    kept->key = left ? kept->key : 0;
}

void lock_blame_look(struct thread *thread)
{
    lock_blame_pass(thread, thread->handover.key != load_relaxed(&thread->line->wait_key));
}

void lock_blame_settle(struct thread *thread)
{
    lock_blame_pass(thread, true);
}

uint64_t lock_blame_lacked_ticks(struct thread *thread, uint64_t now_ticks)
{
    const struct state_line *line = thread->line;
    const struct core *core = &thread->core;
    uint64_t waited_ticks = now_ticks - line->wait_since;
    struct run_counts last = core->counts.last, counts;
    signal_fence(); /* copied first: the handler of a sample that comes meanwhile changes it */
    if (thread->ledger->core_source != PROFILE_CORE_SCHEDSTAT || !run_counts_read(&core->file, &counts))
        return 0;
    bool sampled = thread->counted_wait == line->acquisitions; /* in this wait */
    uint64_t lacked_ns = counts.no_core_ns - last.no_core_ns;
    if (counts.turns == last.turns) /* on a core since the last sample */
        lacked_ns = sampled ? core->now.lost_ns : 0;
    uint64_t lacked_ticks = lacked_ns * line->grace_ticks / STATE_GRACE_NS;
    return lacked_ticks < waited_ticks ? lacked_ticks : waited_ticks;
}
