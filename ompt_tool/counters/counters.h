/* Counters of the hardware and the kernel. BLAME_COUNTERS reads them at samples and probes. BLAME_SAMPLE
 * takes samples at a counter's overflow instead of at random times (docs/accounting.md).
 *
 * PAPI supplies only the names, at the start. The kernel counts, because PAPI_read() allocates, prints and
 * can be cancelled, and PAPI_overflow() has a signal handler of its own. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTERS_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Starts to count for the calling thread, before its timer runs. [owner] */
void counters_attach(struct thread *thread);

/* Books what was counted after the last sample. The thread's timer must have stopped. At the end of the
 * measurement it may also be called for other threads, once they have left the tool. [owner] */
void counters_settle(struct thread *thread);
void counters_detach(struct thread *thread); /* stops counting [owner] */

/* Closes the parent's counters, in a forked child. [init] */
void counters_forked(void);

/* Starts the calling thread's samples at overflows, delivered by this signal. Returns false if the thread
 * gets none. [owner] */
bool counters_overflow_start(struct thread *thread, int signal);
void counters_overflow_stop(struct thread *thread); /* [any] */

/* Allows the next overflow, after a sample by overflow. [handler] */
void counters_overflow_rearm(struct thread *thread);

/* Slow paths of the functions below, which cost one branch if nothing is counted. [handler] */
bool counters_read_all(struct thread *thread, int64_t values[PROFILE_COUNTERS]);
void counters_take_delta(struct thread *thread);                             /* [handler] */
void counters_book_at(struct thread *thread, uint32_t node_idx);             /* [handler] */
void counters_book_to(struct thread *thread, enum profile_counters_sum sum); /* [handler] */
bool counters_is_own(const struct thread *thread, const siginfo_t *info);    /* [handler] */

/* Reads what the thread has counted since counters_attach(), in the order of counters_plan_text(). Makes two
 * system calls. Returns false if nothing is counted. [handler] */
static inline bool counters_read(struct thread *thread, int64_t values[PROFILE_COUNTERS])
{
    return unlikely(thread->counters != NULL) && counters_read_all(thread, values);
}

/* Takes the counts since the last sample, to be booked later. Must come first in a sample. [handler] */
static inline void counters_take(struct thread *thread)
{
    if (unlikely(thread->counters != NULL))
        counters_take_delta(thread);
}

/* Books the taken counts at the context that the sample hit. [handler] */
static inline void counters_book(struct thread *thread, uint32_t node_idx)
{
    if (unlikely(thread->counters != NULL))
        counters_book_at(thread, node_idx);
}

/* Books the taken counts in the ledger, if they have no context. [handler] */
static inline void counters_book_ledger(struct thread *thread, enum profile_counters_sum sum)
{
    if (unlikely(thread->counters != NULL))
        counters_book_to(thread, sum);
}

/* Returns true if the signal reports an overflow of the thread's own counter. [handler] */
static inline bool counters_overflowed(const struct thread *thread, const siginfo_t *info)
{
    return unlikely(thread->counters != NULL) && counters_is_own(thread, info);
}

#endif
