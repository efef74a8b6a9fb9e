/* Finds out whether a thread had a core at a sample's moment, and how much time it has lost without one.
 *
 * If a thread is ready to run but has no core, its signal arrives when it gets a core again, before it
 * executes more of its code. If it sleeps, the signal arrives in the system call in which it sleeps.
 * docs/accounting.md ("Without a core, and blocked") has the derivation.
 *
 * Each sample calls core_ask(), which fills in the fields for the sample. Then it calls stopped_until_now(),
 * which returns whether the whole process was stopped instead. */
#ifndef BLAME_OMPT_TOOL_SESSION_CORE_H
#define BLAME_OMPT_TOOL_SESSION_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "base/run_counts.h"
#include "blame/account.h"
#include "blame/state.h"
#include "blame/wakers.h"
#include "ompt_tool/session/moments.h"

#define STOPPED_NS 200000000u /* shortest stop of the whole process that is recognised, in ns (see below) */

enum core_state {
    CORE_HAD,
    CORE_NONE,   /* ready to run, without a core */
    CORE_ASLEEP, /* sleeping of its own accord */
};

/* What the kernel has counted for the thread. */
struct core_counts {
    struct run_counts begun; /* the kernel's counts at the start of the thread's measurement */
    struct run_counts last;  /* the kernel's counts at the last sample */
    uint64_t read_ns;        /* time of the last sample in ns */
    uint64_t got_ns;         /* latest time in ns at which the thread may have got its core */
    uint64_t gone_ns;        /* ns without a core between the previous sample and got_ns */
    /* the thread's voluntary and involuntary switches and its page faults, as of the last query */
    struct run_switches switches;
    /* whether the thread slept, waited for a page, or lost its core between the last two queries */
    bool slept, faulted, preempted;
    uint64_t on_core_ns;  /* ns with a core between the last two queries of the CPU time */
    uint64_t off_core_ns; /* ns without a core, sleep included, between these two queries */
    uint64_t slept_ns;    /* part of off_core_ns in which the thread slept of its own accord */
};

/* Balances in moments: as the kernel's counts imply, less those that samples found. */
struct core_owed {
    double asleep;
    double work;        /* moments with a core */
    double none;        /* moments without a core */
    double none_spread; /* variance of `none` that is due to chance alone */
    double mean_turns;  /* running mean of the turns on a core between two samples */
    double mean_on_ns;  /* running mean of the ns with a core between two samples */
    /* samples that found the thread just back on its core, beyond what its turns make possible */
    double doubt;
};

/* The last query of the thread's CPU time. */
struct core_asked {
    uint64_t handler_ns; /* CPU time of the last sample's handler in ns; 0: unknown */
    uint64_t at_ns;      /* time of the query in ns */
    uint64_t cpu_ns;     /* the thread's CPU time at that time, in ns */
    uint64_t no_core_ns; /* the thread's total ns without a core at that time, by the kernel's count */
};

/* The thread's last sample. */
struct core_before {
    /* total length of the gaps without any sample in the process, as of this thread's last sample, in ticks
     * of STOPPED_TICK */
    uint32_t silence;
    uint32_t threads;      /* number of threads with a record at this thread's last sample; 0: no sample yet */
    bool in_call;          /* whether it found the thread asleep in a system call */
    uint32_t acquisitions; /* number of the thread's lock acquisitions at the last sample in its code */
    uint64_t waited_ticks; /* start of the thread's last wait at that sample, on clock_ticks() */
};

/* The sample that is being taken. */
struct core_now {
    enum core_state state;
    uint64_t turns;        /* number of times the thread got a core since the last sample */
    uint64_t lost_ns;      /* ns without a core since the last sample, sleep excluded */
    uint64_t away_ns;      /* ns from the sample's first moment until the thread got its core */
    uint64_t since_due_ns; /* ns with a core since the sample's first moment */
    /* part of lost_ns for which the thread would have slept on without the sample's signal */
    uint64_t woken_ns;
    bool in_call;      /* whether the signal found the thread asleep in a system call */
    uint64_t limit_ns; /* longest time that the interrupted call may sleep in ns; 0: unknown */
    /* end of the sleep that the signal interrupted or that has just ended, on CLOCK_MONOTONIC in ns; 0:
     * unknown */
    uint64_t ends_ns;
    /* whether the thread executes the program's code, outside the waits of OpenMP and MPI */
    bool in_code;
    /* whether in_code is true now and at the last sample, with no wait or lock in between, so that the
     * kernel's counts are for this code alone */
    bool stayed;
    bool is_owed; /* whether moments that this sample finds asleep are subtracted from owed.asleep */
    /* State at the first moments, if `state` is CORE_NONE. The thread slept then, or it still had a core and
     * lost it before the signal arrived. */
    enum core_state first;
    uint64_t first_moments; /* number of moments in the state `first` */
    /* number of moments, at the end, at which the thread had its core again */
    uint64_t had_last;
    /* when others have signalled what the thread waits for, the oldest first; set before core_ask() */
    uint32_t signals;
    uint64_t signalled_ns[WAKERS_TIMES];
    /* fraction of counts.gone_ns that a hypervisor took and the kernel did not count */
    double stolen_part;
};

