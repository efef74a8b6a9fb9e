/* When a thread's samples come: its sampling periods, and the settings of its timer. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_TIMER_H
#define BLAME_OMPT_TOOL_SAMPLING_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/account.h"
#include "ompt_tool/session/thread.h"

/* signal that the program has last taken from the tool; timers must not send it (G1) */
extern int timer_taken_signal;

/* Begins the thread's sampling periods at begin_ns, a time on the clock that its samples use. [handler] */
void timer_begin_periods(struct thread *thread, uint64_t begin_ns, uint64_t period_ns);

/* Returns what a signal that has just arrived stands for. [handler] */
struct delivery timer_take_delivery(struct thread *thread, const siginfo_t *info, const struct clock_reading *clocks);

/* Disarms the thread's timers if the program has taken their signal. Called after each setting of a timer. [handler] */
void timer_heed_taken_signal(const struct thread *thread);

/* Goes on with a sample in each period, for a thread that has been a sleeper. Makes two system calls
 * (timer_settime). [handler] */
void timer_resume(struct thread *thread);

/* Begins a new period now (moments_renew). Makes one system call (timer_settime). [owner] */
int64_t timer_renew(struct thread *thread);

/* Prepares the next sample, at the handler's end. was_sleeper: the thread was one (sleeper.h) when the signal came.
 * [handler] */
void timer_prepare_next(struct thread *thread, bool was_sleeper, const struct clock_reading *clocks);

/* ---- with many more threads than cores, the period of each thread is longer ---- */

extern uint64_t crowd_least_ns; /* sampling period of all threads in ns; read it through crowd_period_ns() */

/* Returns the sampling period of all threads in ns; 0 before the first thread is sampled. [handler] */
static inline uint64_t crowd_period_ns(void)
{
    return load_relaxed(&crowd_least_ns);
}

/* Lengthens the period if the program has too many threads for it. [owner] */
void crowd_grows(uint32_t threads);

/* Resets the period in a forked child, which has one thread. [init] */
void crowd_forked(void);

#endif
