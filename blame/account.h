/* Turns samples into numbers: equation 1 of LMF13 and its integration with locks. docs/accounting.md has the
 * derivations.
 *
 * All times are in ns. `p` is a sample's weight: the sampling period times the number of periods that the
 * sample stands for. */
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

struct profile_cores;
struct profile_thread;

/* Limits of one delivery: on the moments at which it counts the other threads, and on the state lines that it
 * reads at all of them. */
#define DELIVERY_MOMENTS 16u
#define DELIVERY_LINES   4096u

/* One delivery of the sampling signal, with the moments that it stands for. */
struct delivery {
    uint64_t count;              /* number of periods whose moment has come */
    double p;                    /* weight of these periods in ns */
    struct clock_reading clocks; /* clocks at the start of the handler */
    uint64_t due_ns;             /* time of the first moment in ns */
    /* Time of the last moment in ns, whose states count. From then until now this thread stood still,
     * possibly while holding a lock of the runtime. Other threads may wait for that lock only because of
     * this. */
    uint64_t census_ns;
    uint64_t until_ns; /* end of the time that the delivery stands for, in ns */
};

/* Returns the number of moments for which one sample may look at all state lines. [handler] */
static inline uint32_t delivery_moments_most(void)
{
    uint32_t most = 1 + DELIVERY_LINES / (state_lines() + 1);
    return most < DELIVERY_MOMENTS ? most : DELIVERY_MOMENTS;
}

/* Returns the number of moments at which the delivery counts the other threads: one in each period, up to a
 * limit. Each carries an equal part of the weight. [handler] */
static inline uint32_t delivery_moments(const struct delivery *delivery)
{
    if (likely(delivery->due_ns == delivery->census_ns))
        return 1;
    uint32_t most = delivery_moments_most();
    return delivery->count < most ? (uint32_t)delivery->count : most;
}

/* Returns the time of one of these moments in ns. Number 0 is the last moment; higher numbers are earlier.
 * The first and the last are the delivery's own, and those in between are evenly spaced. If there are more
 * periods than moments, each moment lies in the middle of several periods. [handler] */
static inline uint64_t delivery_moment_ns(const struct delivery *delivery, uint32_t number, uint32_t moments)
{
    uint64_t between_ns = delivery->census_ns - delivery->due_ns;
    if (unlikely(delivery->count > moments))
        return delivery->census_ns - between_ns * (2 * number + 1) / (2 * moments);
    return number ? delivery->census_ns - between_ns * number / (delivery->count - 1) : delivery->census_ns;
}

/* Splits off the first `count` moments of the delivery and returns them as a delivery of their own. [handler] */
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

/* Books a busy thread's sample at its own context: its time, and its share of other threads' idleness.
 * [handler] */
void account_busy(struct profile_metric *metric, bool overhead, double p, uint64_t count, struct census census);

/* Books only the thread's own time. [handler] */
void account_own(struct profile_metric *metric, bool overhead, double p, uint64_t count);

/* Books only the thread's share of the other threads' idleness. Returns what it has added. [handler] */
struct lock_blame account_idleness(struct profile_metric *metric, double p, struct census census);

/* Books a running thread's share of the cores that no thread used while `running` threads ran or were ready, and of
 * the threads beyond the cores. [handler] */
void account_cores(struct profile_cores *sums, double p, uint32_t running, uint32_t cores);

/* Returns the blame that a waiter's sample sends to the lock's holder. [handler] */
struct lock_blame account_waiter(double p, struct census census);

/* Books lock wait at the waiter's own context, where it is a symptom. [handler] */
void account_waiting_here(struct profile_metric *metric, double p, uint64_t count, bool first_of_wait);

/* Books blame at a context of the lock's holder, or at a named row. [handler] */
void account_blame(struct profile_metric *metric, const struct lock_blame *blame);

/* Books one moment of a thread that is IDLE beyond its grace. [handler] */
void account_idle(struct profile_thread *ledger, double p, bool parked);

/* Moments of an IDLE thread within its grace. They count as dispatch, which is the runtime's own time, and
 * are booked at the context in which the wait ends. */
struct idle_sample {
    bool pending;
    double p;
    uint64_t count;
    struct profile_metric dispatch; /* sums of these moments, counted like those of a busy thread */
    uint64_t waited_ticks;          /* length of the wait at the last of these moments, in ticks */
    uint64_t last_ns;               /* time of the last of these moments */
};

