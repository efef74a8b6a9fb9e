/* The sampling signal: one real-time signal, one timer a thread, one handler. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Installs the handler. False when no signal is free. [init] */
bool sampler_init(void);

/* A thread looks, in a callback, whether a sample of any thread is due (blame/notes.h); and once in a tenth of a second, and a
 * worker in the first wait behind a sample of its work, whether the program has taken the signal: then all timers stand still,
 * and each thread's starts again with another signal at its own next look. A worker that waits becomes a bystander
 * (restart/bystander.h) then. [owner] */
void sampler_look(struct thread *thread, uint64_t now_ticks);
static inline void sampler_watch(struct thread *thread, uint64_t now_ticks)
{
    if (unlikely(now_ticks > thread->look_ticks))
        sampler_look(thread, now_ticks);
}

/* The signal by which samples come, 0 when none is left; and bit n-1 for that signal n. [any] */
int sampler_signal(void);
uint64_t sampler_signals(void);

/* Starts the calling thread's timer, as of from_ns: what has passed since, as it had no core, is the first
 * sample's. A thread that gets no timer is a named loss. [owner] */
void sampler_start(struct thread *thread);

/* Deletes the thread's timer; at the end, any thread may. [owner] */
void sampler_stop(struct thread *thread);

/* The thread's measurement ended at end_ns, its timer is stopped and its handler records nothing any more: what was due
 * and did not come, because the thread had no core, is dropped for that reason. [owner] */
void sampler_count_undelivered(struct thread *thread, uint64_t end_ns);

/* Blocks the signal in the calling thread, and keeps it from being changed, while the process forks: a fork that takes longer than a period
 * would never end. done unblocks it, in parent and child. [any] */
void sampler_fork_prepare(void);
void sampler_fork_done(void);

/* ---- with many more threads than cores all of them are sampled less often ---- */

extern uint64_t crowd_least_ns; /* sampler.c's */

/* Every thread's period now; 0: nobody is sampled yet. [handler] */
static inline uint64_t crowd_period_ns(void)
{
    return load_relaxed(&crowd_least_ns);
}

/* That many threads are sampled now. [owner] */
void crowd_grows(uint32_t threads);

/* The child of a fork begins with itself alone. [init] */
void crowd_forked(void);

#endif
