/* Records waits for locks, by samples. Below the root of its own tree, each thread has one record for each
 * lock and each call that initialised the lock (docs/format.md). Threads that are not sampled while they wait
 * pay nothing. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_WAITS_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_WAITS_H

#include <stdint.h>

#include "ompt_tool/session/thread.h"

/* Makes the lock's record, from which the lock gets its name. Returns NULL if there is no room. [handler] */
struct profile_waits *lock_waits_note(struct thread *thread, uint64_t lock_key);

/* Records a sample of a thread that was waiting for the lock; p is the sample's weight in ns. [handler] */
void lock_waits_sample(struct thread *thread, uint64_t lock_key, double p);

/* Finds the variable that names the critical section that this thread has just left. [owner] */
void lock_waits_name_critical(struct thread *thread, uint64_t lock_key);

#endif
