/* What samples of waiting threads record about the lock itself, in the thread's own tree below its root: one
 * record for each lock and each call that initialised it (docs/format.md). Only samples pay for it. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_WAITS_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_WAITS_H

#include <stdint.h>

#include "ompt_tool/session/thread.h"

/* Records a sample of weight p that hit the thread while it waited for the lock. [handler] */
void lock_waits_sample(struct thread *thread, uint64_t lock_key, double p);

/* Finds the variable of the critical section that this thread has just released. [owner] */
void lock_waits_name_critical(struct thread *thread, uint64_t lock_key);

#endif
