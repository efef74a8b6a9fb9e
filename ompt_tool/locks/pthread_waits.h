/* Waits for locks of POSIX threads, which libblame-pthreads.so reports. No state line says who holds such a lock, but a
 * mutex itself does, and a read-write lock names its writer. Where nobody is named, the waiters' samples leave their
 * blame for the thread that releases the lock (blame/directed.h). */
#ifndef BLAME_OMPT_TOOL_LOCKS_PTHREAD_WAITS_H
#define BLAME_OMPT_TOOL_LOCKS_PTHREAD_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Begins a wait for the lock. how: 0, PTHREADS_LIMITED (the wait may be over when the holder's sample is late),
 * PTHREADS_READS, or both; frame: that of the function that waits. Returns false if the thread is in another wait, of
 * which this one is a part. [owner] */
bool pthread_wait_begin(struct thread *thread, uint64_t key, uint32_t how, const uintptr_t *frame);
void pthread_wait_end(struct thread *thread); /* [owner] */

/* Notes the mutex that the thread's condition wait will acquire; 0: none. [owner] */
void pthread_wait_note_mutex(struct thread *thread, uintptr_t mutex);

/* For a thread that waits for a lock: returns true if a jump has left the wait, and then ends it. [handler] */
bool pthread_wait_is_left(struct thread *thread, const ucontext_t *context);

/* Returns true if the lock for which the thread waits is known to be on its way to its next owner: nobody holds it, or
 * the thread itself is the next owner. [handler] */
bool pthread_lock_is_passing(const struct thread *thread, uint64_t key);

/* For a thread that waits for a lock: returns true if the samples of the thread that holds the lock count this one.
 * [handler] */
bool pthread_lock_is_counted(const struct thread *thread, uint64_t key);

/* Returns true if the thread holds the lock, for which another thread waits. [handler] */
bool pthread_lock_is_held(const struct thread *thread, uint64_t key);

/* For a thread in a condition wait: returns true if it sleeps until it gets the mutex. Must be called after
 * restart_enter(). [handler] */
bool pthread_wait_is_for_mutex(const struct thread *thread, const ucontext_t *context);

static inline bool pthread_wait_reacquires(const struct thread *thread, const ucontext_t *context) /* [handler] */
{
    return unlikely(load_relaxed(&thread->pthread.mutex)) && pthread_wait_is_for_mutex(thread, context);
}

/* Makes the thread one that waits for the mutex of its condition wait, until state_end_lockwait(). [handler] */
void pthread_wait_sets_mutex(struct thread *thread);

#endif
