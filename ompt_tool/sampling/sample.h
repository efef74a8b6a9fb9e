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

/* Counts a delivery as dropped, by cause. [handler] */
void sample_drop(struct thread *thread, const struct delivery *delivery, enum profile_drop cause);

/* Books the dispatch that samples found at the start of the wait that is just ending. Called inside the tool
 * (T1). If in_region is true, the thread is still in the wait's region, and the stack gives the context.
 * Otherwise the context is the end of the region that the thread joins, or the dispatch is kept for the
 * thread's next region. [owner] */
void sample_settle(struct thread *thread, bool in_region);

/* Books the blame for a wait that is just ending and during which the thread held locks that others waited
 * for. Called inside the tool (T1). in_region is as for sample_settle(). [owner] */
void sample_take_held(struct thread *thread, bool in_region);

/* Books the dispatch kept from an earlier region in `region`, which the thread has just entered, or at the
 * root if `region` is NULL. Called inside the tool (T1). [owner] */
void sample_book_carried(struct thread *thread, struct region *region);

/* Books all dispatch that is not booked yet. Called at the end of the thread or of the measurement. [owner] */
void sample_settle_rest(struct thread *thread);

/* Books the blame that waiting threads left for the holder of a lock, in the context that releases the lock.
 * Called inside the tool (T1). [owner] */
void sample_book_release(struct thread *thread, uint64_t lock_key, uint32_t holder, const struct lock_blame *blame);

#endif
