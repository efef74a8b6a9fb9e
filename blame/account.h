/* How a sample becomes numbers: LMF13 eq. 1 and its integration with locks. Derivations: docs/accounting.md.
 * All times in nanoseconds; p is the sample's weight, period x (1 + timer overruns). */
#ifndef BLAME_BLAME_ACCOUNT_H
#define BLAME_BLAME_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "blame/locks.h"
#include "blame/state.h"
#include "cct/profile_format.h"

/* A busy thread's sample at its own context. [handler] */
void account_busy(struct profile_metric *metric, bool overhead, double p, uint64_t count,
                  struct census census);

/* What a waiter's sample sends to the holder. [handler] */
struct lock_blame account_waiter(double p, struct census census);

/* The symptom, at the waiter's own context. [handler] */
void account_waiting_here(struct profile_metric *metric, double p, uint64_t count, bool first_of_wait);

/* Blame that arrives at the context of a release, or at a named row. [handler] */
void account_blame(struct profile_metric *metric, const struct lock_blame *blame);

/* A sample that hit an IDLE thread: idleness or dispatch shows when the thread's wait goes on or ends. */
struct idle_sample {
    bool pending;
    bool parked;
    struct census census; /* the thread itself counted as busy, for the case that it was */
    uint32_t busy_others;
    double p;
    uint64_t count;
    uint64_t before_ns;       /* max(0, nominal expiry - idle since) */
    uint64_t since_ticks;     /* when the gap began */
    uint64_t settled_from_ns; /* when the handler returned */
};

/* True if the gap that the sample hit is dispatch: shorter than the grace. [owner] */
static inline bool idle_sample_is_dispatch(const struct idle_sample *sample, uint64_t event_ns)
{
    return sample->before_ns + (event_ns - sample->settled_from_ns) < STATE_GRACE_NS;
}

/* Books the sample as idleness. [handler] */
void account_idle(struct profile_thread *ledger, const struct idle_sample *sample);

#endif
