/* Whether a thread had a core at a sample's moment, and what it lost without one.
 *
 * A thread that is ready to run and has no core gets its signal when it has a core again, at the code that it
 * was about to run. A sleeping thread gets its signal in the call that it sleeps in. docs/accounting.md
 * ("Without a core, and blocked") has the derivation.
 *
 * At each sample, in this order: core_ask() fills in the fields of the sample. stopped_until_now() returns
 * whether the whole process stood still instead. core_follow() books what the thread lost before and after
 * its waits. Threads that wait for this one also wait for the core that it lacks. */
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

#define STOPPED_NS 200000000u /* shorter stops of the process are not recognised (below) */

enum core_state {
    CORE_HAD,
    CORE_NONE,   /* ready to run */
    CORE_ASLEEP, /* of its own will */
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
    uint64_t gone_ns;         /* ns without a core until got_ns */
    /* switches and page faults at the last query */
    struct run_switches switches;
    bool slept, faulted, preempted; /* whether the thread did so between the last two queries */
    uint64_t on_core_ns;            /* ns with a core between the last two queries of the CPU time */
    uint64_t off_core_ns;           /* ns without a core in the same time */
    uint64_t slept_ns;              /* ns of off_core_ns that the thread slept of its own will */

    /* ---- balances: moments that the kernel's counts imply and that samples have not found yet ---- */
    double owed;               /* moments asleep */
    double owed_work;          /* moments with a core */
    double owed_none;          /* moments without a core */
    double none_spread;        /* variance of owed_none by chance */
    double mean_turns;         /* turns on a core per sample, a running mean */
    double mean_on_ns;         /* ns with a core per sample, a running mean */
    uint64_t handler_ns;       /* CPU time of the last sample's handler in ns; 0: unknown */
    double doubt;              /* samples beyond the possible number that seemed to have just got their core */
    uint64_t asked_ns;         /* time of the last query of the CPU time */
    uint64_t asked_cpu_ns;     /* the thread's CPU time at asked_ns, in ns */
    uint64_t asked_no_core_ns; /* the thread's total time without a core at asked_ns, in ns */
    uint32_t silence;          /* ticks in gaps without any sample of the process, up to the last sample */
    uint32_t threads;          /* threads with a record at the last sample; 0: no sample yet */

    /* ---- the present sample ---- */
    enum core_state state;
    uint64_t turns;        /* times that the thread got a core since the previous sample */
    uint64_t lost_ns;      /* ns without a core since the previous sample */
    uint64_t away_ns;      /* ns from the first moment until the thread got its core */
    uint64_t since_due_ns; /* ns with a core since the first moment */
    uint64_t woken_ns;     /* ns of lost_ns that the thread would have slept without the sample's signal */
    bool in_call;          /* the thread still sleeps in its call */
    uint64_t limit_ns;     /* longest duration of that call in ns; 0: unknown */
    uint64_t ends_ns;      /* end of the current or just interrupted sleep, on the moments' clock; 0: unknown */
    bool was_in_call;      /* in_call at the previous sample */
    bool in_code;          /* the thread executes the program's code, outside the waits of OpenMP and MPI */
    /* in_code now and at the previous sample, with no wait and no lock in between; the counts cover that time */
    bool stayed;
    uint32_t acquisitions; /* lock acquisitions of the thread so far */
    bool is_owed;          /* a sleep that this sample finds is subtracted from owed */
    /* CORE_NONE: the state at the first moments. The thread slept then, or had a core and lost it while the signal
     * was on its way. */
    enum core_state first;
    uint64_t first_moments; /* moments in the state `first` */
    uint64_t had_last;      /* moments at the end, with a core, before the handler began */
    double stolen_part;     /* part of the lost time that a hypervisor took; the kernel does not count it */

    /* ---- the thread's waits ---- */
    uint64_t waited_ticks; /* start of the last wait, clock_ticks() */
    double lost_wait_ns;   /* ns without a core since the end of the last wait */
    uint64_t last_ns;      /* time of the last sample */
    bool splits;           /* half of the next loss may belong before the end of a wait */
};

/* Returns how many of the delivery's moments have core->state. [handler] */
static inline uint64_t core_moments_in_state(const struct core *core, const struct delivery *delivery)
{
    return delivery->count - core->first_moments - core->had_last;
}

/* Returns how many of the delivery's moments come less than ns after the first. ns must be above 0. [handler] */
static inline uint64_t core_moments_within(const struct core *core, const struct delivery *delivery, uint64_t ns)
{
    uint64_t within = delivery->count > 1 ? moments_within(core->moments, delivery->due_ns, ns) : 1;
    return within < delivery->count ? within : delivery->count;
}

/* Prepares the calling thread's core for samples. [owner] */
void core_begin(struct core *core, const struct state_line *line, const struct moments *moments,
                struct profile_thread *ledger);
void core_end(struct core *core); /* [any] */

/* Fills in the fields of the present sample. [handler] */
void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context);

/* Notes the CPU time of the handler that began at now_ns: that time is not the program's. Called when its
 * sample is recorded. [handler] */
void core_leave(struct core *core, uint64_t now_ns);

/* ---- its waits ---- */

/* Books what the thread lost before its last wait and since then, and publishes both in the thread's line.
 * Called after core_ask(). [handler] */
void core_follow(struct core *core, struct state_line *line, const struct delivery *delivery);

/* Returns how many ns a busy thread has lacked a core since its last wait, at one of the present sample's
 * moments. [handler] */
int64_t core_lost_ns(const struct core *core, uint64_t time_ns);

/* Forgets the loss of a thread that no other thread was in use beside: it cannot have kept others waiting.
 * [handler] */
void core_note_others(struct core *core, struct state_line *line, struct census census);

/* Continues the wait under its later start (account_idle_resume). [handler] */
void core_resume(struct core *core, struct state_line *line);

/* ---- the whole process ---- */

/* Whether the whole process stood still, stopped by a signal or a debugger. Nothing in the program is to
 * blame for that time.
 *
 * A due signal reaches a sleeping thread at once, if its call can be interrupted, and a running thread as
 * soon as it has a core. Take a signal that came much later, while the thread neither lacked a core nor was
 * awake. Then either the thread slept in a call that cannot be interrupted (the code is right after that
 * call), or it waited for a page (major faults show it), or it was stopped. A stop stops all threads, and no
 * sample of any other thread came. */
#define STOPPED_TICK 20u /* shift from ns to ticks of 2^20 ns */

/* upper half: the tick of the last sample of any thread; lower half: ticks in gaps without samples */
extern uint64_t stopped_heard;

void stopped_note_heard(uint64_t now_ns); /* [handler] */

/* Notes that a sample has come. [handler] */
static inline void stopped_hear(uint64_t now_ns)
{
    if (unlikely((uint32_t)(now_ns >> STOPPED_TICK) != (uint32_t)(load_relaxed(&stopped_heard) >> 32)))
        stopped_note_heard(now_ns);
}

/* Starts core's silence. Called after core_begin(). [owner] */
static inline void stopped_begin(struct core *core)
{
    core->silence = (uint32_t)load_relaxed(&stopped_heard);
    core->threads = 0;
}

/* Returns whether a stop of the process delayed the sample; core's state is then the one after the stop.
 * Called after stopped_hear() and core_ask(). [handler] */
bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context);

#endif
