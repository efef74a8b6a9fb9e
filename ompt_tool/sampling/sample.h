/* Decides by the thread's state what a sample counts as: work, overhead, idleness, lock wait or MPI wait
 * (docs/accounting.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H

#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Records a delivery in the thread's tree and ledger. [handler] */
void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

/* Counts a delivery as dropped for that cause. [handler] */
void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause);

/* Books the dispatch that samples found at the start of the thread's wait; called at the end of that wait,
 * inside the tool (T1). If in_region is true, the thread is still inside the wait's region, and the stack
 * gives the context. Otherwise the context is the end of the region that the thread joins, or the dispatch is
 * carried to the thread's next region. [owner] */
void sample_settle(struct thread *thread, bool in_region);

/* Books the blame for a wait of the thread that kept others waiting: the thread was IDLE while it held locks
 * that others waited for. Called at the end of that wait, inside the tool (T1); in_region is as for
 * sample_settle(). [owner] */
void sample_take_held(struct thread *thread, bool in_region);

/* Books the carried dispatch in `region`, which the thread now executes in, or at the root for NULL. Called
 * inside the tool (T1). [owner] */
void sample_book_carried(struct thread *thread, struct region *region);

/* Books dispatch that no end of a wait and no next region has booked. Called at the end of the thread or of
 * the measurement. [owner] */
void sample_settle_rest(struct thread *thread);

/* Books the blame that waiters left for the lock's holder, in the context that releases the lock. Called
 * inside the tool (T1). [owner] */
void sample_book_release(struct thread *thread, uint64_t lock_key, uint32_t holder, const struct lock_blame *blame);

#endif
