/* Counters of the hardware and the kernel. With BLAME_COUNTERS they are read at samples and probes. With
 * BLAME_SAMPLE, samples are taken when a counter overflows instead of at random times (docs/accounting.md).
 *
 * PAPI only translates the names, at the start. The kernel counts, because PAPI_read() allocates memory,
 * prints and can be cancelled, and PAPI_overflow() installs a signal handler of its own. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTERS_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_format.h"
#include "ompt_tool/session/thread.h"

/* Starts counting for the calling thread. Must be called before the thread's timer runs. [owner] */
void counters_attach(struct thread *thread);

/* Books what the thread has counted since its last sample. The thread's timer must have been stopped. At the
 * end of the measurement, this may also be called for other threads, once they have left the tool. [owner] */
void counters_settle(struct thread *thread);
void counters_detach(struct thread *thread); /* stops counting [owner] */

/* In a forked child: closes the parent's counters. [init] */
void counters_forked(void);

/* Starts sampling the calling thread at overflows, which are signalled by `signal`. Returns false if that is
 * impossible. [owner] */
bool counters_overflow_start(struct thread *thread, int signal);
void counters_overflow_stop(struct thread *thread); /* [any] */

/* Makes the next overflow possible, after a sample that an overflow caused. [handler] */
void counters_overflow_rearm(struct thread *thread);

/* Slow paths of the functions below. Those cost only one branch if nothing is counted. [handler] */
bool counters_read_all(struct thread *thread, int64_t values[PROFILE_COUNTERS]);
void counters_take_delta(struct thread *thread);                             /* [handler] */
void counters_book_at(struct thread *thread, uint32_t node_idx);             /* [handler] */
void counters_book_to(struct thread *thread, enum profile_counters_sum sum); /* [handler] */
bool counters_is_own(const struct thread *thread, const siginfo_t *info);    /* [handler] */

/* Reads the thread's counts since counters_attach(), in the order of counters_plan_text(). Makes two system
 * calls. Returns false if nothing is counted. [handler] */
static inline bool counters_read(struct thread *thread, int64_t values[PROFILE_COUNTERS])
{
    return unlikely(thread->counters != NULL) && counters_read_all(thread, values);
}

/* Takes the counts since the last sample; they are booked later. Must come first in a sample. [handler] */
static inline void counters_take(struct thread *thread)
{
    if (unlikely(thread->counters != NULL))
        counters_take_delta(thread);
}

/* Books the counts that were taken at the sampled context. [handler] */
static inline void counters_book(struct thread *thread, uint32_t node_idx)
{
    if (unlikely(thread->counters != NULL))
        counters_book_at(thread, node_idx);
}

/* Books the counts that were taken in the ledger, for a sample without a context. [handler] */
static inline void counters_book_ledger(struct thread *thread, enum profile_counters_sum sum)
{
    if (unlikely(thread->counters != NULL))
        counters_book_to(thread, sum);
}

/* Returns true if the signal reports an overflow of a counter of this thread. [handler] */
static inline bool counters_overflowed(const struct thread *thread, const siginfo_t *info)
{
    return unlikely(thread->counters != NULL) && counters_is_own(thread, info);
}

#endif
