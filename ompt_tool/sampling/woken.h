/* Pairs of a wait and the thread that ended it: where a thread waited for a condition variable, a semaphore or the like,
 * and in which context another thread woke it (docs/accounting.md, "Woken by").
 *
 * A pair adds nothing to the accounts: the waiting is blocked time, as without it. Only waits in which samples have found
 * the thread asleep have pairs. The first of these samples joins the object (blame/wakers.h), so that the thread that
 * signals the object notes its context. The end of the wait books the pair in the waiting thread's tree. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_WOKEN_H
#define BLAME_OMPT_TOOL_SAMPLING_WOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/wakers.h"
#include "cct/profile_tree.h"
#include "ompt_tool/session/thread.h"

/* Begins a wait for the object at this address. [owner] */
void woken_begin(struct thread *thread, enum profile_wake wake, uintptr_t object);

/* Returns the key of the wait, which is over: no sample joins it, or adds time to it, from now on. [owner] */
static inline uint64_t woken_close(struct thread *thread)
{
    uint64_t key = load_relaxed(&thread->awaits.key);
    store_relaxed(&thread->awaits.key, 0);
    store_relaxed(&thread->line->awaits, 0);
    signal_fence(); /* before what the handler sets while the key is not 0 */
    if (unlikely(thread->awaits.counted)) {
        wakers_count_waiting(thread->awaits.counted, -1);
        thread->awaits.counted = 0;
    }
    return key;
}

static inline bool woken_is_sampled(const struct thread *thread) /* [owner] */
{
    return unlikely(load_relaxed(&thread->awaits.sampled));
}

/* Ends the wait that woken_close() has closed, after all time that the thread slept was booked. Called inside the tool
 * (T1) if a sample was taken in the wait. woken: whether another thread may have ended it, and not a time limit.
 * [owner] */
void woken_end(struct thread *thread, uint64_t key, bool woken);

/* Notes that the sample of a thread that waits is late: it has joined the object only after others may have signalled it.
 * So the thread stays joined in its next waits for this object. [handler] */
void woken_late(struct thread *thread);

/* Sets `times` to when others have signalled the object in this wait, in ticks, the oldest first, and returns their number;
 * 0 if the thread is in no wait. [handler] */
uint32_t woken_times(const struct thread *thread, uint64_t times[WAKERS_TIMES]);

/* Leaves the objects that the thread stays joined to. Called at its end. [owner] */
void woken_forget(struct thread *thread);

/* Adds time for which samples have found the thread asleep in the context of the node. [handler] */
void woken_slept(struct thread *thread, uint32_t node_idx, double p);

/* Notes that the calling thread is about to wake those that wait for the object. Called inside the tool (T1). [owner] */
void woken_by(struct thread *thread, uintptr_t object);

/* The same for those that wait until the calling thread has ended, which it is about to do. [owner] */
void woken_by_end(struct thread *thread, uintptr_t object);

#endif
