/* The conservation laws that are checked for every run (docs/accounting.md). As far as possible, the two
 * sides come from different records: the left side from contexts, the right side from the threads' ledgers. */
#ifndef BLAME_COMMAND_TABLES_CONSERVATION_H
#define BLAME_COMMAND_TABLES_CONSERVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/recipe_cause.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"

struct conservation_law {
    const char *name;      /* key in run.json */
    const char *statement; /* the law in words */
    double left, right;    /* the two sides, in s or in samples */
    double residual;       /* left - right */
    double relative;       /* residual divided by the larger side; 0 if both sides are 0 */
    bool exact;            /* whether only rounding, not sampling error, can make the sides differ */
    double tolerance;      /* largest residual that sampling can cause; 0 if `exact` */
    bool ok;               /* whether the law holds */
    /* cause of a residual above the tolerance; LAW_UNEXPLAINED if unknown */
    const char *cause;
};

#define LAW_NO_CORE "no core" /* threads had no core, which also changed the time of other threads */
/* samples found threads asleep, and when that began and ended is known to a period only */
#define LAW_SLEEPS      "sleeps that no layer reports"
#define LAW_LOST        "lost samples"
#define LAW_UNEXPLAINED "nothing"
#define LAW_TRACED      "stopped while another program traced it" /* strace or a debugger stopped the program */
/* the file comes from `blame snapshot`: a sample may be on one side only */
#define LAW_COPIED "copied while it ran"

#define CONSERVATION_LAWS 15

/* Fills laws[] and returns their number. Laws that do not apply to the run are left out. */
size_t conservation_check(const struct profile *profile, const struct rows *rows,
                          struct conservation_law laws[CONSERVATION_LAWS]);

/* Sums over all threads' ledgers, in ns or as numbers of samples. */
struct ledger {
    double work, overhead, lock_wait, idle, parked, idle_nobody_busy, dropped_ns, ahead;
    double lock_wait_counted; /* lock wait that samples of holders booked in the context that they found */
    double lifetime;          /* time that threads which could be sampled lived after the tool's start */
    double unsampled;         /* time that threads without a timer lived after the tool's start */
    size_t unsampled_threads;
    double on_core, no_core; /* by the kernel's count: time on a core, and time ready to run without a core */
    /* time without a core according to samples of busy, waiting and idle threads; compare no_core */
    double no_core_sampled;
    double no_core_busy;
    /* time without a core in which a hypervisor had it; the kernel does not count this time */
    double stolen;
    double blocked;
    double mpi_wait;
    /* time for which threads with a timer had no samples, because the program blocked or used the sampling
     * signal */
    double unsignalled;
    uint64_t delivered, recorded, dropped, paths_truncated, unrestored_calls;
    uint64_t creation_walks, creations_lost;
    uint64_t frames, recipes_read, decoded_steps, slow_reads;
    uint64_t slow_steps[RECIPE_CAUSES]; /* number of slow steps, by enum recipe_cause */
    uint64_t dropped_by[PROFILE_DROP_REASONS];
};

void ledger_sum(const struct profile *profile, struct ledger *ledger);

/* Returns the thread-seconds in which all threads waited in OpenMP and none was busy. They are blamed on no
 * code and are in no effort, so percentages do not contain them. Returns 0 for the profile of one thread, and
 * for less than a hundredth of the effort. */
double ledger_nobody_s(const struct profile *profile, double effort_s);

/* Returns the ns in which threads were not idle. */
static inline double ledger_busy(const struct ledger *ledger)
{
    return ledger->work + ledger->overhead + ledger->lock_wait + ledger->no_core_busy + ledger->blocked +
           ledger->mpi_wait;
}

/* smallest percentage of the threads' time that ledger_taken_s() reports; less is normal on any machine */
#define LEDGER_TAKEN_PERCENT 10.0

/* Returns a lower bound on the thread-seconds in which other processes kept the program's threads from having
 * a core. With more threads than cores, all time that the threads may have waited for one another is
 * subtracted. */
double ledger_taken_s(const struct profile *profile, const struct ledger *ledger);

#endif
