/* What a sample counts as, by the thread's state: idleness, work, overhead or lock waiting (design:
 * docs/accounting.md). */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLE_H

#include <stdint.h>
#include <ucontext.h>

#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Records a delivery in the thread's tree and ledger. [handler] */
void sample_record(struct thread *thread, const struct delivery *delivery, const ucontext_t *context);

/* Counts a delivery as lost. [handler] */
void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause);

/* Books the dispatch that samples hit, at the end of the thread's wait. in_region: the callback runs inside a
 * live region, and the stack gives the context. Otherwise the wait may be the join of the thread's own
 * region, or the dispatch is carried to the next region. The thread is in the tool. [owner] */
void sample_settle(struct thread *thread, bool in_region);

/* Books the blame of a thread that was IDLE and held locks that others waited for: its own wait kept them
 * waiting. Called at the end of that wait; in_region as above. The thread is in the tool. [owner] */
void sample_take_held(struct thread *thread, bool in_region);

/* Books carried dispatch in the region that the thread now executes in, or at the root for NULL. The thread
 * is in the tool. [owner] */
void sample_book_carried(struct thread *thread, struct region *region);

/* Books the dispatch of a wait that does not end or that no region follows; called at the end of the thread
 * or of the measurement. [owner] */
void sample_settle_rest(struct thread *thread);

/* Books the blame that waiters left for the lock's holder, at the context of its release. The thread is in
 * the tool. [owner] */
void sample_book_release(struct thread *thread, uint64_t lock_key, uint32_t holder, const struct lock_blame *blame);

#endif
