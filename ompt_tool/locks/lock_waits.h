/* Records waits for locks, at samples. Each lock has a record below the root of the thread's own tree for
 * each call that initialised it (docs/format.md). Only samples pay for it. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_WAITS_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_WAITS_H

#include <stdint.h>

#include "ompt_tool/session/thread.h"

/* Records a sample that hit the thread while it waited for the lock; p: the sample's weight in ns. [handler] */
void lock_waits_sample(struct thread *thread, uint64_t lock_key, double p);

/* Finds the variable that names the critical section which this thread has just released. [owner] */
void lock_waits_name_critical(struct thread *thread, uint64_t lock_key);

#endif
