/* Counters of hardware and kernel: BLAME_COUNTERS, read at samples and whenever somebody asks, and
 * BLAME_SAMPLE, samples by the overflow of one instead of by a clock (docs/accounting.md).
 *
 * PAPI knows the names, at the start only. The counting is the kernel's: PAPI_read() allocates, prints and
 * may be cancelled, and PAPI_overflow() has a signal handler of its own. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTERS_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Begins to count for the calling thread, whose timer does not run yet. [owner] */
void counters_attach(struct thread *thread);

/* Books what was counted after the last sample; the thread's timer does not run any more. At the end, for
 * other threads that are quiet, too. [owner] */
void counters_settle(struct thread *thread);
void counters_detach(struct thread *thread); /* ends the counting [owner] */

/* Lets go of the parent's counters in the child of a fork. [init] */
void counters_forked(void);

/* Starts the calling thread's samples by overflow, with that signal; false: it has none. [owner] */
bool counters_overflow_start(struct thread *thread, int signal);
void counters_overflow_stop(struct thread *thread); /* any thread may [any] */

/* After a sample by overflow: the next may come. [handler] */
void counters_overflow_rearm(struct thread *thread);

/* For the functions below, which cost one branch when nothing is counted. [handler] */
bool counters_read_all(struct thread *thread, int64_t values[PROFILE_COUNTERS]);
void counters_take_delta(struct thread *thread);                             /* [handler] */
void counters_book_at(struct thread *thread, uint32_t node_idx);             /* [handler] */
void counters_book_to(struct thread *thread, enum profile_counters_sum sum); /* [handler] */
bool counters_is_own(const struct thread *thread, const siginfo_t *info);    /* [handler] */

/* What the thread has counted since it was attached, in the order of counters_plan_text(); two system calls.
 * False: nothing is counted. [handler] */
static inline bool counters_read(struct thread *thread, int64_t values[PROFILE_COUNTERS])
{
    return unlikely(thread->counters != NULL) && counters_read_all(thread, values);
}

/* At the begin of a sample's handling: what was counted since the last one waits to be booked. [handler] */
static inline void counters_take(struct thread *thread)
{
    if (unlikely(thread->counters != NULL))
        counters_take_delta(thread);
}

/* Books what waits in the context that the sample hit. [handler] */
static inline void counters_book(struct thread *thread, uint32_t node_idx)
{
    if (unlikely(thread->counters != NULL))
        counters_book_at(thread, node_idx);
}

/* Books what waits in the ledger: no context has it. [handler] */
static inline void counters_book_ledger(struct thread *thread, enum profile_counters_sum sum)
{
    if (unlikely(thread->counters != NULL))
        counters_book_to(thread, sum);
}

/* Whether the signal tells of an overflow of the thread's own. [handler] */
static inline bool counters_overflowed(const struct thread *thread, const siginfo_t *info)
{
    return unlikely(thread->counters != NULL) && counters_is_own(thread, info);
}

#endif
