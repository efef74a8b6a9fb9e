/* Books what samples of a thread left for a later event: dispatch at the end of a wait, blame for locks at the end of
 * a wait or at a release. Nothing here runs in the handler. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SETTLE_H
#define BLAME_OMPT_TOOL_SAMPLING_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "blame/directed.h"
#include "ompt_tool/session/thread.h"

/* Books the dispatch that samples found at the start of the wait that is just ending. Called inside the tool
 * (T1). If in_region is true, the thread is still in the wait's region, and the stack gives the context.
 * Otherwise the context is the end of the region that the thread joins, or the dispatch is kept for the
 * thread's next region. [owner] */
void settle_wait(struct thread *thread, bool in_region);

/* Books the blame for a wait that is just ending and during which the thread held locks that others waited
 * for. Called inside the tool (T1). in_region is as for settle_wait(). [owner] */
void settle_held(struct thread *thread, bool in_region);

/* Books the dispatch kept from an earlier region in `region`, which the thread has just entered, or at the
 * root if `region` is NULL. Called inside the tool (T1). [owner] */
void settle_carried(struct thread *thread, struct region *region);

/* Books all dispatch and lock wait that is not booked yet. Called at the end of the thread or of the measurement. [owner] */
void settle_rest(struct thread *thread);

/* Begins a new sampling period at the end of a long wait for a lock (sampler_renew). Called inside the tool (T1). [owner] */
void settle_lock_wait(struct thread *thread, uint64_t key, uint64_t now_ticks);

/* Books the blame that waiting threads left for the holder of a lock, in the context that releases the lock.
 * Called inside the tool (T1). [owner] */
void settle_release(struct thread *thread, uint64_t lock_key, uint32_t holder, const struct lock_blame *blame);

#endif
