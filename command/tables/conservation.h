/* The conservation laws that are checked for every run (docs/accounting.md). Where possible, the two sides
 * come from different records: the left from contexts, the right from the threads' ledgers. */
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
    double relative;       /* residual over the larger side; 0 if both sides are 0 */
    bool exact;            /* the sides may differ only by rounding, not by sampling error */
    double tolerance;      /* largest residual that sampling can cause; 0 if `exact` */
    bool ok;               /* it holds */
    /* cause of a residual beyond the tolerance; LAW_UNEXPLAINED if no cause is known */
    const char *cause;
};

#define LAW_NO_CORE     "no core" /* threads lacked a core, and others' time beside them was counted */
#define LAW_LOST        "lost samples"
#define LAW_UNEXPLAINED "nothing"
#define LAW_TRACED      "stops for the program that traced it" /* strace or a debugger stopped the program */
#define LAW_COPIED      "copied while it ran" /* made by `blame snapshot`: a sample may be on one side only */

#define CONSERVATION_LAWS 13

/* Fills laws[] and returns their number. Laws that do not apply to this run are left out. */
size_t conservation_check(const struct profile *profile, const struct rows *rows,
                          struct conservation_law laws[CONSERVATION_LAWS]);

/* Sums over all threads' ledgers, in ns or samples. */
struct ledger {
    double work, overhead, lock_wait, idle, parked, idle_nobody_busy, dropped_ns;
    double lifetime;  /* time since the tool's start, of threads that could be sampled */
    double unsampled; /* lifetime of threads without a timer */
    size_t unsampled_threads;
    double on_core, no_core; /* the kernel's counts: time running; time ready without a core */
    double no_core_sampled;  /* no_core by samples instead, in busy, waiting and idle threads */
    double no_core_busy;
    double stolen; /* part of the time without a core that a hypervisor took; in no count of the kernel's */
    double blocked;
    double mpi_wait;
    /* time of threads with a timer while the program had blocked or taken the sampling signal */
    double unsignalled;
    uint64_t delivered, recorded, dropped, paths_truncated, unrestored_calls;
    uint64_t creation_walks, creations_lost;
    uint64_t frames, recipes_read, decoded_steps, slow_reads;
    uint64_t slow_steps[RECIPE_CAUSES]; /* by enum recipe_cause */
    uint64_t dropped_by[PROFILE_DROP_REASONS];
};

void ledger_sum(const struct profile *profile, struct ledger *ledger);

/* Returns the thread-seconds in which all threads waited in OpenMP and none was busy. They are blamed on no
 * code and are part of no effort, so percentages do not cover them. 0 for a single thread's profile, and if
 * below a hundredth of the effort. */
double ledger_nobody_s(const struct profile *profile, double effort_s);

/* Returns the time of threads while they were not idle. */
static inline double ledger_busy(const struct ledger *ledger)
{
    return ledger->work + ledger->overhead + ledger->lock_wait + ledger->no_core_busy + ledger->blocked +
           ledger->mpi_wait;
}

/* least percentage of thread time for ledger_taken_s(); less is normal on any machine */
#define LEDGER_TAKEN_PERCENT 10.0

/* Returns a lower bound on the seconds for which other processes kept the program's threads from cores. With
 * more threads than cores, all waiting that the threads may cause each other is subtracted. */
double ledger_taken_s(const struct profile *profile, const struct ledger *ledger);

/* Returns the seconds from the start of the process to the end of the measurement, or to the last sign of
 * life. */
double profile_wall_s(const struct profile *profile);

#endif