/* Returns how long the thread had waited at one of the delivery's moments, in ns. Unless it had no core, the
 * thread stood still from the first moment to the end of the handler. [handler] */
static inline uint64_t account_waited_ns(uint64_t since_ns, const struct delivery *delivery, uint64_t time_ns)
{
    if (delivery->census_ns - delivery->due_ns <= STATE_LATE_NS)
        time_ns = delivery->due_ns;
    return time_ns > since_ns ? time_ns - since_ns : 0;
}

/* Adds one moment within the grace to the idle sample. [handler] */
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

/* The threads that share the blame for one moment of an idle thread, including that thread. idle: number of
 * threads in use, if nobody is busy. busy: number of busy threads, if the thread is within its grace. Both 0:
 * the thread has no share. */
struct idle_moment {
    uint32_t idle, busy;
};

/* Books a delivery that hit an idle thread. If the thread has only just become IDLE, the other threads count
 * it as within its grace while its sample is taken, unless it had no core. `told` receives one entry for
 * each moment. Returns the number of moments if no thread was busy at one of them, otherwise 0. [handler] */
static inline __attribute__((always_inline)) uint32_t account_idle_hit(struct profile_thread *ledger, struct tree *tree,
                                                                       struct idle_sample *sample,
                                                                       struct state_line *line,
                                                                       const struct delivery *delivery,
                                                                       struct idle_moment told[DELIVERY_MOMENTS])
{
    const struct clock_reading *clocks = &delivery->clocks;
    uint64_t since_ns = clock_ticks_ns(clocks, load_relaxed(&line->idle_since));
    uint32_t moments = delivery_moments(delivery);
    double p = delivery->p / moments;
    bool nobody = false;
    for (uint32_t number = moments; number-- > 0;) {
        uint64_t time_ns = delivery_moment_ns(delivery, number, moments);
        uint64_t waited_ns = account_waited_ns(since_ns, delivery, time_ns);
        struct census others = state_census_at(clocks, time_ns, line, 0, NULL);
        if (waited_ns >= STATE_GRACE_NS) {
            bool parked = state_was_parked(line, clocks, time_ns);
            account_idle(ledger, p, parked);
            time_add_state(tree, time_ns, PROFILE_TIME_IDLE, p);
            told[number] = (struct idle_moment){.idle = parked || others.busy ? 0 : others.in_use + 1};
            nobody |= told[number].idle > 0;
            continue;
        }
        told[number] = (struct idle_moment){.busy = others.busy + 1};
        uint64_t count = delivery->count * (number + 1) / moments - delivery->count * number / moments;
        account_dispatch(sample, p, count, others, time_ns);
        if (number > 0 || clocks->ns - time_ns > STATE_LATE_NS)
            continue;
        sample->waited_ticks = (uint64_t)((double)waited_ns / clocks->ns_per_tick);
        state_hide_idle(line);
    }
    return nobody ? moments : 0;
}

/* Shows a thread again that state_hide_idle() has hidden, at the end of the handler. Its wait then counts,
 * for itself and for others, as long as it was at the sample's moment. [handler] */
static inline void account_idle_resume(const struct idle_sample *sample, struct state_line *line)
{
    state_set_idle(line, clock_ticks() - sample->waited_ticks);
}

/* Returns the time as of which a waiting thread's sample asks for the lock's holder: the moment, or the start of
 * the wait if that is later. The thread has gone on while its signal was on its way, and at the moment it may
 * have been in another section, its own or that of an earlier wait. [handler] */
static inline uint64_t account_waiting_ns(const struct state_line *line, const struct clock_reading *clocks,
                                          uint64_t time_ns)
{
    uint64_t since_ns = line->wait_since ? clock_ticks_ns(clocks, line->wait_since) : 0;
    return time_ns > since_ns ? time_ns : since_ns;
}

/* Returns true if the thread waits for nobody: it is taking a free lock, or takes one that it has already.
 * `holder` is the lock's holder at the delivery's last moment. [handler] */
bool account_is_taking(const struct state_line *line, const struct delivery *delivery, uint64_t lock_key,
                       uint32_t holder);

#endif