struct core {
    struct run_file file;
    const struct state_line *line;
    const struct moments *moments;
    struct core_counts counts; /* what the kernel has counted, up to the last query */
    struct core_owed owed;     /* moments that samples have yet to find */
    struct core_asked asked;   /* the last query of the CPU time */
    struct core_before before; /* the thread's last sample */
    struct core_now now;       /* the sample that is being taken */
};

/* Returns how many of the delivery's moments have the state core->now.state. [handler] */
static inline uint64_t core_moments_in_state(const struct core *core, const struct delivery *delivery)
{
    return delivery->count - core->now.first_moments - core->now.had_last;
}

/* Returns how many of the delivery's moments are less than `ns` after its first one. `ns` must be above 0.
 * [handler] */
static inline uint64_t core_moments_within(const struct core *core, const struct delivery *delivery, uint64_t ns)
{
    uint64_t within = delivery->count > 1 ? moments_within(core->moments, delivery->due_ns, ns) : 1;
    return within < delivery->count ? within : delivery->count;
}

/* Prepares `core` for samples of the calling thread. [owner] */
void core_begin(struct core *core, const struct state_line *line, const struct moments *moments,
                struct profile_thread *ledger);
void core_end(struct core *core); /* [any] */

/* Fills in the fields of the present sample. [handler] */
void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context);

/* Counts the time without a core before a sample that is dropped, so that the next sample does not count it.
 * [handler] */
void core_pass_over(struct core *core, struct profile_thread *ledger);

/* What the kernel has counted since the thread's last sample. */
struct core_since {
    long sleeps;         /* number of times that the thread went to sleep */
    uint64_t on_core_ns; /* ns with a core, without the last sample's handler */
    uint64_t no_core_ns; /* ns without a core, although the thread was ready to run */
};

/* Returns these counts outside the handler, so that the next sample does not count them. [owner] */
struct core_since core_catch_up(struct core *core);

/* Notes the CPU time of the handler that began at now_ns, which must not count as the program's. Called after
 * the sample is recorded. [handler] */
void core_leave(struct core *core, uint64_t now_ns);

/* ---- the whole process ---- */

/* Recognises stops of the whole process by a signal or a debugger. Nothing in the program is to blame for
 * that time.
 *
 * A signal reaches a sleeping thread at once if signals interrupt its call. It reaches any other thread as
 * soon as the thread has a core. Suppose that a signal came much later, although the thread was asleep and
 * did not lack a core. Then the thread slept in a call that signals do not interrupt (its code is right after
 * that call), or it waited for a page (major faults show that), or it was stopped. A stop concerns all
 * threads, so no other thread of the process was sampled during that time. */
#define STOPPED_TICK 20u /* binary logarithm of the ns in a tick (2^20 ns, about 1 ms) */

/* upper half: tick of the last sample of any thread; lower half: total length of the gaps without any sample,
 * in ticks */
extern uint64_t stopped_heard;

void stopped_note_heard(uint64_t now_ns); /* [handler] */

/* Notes that a thread of this process was sampled at now_ns. [handler] */
static inline void stopped_hear(uint64_t now_ns)
{
    if (unlikely((uint32_t)(now_ns >> STOPPED_TICK) != (uint32_t)(load_relaxed(&stopped_heard) >> 32)))
        stopped_note_heard(now_ns);
}

/* Makes the thread's first sample ignore gaps that ended before the thread began. Called after core_begin().
 * [owner] */
static inline void stopped_begin(struct core *core)
{
    core->before.silence = (uint32_t)load_relaxed(&stopped_heard);
    core->before.threads = 0;
}

/* Returns true if the sample is late because the process was stopped. core->now.state is then the thread's
 * state after the stop. Called after stopped_hear() and core_ask(). [handler] */
bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context);

#endif
