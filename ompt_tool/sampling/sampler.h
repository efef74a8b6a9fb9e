/* The samples: one real-time signal, one timer a thread, one handler. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Installs the handler; returns false if no signal is free. [init] */
bool sampler_init(void);

/* Checks, in a callback, whether a sample of any thread is due (blame/notes.h). Ten times a second, and for a
 * worker in the first wait after a sample of its work, also checks whether the program has taken the signal.
 * In that case all timers stop, and each thread starts its own again with another signal at its next check. A
 * waiting worker also becomes a bystander here (restart/bystander.h). [owner] */
void sampler_look(struct thread *thread, uint64_t now_ticks);
static inline void sampler_watch(struct thread *thread, uint64_t now_ticks)
{
    if (unlikely(now_ticks > thread->look_ticks))
        sampler_look(thread, now_ticks);
}

/* Return the signal of the samples, 0 if none is left; and a mask with bit n-1 set for signal n. [any] */
int sampler_signal(void);
uint64_t sampler_signals(void);

/* Starts the calling thread's timer, with effect from from_ns: the first sample covers the time that the
 * thread has lost since then. A thread without a timer is a named loss. [owner] */
void sampler_start(struct thread *thread);

/* Deletes the thread's timer. At the end of the measurement any thread may call this. [owner] */
void sampler_stop(struct thread *thread);

/* Drops the samples that were due until end_ns and did not come because the thread had no core, with that
 * reason. The thread's timer is stopped, and its handler records nothing any more. [owner] */
void sampler_count_undelivered(struct thread *thread, uint64_t end_ns);

/* Block the signal in the calling thread and keep the signal number from changing while the process forks: a
 * fork that took longer than a period would never finish. sampler_fork_done() unblocks it, in parent and
 * child. [any] */
void sampler_fork_prepare(void);
void sampler_fork_done(void);

/* ---- with many more threads than cores each thread is sampled less often ---- */

extern uint64_t crowd_least_ns; /* defined in sampler.c; read through crowd_period_ns() */

/* Returns the current period of every thread in ns; 0: no thread is sampled yet. [handler] */
static inline uint64_t crowd_period_ns(void)
{
    return load_relaxed(&crowd_least_ns);
}

/* Lengthens the period if that many threads need it. [owner] */
void crowd_grows(uint32_t threads);

/* Resets the period in a forked child, which has one thread. [init] */
void crowd_forked(void);

#endif
