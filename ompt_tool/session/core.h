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
    uint64_t got_ns;                 /* when it had got its core, at the latest */
    long sleeps;                     /* when it was asked last how many they are */
    /* Of the present sample: */
    enum core_state state;
    uint64_t lost_ns;  /* without a core since the one before */
    uint64_t away_ns;  /* at its moment, and from then on */
    uint64_t woken_ns; /* a part of it, for the sample's sake: it slept */
    /* That it runs late for want of a core, since it waited last. */
    uint64_t waited_ticks;
    double debt_ns;
    bool pays; /* a sample since then was of that */
};

/* The calling thread's samples are going to be asked for. [owner] */
void core_begin(struct core *core, struct profile_thread *ledger);
void core_end(struct core *core); /* [any] */

/* Fills in what is of the present sample. [handler] */
void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context);

/* Of a busy thread's sample: whether the others would not wait, or not yet, if this thread had not been without a core since its
 * last wait; it has one now. [handler] */
bool core_runs_late(struct core *core, const struct state_line *line, double p, struct census census);

#endif
