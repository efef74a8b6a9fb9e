/* Samples a thread that sleeps in its own code.
 *
 * A signal wakes a sleeping thread, which costs some 20 us. So once several samples in a row have found the thread
 * in the same sleep, the next one comes much later. The kernel's counts then show whether the thread slept all the
 * time (voluntary switches) and, if the sleep is over, for how long the thread has had a core and has lacked one
 * since. So the sleep's length is known exactly.
 *
 * The end of a sleep is noticed in one of two ways. If the call's own time limit ends it, the timer is set to a
 * random moment of the first period after that. Otherwise a timer of the thread's CPU time expires at the first
 * clock tick at which the thread has a core. Such a tick stands for a tick's length of time after the sleep,
 * wherever in that time it comes (docs/accounting.md, "Sleepers").
 *
 * The rules at the head of sampler.c apply. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SLEEPER_H
#define BLAME_OMPT_TOOL_SAMPLING_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "blame/account.h"
#include "ompt_tool/session/thread.h"

/* Reads the length of a clock tick. [init] */
void sleeper_init(void);

/* Returns true if the thread's next sample is that of a sleeper. [handler] */
static inline bool sleeper_is(const struct thread *thread)
{
    return thread->sleep.state != SLEEP_NONE;
}

/* Makes the thread a sleeper if its last sample, at now_ns, permits that. Returns true if so. Makes system calls
 * (timer_create, timer_settime). [handler] */
bool sleeper_begin(struct thread *thread, uint64_t now_ns, int signal);

/* Returns the delivery for a signal that has just arrived for a sleeper. [handler] */
struct delivery sleeper_delivery(const struct thread *thread, bool by_cpu_timer, const struct clock_reading *clocks);

void sleeper_record(struct thread *thread, const struct delivery *delivery, bool by_cpu_timer,
                    const ucontext_t *context); /* [handler] */

/* Counts the time up to now_ns as dropped. The thread is then no sleeper any more. [handler] */
void sleeper_drop(struct thread *thread, uint64_t now_ns, enum profile_drop cause);

/* Sets the thread's timers for its next sample, if it is still a sleeper. Makes system calls (timer_settime).
 * [handler] */
void sleeper_set_timers(struct thread *thread, uint64_t now_ns);

/* Books a sleeper's time up to end_ns, the end of the measurement, as sleep. [owner] */
void sleeper_end(struct thread *thread, uint64_t end_ns);

/* Books the sleep of a sleeper that is awake: all that begins at sleep.begin_ns has not been sampled yet. The thread
 * stays a sleeper, so that a signal is ignored until the caller has set the timers. [owner] */
void sleeper_wake(struct thread *thread);

#endif
