/* Whether a thread had a core at the moment that its sample is of. A thread that is ready to run and has none gets its signal
 * when it has one again, at the code that was not run; one that sleeps gets it in the call that it sleeps in. The derivation
 * is in docs/accounting.md, "Without a core, and blocked". */
#ifndef BLAME_OMPT_TOOL_SESSION_CORE_H
#define BLAME_OMPT_TOOL_SESSION_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/run_counts.h"
#include "blame/account.h"
#include "blame/state.h"

enum core_state {
    CORE_HAD,
    CORE_NONE,   /* it was ready to run */
    CORE_ASLEEP, /* of its own will */
};

struct core {
    struct run_file file;
    struct run_counts begun, counts; /* when the thread's measurement began, at the last sample */
    uint64_t counted_ns;             /* when that was */
    uint64_t got_ns;                 /* when it had got its core, at the latest, */
    uint64_t gone_ns;                /* and for how long it had none until then */
    long sleeps;                     /* when it was asked last how many they are: when it had lost its core, */
    bool slept;                      /* and whether it did meanwhile; */
    long faults;                     /* the same of waiting for a page */
    bool faulted;
    uint64_t asked_ns;               /* when its CPU time was asked last, */
    uint64_t asked_cpu_ns, asked_no_core_ns; /* that, and the time without a core until then */
    uint32_t silence;                /* of all, until the last sample: stopped.h */
    /* Of the present sample: */
    enum core_state state;
    uint64_t lost_ns;  /* without a core since the one before */
    uint64_t away_ns;  /* from the first of its moments on */
    uint64_t woken_ns; /* a part of it, for the sample's sake: it slept */
    bool in_call;      /* and still does, in its call */
    /* CORE_NONE: of its moments so many, at which it had a core. The first ones: it lost it while the signal was on its way; the last
     * ones: until the handler began. */
    uint64_t had_first, had_last;
    double stolen_part; /* of the others: a hypervisor had taken the core, and the kernel counts nothing */
    /* Of its waits: */
    uint64_t waited_ticks; /* when the last began */
    double lost_wait_ns;   /* without a core since that was over */
    uint64_t last_ns;      /* when the last sample was, */
    bool splits;           /* and of what the thread loses until the next one half may be before the end of a wait */
};

/* The calling thread's samples are going to be asked for. [owner] */
void core_begin(struct core *core, struct profile_thread *ledger);
void core_end(struct core *core); /* [any] */

/* Fills in what is of the present sample. [handler] */
void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context);

/* How many of its moments are of that state. [handler] */
static inline uint64_t core_moments_in_state(const struct core *core, const struct delivery *delivery)
{
    return delivery->count - core->had_first - core->had_last;
}

/* Behind it: what of that it lost before its last wait, and since then; the line tells it others. [handler] */
void core_follow(struct core *core, struct state_line *line, const struct delivery *delivery);

/* How long a busy thread has lacked a core since its last wait, at one of the present sample's moments. [handler] */
int64_t core_lost_ns(const struct core *core, uint64_t time_ns);

/* What a thread loses while no other is in use is over when the others come. [handler] */
void core_note_others(struct core *core, struct state_line *line, struct census census);

/* The wait goes on, as one that began later (account_idle_resume). [handler] */
void core_resume(struct core *core, struct state_line *line);

#endif
