/* How a sample becomes numbers: LMF13 eq. 1 and its integration with locks. Derivations: docs/accounting.md.
 * All times in nanoseconds; p is the sample's weight, period x the periods that it stands for. */
#ifndef BLAME_BLAME_ACCOUNT_H
#define BLAME_BLAME_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "blame/directed.h"
#include "blame/state.h"
#include "cct/profile_format.h"

/* A delivery asks what others did at so many of its moments at most, and reads so many of their lines in all. */
#define DELIVERY_MOMENTS 16u
#define DELIVERY_LINES   4096u

/* No signal adds more to a gap. */
#define DELIVERY_SIGNAL_NS 2000u

/* One delivery of the timer's signal. */
struct delivery {
    uint64_t count;              /* periods whose moment has come */
    double p;                    /* their weight in nanoseconds */
    struct clock_reading clocks; /* when the handler began */
    uint64_t due_ns;             /* the first of these moments */
    /* The last: the moment whose states count. From then to now this thread stood still, perhaps
     * with a lock of the runtime, and others may have begun to wait for it just because of that. */
    uint64_t census_ns;
};

/* At how many moments it asks what others did: one in each of its periods, up to so many, with equal parts of its weight.
 * [handler] */
static inline uint32_t delivery_moments(const struct delivery *delivery)
{
    if (likely(delivery->due_ns == delivery->census_ns))
        return 1;
    uint32_t most = 1 + DELIVERY_LINES / (state_lines() + 1);
    most = most < DELIVERY_MOMENTS ? most : DELIVERY_MOMENTS;
    return delivery->count < most ? (uint32_t)delivery->count : most;
}

/* Backwards from the last, which is its own, as is the first; those in between are spread evenly. Where there are too many
 * periods each stands in the middle of several. [handler] */
static inline uint64_t delivery_moment_ns(const struct delivery *delivery, uint32_t number, uint32_t moments)
{
    uint64_t between_ns = delivery->census_ns - delivery->due_ns;
    if (unlikely(delivery->count > moments))
        return delivery->census_ns - between_ns * (2 * number + 1) / (2 * moments);
    return number ? delivery->census_ns - between_ns * number / (delivery->count - 1) : delivery->census_ns;
}

/* A busy thread's sample at its own context. [handler] */
void account_busy(struct profile_metric *metric, bool overhead, double p, uint64_t count,
                  struct census census);

/* The same without the others' idleness, which is divided: one part each to the code and to its missing core. [handler] */
void account_own(struct profile_metric *metric, bool overhead, double p, uint64_t count);
void account_idleness(struct profile_metric *metric, double p, struct census census);

/* What a waiter's sample sends to the holder. [handler] */
struct lock_blame account_waiter(double p, struct census census);

/* The symptom, at the waiter's own context. [handler] */
void account_waiting_here(struct profile_metric *metric, double p, uint64_t count, bool first_of_wait);

/* Blame that arrives at the context of a release, or at a named row. [handler] */
void account_blame(struct profile_metric *metric, const struct lock_blame *blame);

/* Samples that hit one wait of an IDLE thread: idleness or dispatch shows when it goes on or ends. */
struct idle_sample {
    bool pending;
    double parked; /* which part of the moments the thread was between regions, */
    double alone;  /* and which it was not, and nobody was busy */
    double p;
    uint64_t count;
    struct profile_metric dispatch; /* what they are then, of a busy thread */
    uint64_t before_ns;       /* that the thread had waited for when the last of them was due */
    uint64_t grace_ns;        /* what the gap of the last of them is held against */
    uint64_t since_ticks;     /* when the gap began */
    uint64_t settled_from_ns; /* when the last handler returned */
};

/* True if the gap that the sample hit is dispatch: shorter than the grace. [owner] */
static inline bool idle_sample_is_dispatch(const struct idle_sample *sample, uint64_t event_ns)
{
    return sample->before_ns + (event_ns - sample->settled_from_ns) < sample->grace_ns;
}

/* Books the sample as idleness. [handler] */
void account_idle(struct profile_thread *ledger, const struct idle_sample *sample);

/* The signal itself makes a gap longer: the thread stands still a little before the timer is due, and comes back some time
 * after the handler has ended. In a virtual machine that is 1.6 us, of 20 to 35 from due time to handler. [handler] */
static inline uint64_t account_grace_ns(const struct delivery *delivery)
{
    uint64_t signal_ns = (delivery->clocks.ns - delivery->census_ns) / 16;
    return STATE_GRACE_NS + (signal_ns < DELIVERY_SIGNAL_NS ? signal_ns : DELIVERY_SIGNAL_NS);
}

/* How long the thread had waited when the sample was due. From then to the handler's end it stood still: of several
 * moments in one delivery the first counts, unless it had no core in between. [handler] */
static inline uint64_t account_waited_ns(const struct idle_sample *sample, uint64_t since_ns,
                                         const struct delivery *delivery)
{
    bool late = delivery->census_ns - delivery->due_ns > STATE_LATE_NS;
    uint64_t due_ns = late ? delivery->census_ns : delivery->due_ns;
    uint64_t from_ns = sample->pending ? sample->settled_from_ns : since_ns;
    return (sample->pending ? sample->before_ns : 0) + (due_ns > from_ns ? due_ns - from_ns : 0);
}

/* What others did at the delivery's moments, and at the last of them. [handler] */
static inline struct census account_idle_moments(struct idle_sample *sample, const struct state_line *line,
                                                 const struct delivery *delivery)
{
    uint32_t moments = delivery_moments(delivery), parked = 0, alone = 0;
    struct census others;
    for (uint32_t number = moments; number-- > 0;) {
        uint64_t time_ns = delivery_moment_ns(delivery, number, moments);
        bool is_parked = state_was_parked(line, &delivery->clocks, time_ns);
        others = state_census_at(&delivery->clocks, time_ns, line, 0, NULL);
        parked += is_parked;
        alone += !is_parked && !others.busy;
    }
    sample->parked = (double)parked / moments;
    sample->alone = (double)alone / moments;
    return others;
}

/* The delivery hit the thread with that line; others, in the same gap, may be pending. [handler] */
static inline void account_idle_hit(struct profile_thread *ledger, struct idle_sample *sample,
                                    struct state_line *line, const struct delivery *delivery)
{
    uint64_t since_ticks = load_relaxed(&line->idle_since);
    uint64_t since_ns = clock_ticks_ns(&delivery->clocks, since_ticks);
    struct census others = account_idle_moments(sample, line, delivery);
    sample->before_ns = account_waited_ns(sample, since_ns, delivery);
    sample->grace_ns = account_grace_ns(delivery);
    bool is_idleness = sample->before_ns >= sample->grace_ns;
    if (sample->pending && is_idleness) {
        account_idle(ledger, sample);
        sample->pending = false;
    }
    sample->p = delivery->p + (sample->pending ? sample->p : 0);
    sample->count = delivery->count + (sample->pending ? sample->count : 0);
    sample->since_ticks = since_ticks;
    if (is_idleness) {
        account_idle(ledger, sample);
        return;
    }
    if (!sample->pending)
        sample->dispatch = (struct profile_metric){0};
    sample->pending = true;
    others.busy++;
    others.in_use++;
    account_busy(&sample->dispatch, true, delivery->p, delivery->count, others);
    state_hide_idle(line);
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
