/* Finds out whether a thread had a core at a sample's moment, and how much time it has lost without one.
 *
 * A thread that is ready to run but has no core gets its signal when it has a core again, before it executes
 * more of its code. A sleeping thread gets its signal in the system call in which it sleeps.
 * docs/accounting.md ("Without a core, and blocked") has the derivation.
 *
 * Each sample calls core_ask(), which fills in the fields of the sample, and then stopped_until_now(), which
 * returns whether the whole process was stopped instead. */
#ifndef BLAME_OMPT_TOOL_SESSION_CORE_H
#define BLAME_OMPT_TOOL_SESSION_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "base/run_counts.h"
#include "blame/account.h"
#include "blame/state.h"
#include "ompt_tool/session/moments.h"

#define STOPPED_NS 200000000u /* ns; shorter stops of the process are not recognised (see below) */

enum core_state {
    CORE_HAD,
    CORE_NONE,   /* ready to run, but without a core */
    CORE_ASLEEP, /* sleeping of its own accord */
};

struct core {
    struct run_file file;
    const struct state_line *line;
    const struct moments *moments;

    /* ---- what the kernel counted, up to the last query ---- */
    struct run_counts begun;  /* the kernel's counts at the start of the thread's measurement */
    struct run_counts counts; /* the kernel's counts at the last sample */
    uint64_t counted_ns;      /* time of the last sample */
    uint64_t got_ns;          /* latest time at which the thread can have got its core */
    uint64_t gone_ns;         /* ns without a core between the previous sample and got_ns */
    /* switches and page faults at the last query */
    struct run_switches switches;
    /* whether the thread slept, waited for a page, or lost its core between the last two queries */
    bool slept, faulted, preempted;
    uint64_t on_core_ns;  /* ns with a core between the last two queries of the CPU time */
    uint64_t off_core_ns; /* ns off its core between these two queries */
    uint64_t slept_ns;    /* part of off_core_ns in which the thread slept of its own accord */

    /* ---- balances: moments that the kernel's counts imply and that samples have not found yet ---- */
    double owed;         /* moments asleep */
    double owed_work;    /* moments with a core */
    double owed_none;    /* moments without a core */
    double none_spread;  /* variance of owed_none that chance alone explains */
    double mean_turns;   /* running mean of the turns on a core per sample */
    double mean_on_ns;   /* running mean of the ns with a core per sample */
    uint64_t handler_ns; /* CPU time of the last sample's handler in ns; 0: unknown */
    /* number of samples, beyond what is possible, at which the thread seemed to have just got its core */
    double doubt;
    uint64_t asked_ns;         /* time of the last query of the CPU time */
    uint64_t asked_cpu_ns;     /* the thread's CPU time at asked_ns, in ns */
    uint64_t asked_no_core_ns; /* the thread's total time without a core at asked_ns, in ns */
    /* total length of the gaps without samples in the process, up to the last sample, in ticks of
     * STOPPED_TICK */
    uint32_t silence;
    uint32_t threads; /* threads with a record at the last sample; 0: no sample yet */

    /* ---- the present sample ---- */
    enum core_state state;
    uint64_t turns;        /* times that the thread got a core since the previous sample */
    uint64_t lost_ns;      /* ns without a core since the previous sample */
    uint64_t away_ns;      /* ns from the sample's first moment until the thread got its core */
    uint64_t since_due_ns; /* ns with a core since the sample's first moment */
    /* part of lost_ns in which the thread would have slept on without the sample's signal */
    uint64_t woken_ns;
    bool in_call;      /* whether the signal found the thread asleep in a system call */
    uint64_t limit_ns; /* longest time that this call may take in ns; 0: unknown */
    /* end of the current or just interrupted sleep in ns, on CLOCK_MONOTONIC; 0: unknown */
    uint64_t ends_ns;
    bool was_in_call; /* in_call at the previous sample */
    /* whether the thread executes the program's code, outside the waits of OpenMP and MPI */
    bool in_code;
    /* in_code now and at the previous sample, without a wait or a lock in between; the kernel's counts cover
     * that time */
    bool stayed;
    uint32_t acquisitions; /* lock acquisitions of the thread, as of the last sample in its code */
    uint64_t waited_ticks; /* start of its last wait, on clock_ticks(), as of that sample */
    bool is_owed;          /* whether a sleep that this sample finds is subtracted from `owed` */
    /* State at the first moments, if `state` is CORE_NONE: the thread slept then, or it had a core and lost
     * it while the signal was on its way. */
    enum core_state first;
    uint64_t first_moments; /* number of moments in the state `first` */
    /* number of last moments at which the thread had its core again, before the handler began */
    uint64_t had_last;
    /* fraction of the lost time that a hypervisor took; the kernel does not count that time */
    double stolen_part;
};

/* Returns how many of the delivery's moments have the state core->state. [handler] */
static inline uint64_t core_moments_in_state(const struct core *core, const struct delivery *delivery)
{
    return delivery->count - core->first_moments - core->had_last;
}

/* Returns how many of the delivery's moments come less than `ns` after its first one. `ns` must be above 0.
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

/* Notes the CPU time of the handler that began at now_ns, because that time is not the program's. Called
 * after the sample is recorded. [handler] */
void core_leave(struct core *core, uint64_t now_ns);

/* ---- the whole process ---- */

/* Whether the whole process was stopped, by a signal or a debugger. Nothing in the program is to blame for
 * that time.
 *
 * A signal reaches a thread at once if the thread sleeps in a call that signals interrupt, and as soon as the
 * thread has a core if it is awake. Suppose that a signal came much later, although the thread did not lack a
 * core and was not awake. Then it slept in a call that signals do not interrupt (its code is right after that
 * call), or it waited for a page (major faults show that), or it was stopped. A stop concerns all threads:
 * meanwhile no other thread of the process was sampled. */
#define STOPPED_TICK 20u /* shift from ns to ticks of 2^20 ns */

/* upper half: tick of the last sample of any thread; lower half: total length of the gaps without samples, in
 * ticks */
extern uint64_t stopped_heard;

void stopped_note_heard(uint64_t now_ns); /* [handler] */

/* Notes that a thread of this process was sampled at now_ns. [handler] */
static inline void stopped_hear(uint64_t now_ns)
{
    if (unlikely((uint32_t)(now_ns >> STOPPED_TICK) != (uint32_t)(load_relaxed(&stopped_heard) >> 32)))
        stopped_note_heard(now_ns);
}

/* Makes the thread's first sample ignore gaps before the thread began. Called after core_begin(). [owner] */
static inline void stopped_begin(struct core *core)
{
    core->silence = (uint32_t)load_relaxed(&stopped_heard);
    core->threads = 0;
}

/* Returns true if a stop of the process delayed the sample. core->state is then the thread's state after the
 * stop. Called after stopped_hear() and core_ask(). [handler] */
bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context);

#endif
