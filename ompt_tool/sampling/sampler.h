/* Samples the program's threads: one real-time signal and one handler for all threads, one timer for each. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Installs the handler. Returns false if no signal is free. [init] */
bool sampler_init(void);

/* Chooses, in a callback, which waits the thread notes for samples that are due (blame/notes.h). Ten times a
 * second, and in a worker's first wait after a sample of its work, also checks whether the program has taken
 * the signal. If so, all timers stop, and each thread starts its own timer again at its next check, with
 * another signal. At such a check a waiting worker also becomes a bystander (restart/bystander.h). [owner] */
void sampler_look(struct thread *thread, uint64_t now_ticks);
static inline void sampler_watch(struct thread *thread, uint64_t now_ticks)
{
    if (unlikely(now_ticks > thread->look_ticks))
        sampler_look(thread, now_ticks);
}

/* Return the number of the signal that samples use (0 if none is left), and a mask of it in which bit n-1
 * stands for signal n. [any] */
int sampler_signal(void);
uint64_t sampler_signals(void);

/* Starts the calling thread's timer. The first sample also covers the time since thread->from_ns, in which
 * the thread was not sampled. If the thread gets no timer, its time is a named loss. [owner] */
void sampler_start(struct thread *thread);

/* Deletes the thread's timer. At the end of the measurement any thread may call this. [owner] */
void sampler_stop(struct thread *thread);

/* Counts, as dropped at the end of the measurement, the samples that were due before end_ns and did not come
 * because the thread had no core. The thread's timer is stopped, and its handler records nothing more.
 * [owner] */
void sampler_count_undelivered(struct thread *thread, uint64_t end_ns);

/* sampler_fork_prepare() blocks the signal in the calling thread, and keeps the tool from changing to another
 * signal, while the process forks: the signal interrupts a fork and makes it start again, so a fork that
 * takes longer than a period would never finish. sampler_fork_done() unblocks the signal, in parent and
 * child. [any] */
void sampler_fork_prepare(void);
void sampler_fork_done(void);

/* ---- with many more threads than cores, each thread is sampled less often ---- */

extern uint64_t crowd_least_ns; /* ns; read it through crowd_period_ns() */

/* Returns the sampling period of all threads in ns; 0 before the first thread is sampled. [handler] */
static inline uint64_t crowd_period_ns(void)
{
    return load_relaxed(&crowd_least_ns);
}

/* Lengthens the period if this number of threads requires it. [owner] */
void crowd_grows(uint32_t threads);

/* Resets the period in a forked child, which has one thread. [init] */
void crowd_forked(void);

#endif
