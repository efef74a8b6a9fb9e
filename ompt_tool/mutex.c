#include "ompt_tool/mutex.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "blame/contended.h"
#include "blame/directed.h"
#include "blame/state.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/life/fork.h"
#include "ompt_tool/sampling/lock_blame.h"
#include "ompt_tool/locks/lock_names.h"
#include "ompt_tool/locks/lock_waits.h"
#include "ompt_tool/sampling/settle.h"
#include "ompt_tool/session/thread.h"

/* These functions are called for every lock, up to 10^7 times a second. The common case is a lock for which
 * no thread was seen waiting, in a thread that holds no other lock. Other cases have functions of their own. */

/* Returns true if the lock must be stamped. A thread that stamps no locks does not read the lock's byte. */
static inline bool mutex_is_stamped(const struct state_line *line, uint64_t key)
{
    return unlikely(line->stamps != STATE_STAMPS_NONE) && contended_is_stamped(line, key);
}

static __attribute__((noinline)) void mutex_begin_stamped_wait(uint64_t key)
{
    struct thread *thread = fork_self();
    if (thread)
        state_set_lockwait_at(thread->line, key, clock_ticks());
}

void mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                   const void *codeptr)
{
    (void)hint, (void)implementation, (void)codeptr;
    struct state_line *line = thread_line;
    uint64_t key = lock_key(kind, wait_id);
    if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock)
        return; /* testing a lock never waits, and a failed test has no second event */
    if (unlikely(mutex_is_stamped(line, key)))
        mutex_begin_stamped_wait(key);
    else
        state_set_lockwait(line, key);
}

static __attribute__((noinline)) void mutex_hold_slowly(uint64_t key)
{
    struct thread *thread = fork_self();
    if (!thread)
        return;
    uint64_t now_ticks = contended_is_stamped(thread->line, key) ? clock_ticks() : 0;
    struct state_line *line = thread->line;
    if (unlikely(lock_blame_waited_long(line, now_ticks)) && thread_enter_tool(thread)) {
        line->wait_lacked = lock_blame_lacked_ticks(thread, now_ticks);
        settle_lock_wait(thread, key, now_ticks);
        thread_leave_tool(thread);
    }
    state_lock_held(line, key, now_ticks);
    if (unlikely(thread->handover.key) && thread_enter_tool(thread)) {
        lock_blame_settle(thread);
        thread_leave_tool(thread);
    }
}

void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)codeptr;
    struct state_line *line = thread_line;
    if (!state_wait_ends_simply(line))
        mutex_hold_slowly(lock_key(kind, wait_id));
}

/* Ends the wait for a nestable lock that the thread already holds. No other event reports this. */
void mutex_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)wait_id, (void)codeptr;
    struct thread *thread = fork_self();
    if (thread && endpoint == ompt_scope_begin)
        state_end_lockwait(thread->line);
}

static __attribute__((noinline)) void mutex_book_release(struct thread *thread, uint64_t key, uint32_t holder)
{
    struct lock_blame blame;
    if (!thread_enter_tool(thread))
        return;
    if (directed_take(key, holder, &blame))
        settle_release(thread, key, holder, &blame);
    thread_leave_tool(thread);
}

/* Forgets the holder of a lock that this thread releases but that its state line does not list: another
 * thread's task acquired the lock, or the line was full. Returns the number of the holder's state line. */
static __attribute__((noinline)) uint32_t mutex_forget_holder(struct thread *thread, uint64_t key)
{
    uint32_t holder = state_forget_holder(key);
    if (holder == STATE_NO_HOLDER && state_unnamed_released(thread->line))
        holder = state_line_number(thread->line);
    return holder;
}

static __attribute__((noinline)) void mutex_release_slowly(uint64_t key)
{
    struct thread *thread = fork_self();
    if (!thread)
        return;
    uint32_t holder = state_line_number(thread->line);
    uint64_t now_ticks = contended_is_stamped(thread->line, key) ? clock_ticks() : 0;
    if (unlikely(!state_lock_released(thread->line, key, now_ticks)))
        holder = mutex_forget_holder(thread, key);
    if (PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_ORDERED)
        holder = DIRECTED_ANY_HOLDER;
    if (unlikely(directed_waiting(key, holder)))
        mutex_book_release(thread, key, holder);
    if (unlikely(directed_waiting(DIRECTED_NO_CORE | key, holder)))
        mutex_book_release(thread, DIRECTED_NO_CORE | key, holder);
    if (unlikely(thread->unnamed_critical == key))
        lock_waits_name_critical(thread, key);
}

void mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)codeptr;
    struct state_line *line = thread_line;
    uint64_t key = lock_key(kind, wait_id);
    /* If the lock is not stamped, no waiter can have left blame for it (B2). */
    if (unlikely(mutex_is_stamped(line, key)) || !state_lock_released_simply(line, key))
        mutex_release_slowly(key);
}

/* the locks that the calling thread initialised last */
static __thread struct lock_streak mutex_streak __attribute__((tls_model("initial-exec")));

/* Notes a lock that does not continue an array. */
static __attribute__((noinline)) void mutex_init_slowly(ompt_wait_id_t wait_id, const void *codeptr)
{
    /* The module is looked up now, because it may be unloaded by the time a sample needs the lock's name. */
    uint64_t call = codeptr ? capture_key((uintptr_t)codeptr - 1) : 0;
    lock_names_initialised(wait_id, call);
    lock_streak_add(&mutex_streak, wait_id, (uintptr_t)codeptr, call);
}

void mutex_init(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)hint, (void)implementation;
    if (!lock_streak_continues(&mutex_streak, wait_id, (uintptr_t)codeptr))
        mutex_init_slowly(wait_id, codeptr);
}

void mutex_destroy(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)codeptr;
    if (!lock_streak_has(&mutex_streak, wait_id))
        lock_names_destroyed(wait_id);
}
