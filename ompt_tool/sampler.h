/* The sampling signal: one real-time signal, one timer a thread, one handler. */
#ifndef BLAME_OMPT_TOOL_SAMPLER_H
#define BLAME_OMPT_TOOL_SAMPLER_H

#include <stdbool.h>

#include "ompt_tool/thread.h"

/* Installs the handler. False when no signal is free. [init] */
bool sampler_init(void);

/* Bit n-1 for each signal n that the sampler uses. [any] */
uint64_t sampler_signals(void);

/* That many threads are sampled now: with many more than cores all of them are sampled less often. [owner] */
void sampler_crowd(uint32_t threads);

/* Starts the calling thread's timer. A thread that gets none is a named loss. [owner] */
void sampler_start(struct thread *thread);

/* Deletes the thread's timer; at the end, any thread may. [owner] */
void sampler_stop(struct thread *thread);

/* Blocks the signal in the calling thread while the process forks: a fork that takes longer than a period
 * would never end. done unblocks it, in parent and child. [any] */
void sampler_fork_prepare(void);
void sampler_fork_done(void);

#endif
