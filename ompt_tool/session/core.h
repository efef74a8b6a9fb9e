/* Whether a thread had a core at the moment that its sample is of, and what it lost without one. A thread that is ready to run and has none
 * gets its signal when it has one again, at the code that was not run; one that sleeps gets it in the call that it sleeps in. The derivation
 * is in docs/accounting.md, "Without a core, and blocked".
 *
 * At each sample, in this order: core_ask() fills in what is of the sample, stopped_until_now() says whether the whole process stood still
 * instead, core_follow() books what the thread lost before and behind its waits; who waits for it waits for the core that it lacks. */
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

#define STOPPED_NS 200000000u /* a stop of the process that is shorter is not told apart (below) */

enum core_state {
    CORE_HAD,
    CORE_NONE,   /* it was ready to run */
    CORE_ASLEEP, /* of its own will */
};

struct core {
    struct run_file file;
    const struct state_line *line;
    const struct moments *moments;
    struct run_counts begun, counts; /* when the thread's measurement began, at the last sample */
    uint64_t counted_ns;             /* when that was */
    uint64_t got_ns;                 /* when it had got its core, at the latest, */
    uint64_t gone_ns;                /* and for how long it had none until then */
    struct run_switches switches;    /* when they were asked last: when it had lost its core, */
    bool slept, faulted, preempted;  /* and which there were since the time before */
    uint64_t on_core_ns;             /* since its CPU time was asked last: with a core, */
    uint64_t off_core_ns, slept_ns;  /* without, and so long of its own will */
    double owed, owed_work,
        owed_none;      /* moments at which its code slept, and had a core, and it had none, that were not found yet */
    double none_spread; /* what chance makes of the last: its variance */
    double mean_turns, mean_on_ns; /* from sample to sample, until the last one, */
    uint64_t handler_ns;           /* which took so much of its CPU time; 0: that is not known */
    double doubt;                  /* how many more samples than can be seem to have got their core just then */
    uint64_t asked_ns;             /* when its CPU time was asked last, */
    uint64_t asked_cpu_ns, asked_no_core_ns; /* that, and the time without a core until then */
    uint32_t silence;                        /* of all, until the last sample */
    uint32_t threads;                        /* threads that had a record at the last sample; 0: there was none */
    /* Of the present sample: */
    enum core_state state;
    uint64_t turns;        /* it got a core so often since the one before, */
    uint64_t lost_ns;      /* and was without for so long */
    uint64_t away_ns;      /* from the first of its moments on, */
    uint64_t since_due_ns; /* and had one for so long since then */
    uint64_t woken_ns;     /* a part of it, for the sample's sake: it slept */
    bool in_call;          /* and still does, in its call, */
    uint64_t limit_ns;     /* which lasts so long at most; 0: that is not known */
    uint64_t ends_ns;      /* and, if it is a sleep, until then on the clock of moments; 0: that is not known; */
    bool was_in_call;      /* at the sample before, too */
    bool in_code;          /* the program's, not in a wait of the runtime's or of MPI's, */
    bool stayed; /* as at the sample before, without a wait or a lock in between; and the counts are of that time */
    uint32_t acquisitions; /* of locks, until now */
    bool is_owed;          /* that it sleeps: what is found of it is taken off */
    /* CORE_NONE: of its moments so many that are otherwise. At the first ones it had a core, and lost it while the signal was on its way, or
     * slept; at the last ones it had one, until the handler began. */
    enum core_state first;
    uint64_t first_moments, had_last;
    double stolen_part; /* of the others: a hypervisor had taken the core, and the kernel counts nothing */
    /* Of its waits: */
    uint64_t waited_ticks; /* when the last began */
    double lost_wait_ns;   /* without a core since that was over */
    uint64_t last_ns;      /* when the last sample was, */
    bool splits;           /* and of what the thread loses until the next one half may be before the end of a wait */
};

/* How many of its moments are of that state. [handler] */
static inline uint64_t core_moments_in_state(const struct core *core, const struct delivery *delivery)
{
    return delivery->count - core->first_moments - core->had_last;
}

/* How many of them come less than ns, which is more than 0, behind the first. [handler] */
static inline uint64_t core_moments_within(const struct core *core, const struct delivery *delivery, uint64_t ns)
{
    uint64_t within = delivery->count > 1 ? moments_within(core->moments, delivery->due_ns, ns) : 1;
    return within < delivery->count ? within : delivery->count;
}

/* The calling thread's samples are going to be asked for. [owner] */
void core_begin(struct core *core, const struct state_line *line, const struct moments *moments,
                struct profile_thread *ledger);
void core_end(struct core *core); /* [any] */

/* Fills in what is of the present sample. [handler] */
void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context);

/* When the sample is recorded whose handler began then: what it took is not the program's. [handler] */
void core_leave(struct core *core, uint64_t now_ns);

/* ---- its waits ---- */

/* Behind core_ask(): what the thread lost before its last wait, and since then; the line tells it others. [handler] */
void core_follow(struct core *core, struct state_line *line, const struct delivery *delivery);

/* How long a busy thread has lacked a core since its last wait, at one of the present sample's moments. [handler] */
int64_t core_lost_ns(const struct core *core, uint64_t time_ns);

/* What a thread loses while no other is in use is over when the others come. [handler] */
void core_note_others(struct core *core, struct state_line *line, struct census census);

/* The wait goes on, as one that began later (account_idle_resume). [handler] */
void core_resume(struct core *core, struct state_line *line);

/* ---- the whole process ---- */

/* Whether the whole process stood still: stopped by a signal or a debugger. Nothing of the program's is to blame for that time.
 *
 * A signal that is due reaches a thread that sleeps in a call at once, if the call can be interrupted, and one that runs when it has a core. If
 * it came much later, the thread had not lacked a core, and had slept all the same, either in a call that cannot be interrupted, which is over
 * then (it is right behind it), or waiting for a page (major faults tell), or it was stopped. And as that stops all, no other thread was heard of. */
#define STOPPED_TICK 20u /* of 2^20 ns */

extern uint64_t stopped_heard; /* when a sample came last, in ticks; below it, how many were in gaps without any */

void stopped_note_heard(uint64_t now_ns); /* [handler] */

/* A sample has come. [handler] */
static inline void stopped_hear(uint64_t now_ns)
{
    if (unlikely((uint32_t)(now_ns >> STOPPED_TICK) != (uint32_t)(load_relaxed(&stopped_heard) >> 32)))
        stopped_note_heard(now_ns);
}

/* Behind core_begin(). [owner] */
static inline void stopped_begin(struct core *core)
{
    core->silence = (uint32_t)load_relaxed(&stopped_heard);
    core->threads = 0;
}

/* Whether that is why the sample that core was asked for came late; core's state is then that behind the stop. Behind stopped_hear(). [handler] */
bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context);

#endif
