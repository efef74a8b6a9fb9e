/* How a sample becomes numbers: LMF13 eq. 1 and its integration with locks. Derivations: docs/accounting.md.
 * All times in nanoseconds; p is the sample's weight, period x (1 + timer overruns). */
#ifndef BLAME_BLAME_ACCOUNT_H
#define BLAME_BLAME_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "blame/directed.h"
#include "blame/state.h"
#include "cct/profile_format.h"

/* One delivery of the timer's signal. */
struct delivery {
    uint64_t count;              /* expirations: 1 + overruns */
    double p;                    /* their weight in nanoseconds */
    struct clock_reading clocks; /* when the handler began */
    uint64_t due_ns;             /* when the first of the expirations was due */
    /* When the last was due: the moment whose states count. From then to now this thread stood still, perhaps
     * with a lock of the runtime, and others may have begun to wait for it just because of that. */
    uint64_t census_ns;
};

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
    uint64_t before_ns;       /* max(0, last nominal expiry - idle since) */
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

/* The delivery hit the thread with that line; another one, in the same gap, may be pending. [handler] */
static inline void account_idle_hit(struct profile_thread *ledger, struct idle_sample *sample,
                                    struct state_line *line, const struct delivery *delivery)
{
    uint64_t since_ticks = load_relaxed(&line->idle_since);
    uint64_t since_ns = clock_ticks_ns(&delivery->clocks, since_ticks);
    struct census census = state_census_at(&delivery->clocks, delivery->census_ns, 0, NULL);
    bool self_counted = delivery->census_ns < since_ns + STATE_GRACE_NS;
    if (sample->pending)
        account_idle(ledger, sample); /* a second sample in one gap: it is longer than any grace */
    sample->parked = state_is_parked(line);
    sample->busy_others = census.busy - self_counted;
    census.busy += !self_counted;
    census.in_use += !self_counted && sample->parked;
    sample->census = census;
    sample->p = delivery->p;
    sample->count = delivery->count;
    sample->before_ns = delivery->census_ns > since_ns ? delivery->census_ns - since_ns : 0;
    sample->pending = sample->before_ns < STATE_GRACE_NS;
    if (sample->pending)
        state_hide_idle(line);
    else
        account_idle(ledger, sample);
    sample->since_ticks = since_ticks;
}

/* At the handler's end, when the sample is pending: the handler's time, from begin_ticks on (clock_ticks()), is not the
 * thread's waiting, neither for itself nor for others. [handler] */
static inline void account_idle_resume(struct idle_sample *sample, struct state_line *line, uint64_t begin_ticks)
{
    sample->settled_from_ns = clock_now_ns();
    state_set_idle(line, sample->since_ticks + (clock_ticks() - begin_ticks));
}

/* Nobody holds the lock, and the thread has only just asked for it, as far as is known: it is taking it. [handler] */
static inline bool account_is_taking(const struct state_line *line, const struct delivery *delivery,
                                     uint64_t lock_key, uint32_t holder)
{
    uint64_t since_ticks = line->wait_since;
    uint64_t since_ns = clock_ticks_ns(&delivery->clocks, since_ticks);
    return holder == STATE_NO_HOLDER && PROFILE_LOCK_KEY_KIND(lock_key) != PROFILE_LOCK_ORDERED &&
           (!since_ticks || delivery->due_ns < since_ns + STATE_LOCK_GRACE_NS);
}

#endif
