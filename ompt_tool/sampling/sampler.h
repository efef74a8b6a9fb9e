/* Samples the program's threads: one real-time signal and one handler for all threads, one timer for each. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H
#define BLAME_OMPT_TOOL_SAMPLING_SAMPLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "ompt_tool/session/thread.h"

/* Installs the handler. Returns false if no signal is free. [init] */
bool sampler_init(void);

/* Called at the start of a wait, when look_ticks is reached. Chooses which waits the thread notes for samples
 * that are due (blame/notes.h). Ten times a second, and in a worker's first wait after a sample of its work,
 * also checks whether the program has taken the sampling signal. If so, all timers are stopped, and each
 * thread starts its own again with another signal at its next check. At such a check a waiting worker also
 * becomes a bystander (restart/bystander.h). [owner] */
void sampler_look(struct thread *thread, uint64_t now_ticks);
static inline void sampler_watch(struct thread *thread, uint64_t now_ticks)
{
    if (unlikely(now_ticks > thread->look_ticks))
        sampler_look(thread, now_ticks);
}

/* Return the number of the sampling signal (0 if none is left), and a mask in which its bit is set (bit n-1
 * for signal n). [any] */
int sampler_signal(void);
uint64_t sampler_signals(void);

/* Starts the calling thread's timer. The first sample also covers the time since thread->sampling.from_ns. If no timer
 * can be created, the thread's time is counted as a loss. [owner] */
void sampler_start(struct thread *thread);

/* Deletes the thread's timer. At the end of the measurement any thread may call this. [owner] */
void sampler_stop(struct thread *thread);

/* Called by a sleeper (sleeper.h) outside the handler, before it waits in the runtime or for a lock, and before nodes
 * of its tree move: books its sleep, and samples the thread in each period again. [owner] */
void sampler_wake(struct thread *thread);

/* Begins a new period for a thread that has waited for a lock. Threads that sleep for a lock get it in turn, but a signal
 * sends a thread to the end of the queue. So who gets the lock has had no signal for longer than others, and its next one
 * would come too soon. Returns by how many ns the periods so far represent more time than has passed; negative: less; 0: no
 * period was begun. Called inside the tool (T1). [owner] */
int64_t sampler_renew(struct thread *thread);

/* Books a sleep that goes on at end_ns, the end of the measurement. The rules of sampler_count_undelivered() hold.
 * [owner] */
void sampler_settle_sleep(struct thread *thread, uint64_t end_ns);

/* Counts samples that were due before end_ns but never came because the thread had no core: they count as
 * dropped at the end of the measurement. The thread's timer must be stopped, and its handler must record
 * nothing more. [owner] */
void sampler_count_undelivered(struct thread *thread, uint64_t end_ns);

/* Called before and after the process forks. sampler_fork_prepare() blocks the sampling signal in the calling
 * thread, and keeps the tool from changing to another signal. The signal would interrupt fork(), which then
 * starts again: a fork that takes longer than a period would never finish. sampler_fork_done() unblocks the
 * signal, in parent and child. [any] */
void sampler_fork_prepare(void);
void sampler_fork_done(void);

/* Called in the handler for a signal in a thread without a record; NULL: such signals are ignored. Must restore
 * errno and call restart_leave(). [handler] */
extern void (*sampler_on_stranger)(const siginfo_t *info, ucontext_t *context);

/* Makes the stack on which the handler runs in the calling thread while the thread has no record. Returns
 * false if there is no memory. sampler_drop_stranger_stack() drops the stack, which may be the one on which the
 * caller runs. [init] */
bool sampler_make_stranger_stack(void);
void sampler_drop_stranger_stack(void);

#endif
