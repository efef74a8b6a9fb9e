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
#include "cct/profile_metrics.h"
#include "cct/profile_time.h"
#include "cct/profile_tree.h"
#include "cct/timeline/time.h"

struct profile_thread;

/* A delivery asks what others did at so many of its moments at most, and reads so many of their lines in all. */
#define DELIVERY_MOMENTS 16u
#define DELIVERY_LINES   4096u

/* One delivery of the timer's signal. */
struct delivery {
    uint64_t count;              /* periods whose moment has come */
    double p;                    /* their weight in nanoseconds */
    struct clock_reading clocks; /* when the handler began */
    uint64_t due_ns;             /* the first of these moments */
    /* The last: the moment whose states count. From then to now this thread stood still, perhaps
     * with a lock of the runtime, and others may have begun to wait for it just because of that. */
    uint64_t census_ns;
    uint64_t until_ns; /* where the time that it stands for ends */
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

/* Takes the first of its moments away from it. [handler] */
static inline struct delivery delivery_take(struct delivery *delivery, uint64_t count)
{
    struct delivery first = *delivery;
    if (count == delivery->count) {
        delivery->count = 0;
        return first;
    }
    uint64_t apart_ns = (delivery->census_ns - delivery->due_ns) / (delivery->count - 1);
    first.count = count;
    first.p *= (double)count / (double)delivery->count;
    first.census_ns = delivery->due_ns + (count - 1) * apart_ns;
    delivery->due_ns += count * apart_ns;
    delivery->count -= count;
    delivery->p -= first.p;
    return first;
}

/* A busy thread's sample at its own context. [handler] */
void account_busy(struct profile_metric *metric, bool overhead, double p, uint64_t count, struct census census);

/* The same without the others' idleness, which is divided: one part each to the code and to its missing core. [handler] */
void account_own(struct profile_metric *metric, bool overhead, double p, uint64_t count);
struct lock_blame account_idleness(struct profile_metric *metric, double p,
                                   struct census census); /* returns what it has added */

/* What a waiter's sample sends to the holder. [handler] */
struct lock_blame account_waiter(double p, struct census census);

/* The symptom, at the waiter's own context. [handler] */
void account_waiting_here(struct profile_metric *metric, double p, uint64_t count, bool first_of_wait);

/* Blame that arrives at the context of a release, or at a named row. [handler] */
void account_blame(struct profile_metric *metric, const struct lock_blame *blame);

/* One moment of an IDLE thread, beyond its grace; the others' census. [handler] */
void account_idle(struct profile_thread *ledger, double p, bool parked, struct census others);

/* Moments of an IDLE thread within its grace: that is dispatch, the runtime's own time. It is booked where the wait ends. */
struct idle_sample {
    bool pending;
    double p;
    uint64_t count;
    struct profile_metric dispatch; /* what they are, of a busy thread */
    uint64_t waited_ticks;          /* at the last of them, */
    uint64_t last_ns;               /* which was then */
};

/* How long the thread had waited at one of the delivery's moments. From the first of them to the handler's end it stood still,
 * unless it had no core. [handler] */
static inline uint64_t account_waited_ns(uint64_t since_ns, const struct delivery *delivery, uint64_t time_ns)
{
    if (delivery->census_ns - delivery->due_ns <= STATE_LATE_NS)
        time_ns = delivery->due_ns;
    return time_ns > since_ns ? time_ns - since_ns : 0;
}

/* One moment within the grace. [handler] */
static inline void account_dispatch(struct idle_sample *sample, double p, uint64_t count, struct census others,
                                    uint64_t time_ns)
{
    if (!sample->pending)
        *sample = (struct idle_sample){.pending = true};
    sample->p += p;
    sample->count += count;
    sample->last_ns = time_ns;
    others.busy++;
    others.in_use++;
    account_busy(&sample->dispatch, true, p, count, others);
}

/* Who else is as much to blame as an idle thread at a moment, itself counted: those of a team, if nobody is busy; those that are
 * busy, if it is within its grace; both 0: it is not. */
struct idle_moment {
    uint32_t idle, busy;
};

/* The delivery hit the thread with that line. While a thread that has just become IDLE stands still for its own sample it does
 * not grow idle for others, unless it had no core. told takes what its moments were; a caller that passes NULL has no code for that.
 * [handler] */
static inline __attribute__((always_inline)) void account_idle_hit(struct profile_thread *ledger, struct tree *tree,
                                                                   struct idle_sample *sample, struct state_line *line,
                                                                   const struct delivery *delivery,
                                                                   struct idle_moment told[DELIVERY_MOMENTS])
{
    const struct clock_reading *clocks = &delivery->clocks;
    uint64_t since_ns = clock_ticks_ns(clocks, load_relaxed(&line->idle_since));
    uint32_t moments = delivery_moments(delivery);
    double p = delivery->p / moments;
    for (uint32_t number = moments; number-- > 0;) {
        uint64_t time_ns = delivery_moment_ns(delivery, number, moments);
        uint64_t waited_ns = account_waited_ns(since_ns, delivery, time_ns);
        struct census others = state_census_at(clocks, time_ns, line, 0, NULL);
        if (waited_ns >= STATE_GRACE_NS) {
            bool parked = state_was_parked(line, clocks, time_ns);
            account_idle(ledger, p, parked, others);
            time_add_state(tree, time_ns, PROFILE_TIME_IDLE, p);
            if (told)
                told[number] = (struct idle_moment){.idle = parked || others.busy ? 0 : others.in_use + 1};
            continue;
        }
        if (told)
            told[number] = (struct idle_moment){.busy = others.busy + 1};
        uint64_t count = delivery->count * (number + 1) / moments - delivery->count * number / moments;
        account_dispatch(sample, p, count, others, time_ns);
        if (number > 0 || clocks->ns - time_ns > STATE_LATE_NS)
            continue;
        sample->waited_ticks = (uint64_t)((double)waited_ns / clocks->ns_per_tick);
        state_hide_idle(line);
    }
}

/* At the handler's end, if the thread is hidden: it has waited for as long as at its moment, for itself and for others.
 * [handler] */
static inline void account_idle_resume(const struct idle_sample *sample, struct state_line *line)
{
    state_set_idle(line, clock_ticks() - sample->waited_ticks);
}

/* Nobody holds the lock, and the thread has only just asked for it, as far as is known: it is taking it. [handler] */
static inline bool account_is_taking(const struct state_line *line, const struct delivery *delivery, uint64_t lock_key,
                                     uint32_t holder)
{
    uint64_t since_ticks = line->wait_since;
    uint64_t since_ns = clock_ticks_ns(&delivery->clocks, since_ticks);
    return holder == STATE_NO_HOLDER && PROFILE_LOCK_KEY_KIND(lock_key) != PROFILE_LOCK_ORDERED &&
           (!since_ticks || delivery->due_ns < since_ns + STATE_LOCK_GRACE_NS);
}

#endif
