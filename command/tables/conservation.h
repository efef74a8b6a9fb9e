/* The conservation laws that every run is checked against (docs/accounting.md). The two sides of each are
 * summed from different records: the left from the contexts, the right from the threads' ledgers, where that
 * is possible. */
#ifndef BLAME_COMMAND_TABLES_CONSERVATION_H
#define BLAME_COMMAND_TABLES_CONSERVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/recipe_cause.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"

struct conservation_law {
    const char *name;      /* key in run.json */
    const char *statement; /* in words */
    double left, right;    /* seconds, or samples */
    double residual;       /* left - right */
    double relative;       /* of the larger side, 0 when both are 0 */
    bool exact;            /* only rounding may separate the sides; otherwise sampling error may */
    double tolerance;      /* of a law that is not exact: most that sampling does to the residual */
    bool ok;               /* it holds */
    const char *cause;     /* of a law that does not: what accounts for it, LAW_UNEXPLAINED if nothing does */
};

#define LAW_NO_CORE     "no core" /* threads that had none, beside which others' time was counted */
#define LAW_LOST        "lost samples"
#define LAW_UNEXPLAINED "nothing"
#define LAW_TRACED      "stops for the program that traced it" /* strace, a debugger */
#define LAW_COPIED      "copied while it ran" /* blame snapshot: a sample may be on one side, and not yet on the other */

#define CONSERVATION_LAWS 12

/* Fills laws[] and returns their number (a law that this run cannot be held to is left out). */
size_t conservation_check(const struct profile *profile, const struct rows *rows,
                          struct conservation_law laws[CONSERVATION_LAWS]);

/* Sums over all threads' ledgers, in nanoseconds or samples. */
struct ledger {
    double work, overhead, lock_wait, idle, parked, idle_nobody_busy, dropped_ns;
    double lifetime;  /* of the threads that could be sampled, from the tool's start on */
    double unsampled; /* lifetime of the threads without a timer */
    size_t unsampled_threads;
    double on_core, no_core; /* running, ready to run without a core: by the kernel's count */
    double no_core_sampled;  /* the same by samples; and of busy and lock-waiting threads alone: */
    double no_core_busy;
    double stolen; /* the part of it that a hypervisor had taken: in no count of the kernel's */
    double blocked;
    double mpi_wait;
    double unsignalled; /* of the others: the program had blocked or taken the sampling signal */
    uint64_t delivered, recorded, dropped, paths_truncated, unrestored_calls;
    uint64_t creation_walks, creations_lost;
    uint64_t frames, recipes_read, decoded_steps, slow_reads;
    uint64_t slow_steps[RECIPE_CAUSES]; /* by enum recipe_cause */
    uint64_t dropped_by[PROFILE_DROP_REASONS];
};

void ledger_sum(const struct profile *profile, struct ledger *ledger);

/* Threads' time in which no thread was busy, as all waited in OpenMP, in seconds. It is blamed on nobody, and no effort has it: no per cent
 * are of it. 0 of one thread's profile, and if it is less than a hundredth of the effort. */
double ledger_nobody_s(const struct profile *profile, double effort_s);

/* All time of threads that were not idle. */
static inline double ledger_busy(const struct ledger *ledger)
{
    return ledger->work + ledger->overhead + ledger->lock_wait + ledger->no_core_busy + ledger->blocked +
           ledger->mpi_wait;
}

#define LEDGER_TAKEN_PERCENT 10.0 /* of thread time: with less, which any machine has, it is 0 */

/* Seconds in which the program's threads waited for a core that other processes had, at least: where they are
 * more than the cores, all waiting that they can have caused each other is left out. */
double ledger_taken_s(const struct profile *profile, const struct ledger *ledger);

/* From the start of the process to the end of the measurement, or to the last sign of life. */
double profile_wall_s(const struct profile *profile);

#endif
