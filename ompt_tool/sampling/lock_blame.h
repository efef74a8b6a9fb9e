/* Blames the holders of locks for the threads that wait for these (docs/accounting.md, "Locks").
 *
 * A holder's own sample counts the threads that wait for its locks, because only this sample knows whether the
 * holder had a core at its moment. While a lock passes from one thread to the next, it has no holder: the
 * waiters' samples keep this waiting until the next owner is known, which then knows whether it had a core. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_LOCK_BLAME_H
#define BLAME_OMPT_TOOL_SAMPLING_LOCK_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/contended.h"
#include "ompt_tool/session/thread.h"

/* Blames the thread for the threads that wait for its locks at one moment of a delivery. p: the moment's weight
 * in ns; node_idx: the context that holds the locks, 0 if it is not known yet; no_core: whether the thread had
 * none. [handler] */
void lock_blame_count_waiters(struct thread *thread, uint32_t node_idx, bool no_core, uint64_t time_ns, double p,
                              struct census census);

/* Returns true if others may wait for locks that the thread holds. [handler] */
static inline bool lock_blame_may_be(const struct thread *thread)
{
    return unlikely(state_holds_locks(thread->line)) || unlikely(load_relaxed(&contended_posix_waits));
}

/* Books, in the context of the node, what others have left in the table for the locks that the thread holds. With
 * BLAME_LOCKS=release, that stays there. [handler] */
void lock_blame_take_held(struct thread *thread, uint32_t node_idx, uint64_t time_ns);

/* Books one moment at which the thread waited for a lock, in the context of the node, unless the holder's samples
 * do. no_core: whether the thread had no core at the moment. Returns false if memory is short. [handler] */
bool lock_blame_moment(struct thread *thread, uint32_t node_idx, uint64_t key, double p, struct census census,
                       uint64_t time_ns, bool no_core);

/* Books what earlier samples of the thread have kept, if the lock has passed to another thread since. [handler] */
void lock_blame_look(struct thread *thread);

/* Books what samples have kept, at the thread's acquisition of a lock or at its end. [owner] */
void lock_blame_settle(struct thread *thread);

/* Returns true if the wait for a lock that is now ending was so long that the thread may have slept. [owner] */
static inline bool lock_blame_waited_long(const struct state_line *line, uint64_t now_ticks)
{
    const uint64_t graces = STATE_LATE_NS / STATE_GRACE_NS;
    return now_ticks && line->wait_since && now_ticks - line->wait_since >= graces * line->grace_ticks;
}

/* Returns for how many ticks the thread, which has just acquired a lock, has lacked a core since it asked for the
 * lock. Called inside the tool (T1). [owner] */
uint64_t lock_blame_lacked_ticks(struct thread *thread, uint64_t now_ticks);

#endif
