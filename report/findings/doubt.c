/* What makes all numbers doubtful. */
#include <math.h>

#include "report/tables/coverage.h"
#include "report/findings/rules.h"

/* The program's seconds contain these but for missing_s. */
static void put_loss(struct inquiry *inquiry, double seconds, double missing_s, const char *title, const char *what)
{
    double all_s = inquiry->whole_s + missing_s, share = all_s > 0 ? 100 * seconds / all_s : 0;
    struct finding finding = {.rule = "lost", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (share < LOST_PERCENT)
        return;
    finding.title = format_printable(title, DECIMAL(share, 0));
    finding.evidence = format_printable("%s: %s s, %s %% of all (reported from %s %% on)", what,
                                        DECIMAL(seconds, 2), DECIMAL(share, 1), DECIMAL(LOST_PERCENT, 0));
    finding.advice = format_printable("Read the other numbers with that in mind; `lost` and `note` in the "
                                      "summary and run.json say what happened.");
    put_finding(inquiry, &finding);
}

/* How long threads that wait had no core. What samples cost a thread that is blocked is in the same sum: its part by time is left out. */
static double waited_without_core(const struct profile *profile)
{
    double without = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        double waited = thread->idle + thread->lock_wait + thread->mpi_wait;
        if (waited > 0)
            without += fmin(waited, thread->idle_no_core * waited / (waited + thread->blocked));
    }
    return without;
}

/* All threads idle at once: nobody's code is to blame, and so nobody is. No effort contains it, so it is no part of what
 * per cent are of. */
static void find_nobody_busy(struct inquiry *inquiry)
{
    double seconds = inquiry->nobody_busy_s, wall_s = profile_wall_s(inquiry->profile);
    if (seconds < LEAST_GAIN_S || 100 * seconds < LOST_PERCENT * wall_s || seconds <= inquiry->no_core_s)
        return;
    struct finding finding = {.rule = "nobody-busy",
                              .row = ROW_NONE,
                              .metric = METRIC_SAMPLES,
                              .seconds = seconds * inquiry->threads};
    /* Who waits sees the end of its wait only with a core. */
    double waited_s = 1e-9 * (inquiry->ledger.idle + inquiry->ledger.lock_wait + inquiry->ledger.mpi_wait);
    double without_s = 1e-9 * waited_without_core(inquiry->profile);
    char cores[FORMAT_NUMBER_BYTES + 60] = "";
    if (without_s > 0 && without_s >= MOSTLY * waited_s)
        snprintf(cores, sizeof cores, "; waiting threads had no core for %s %% of their time", DECIMAL(100 * without_s / waited_s, 0));
    finding.title = format_printable("%s s with no thread busy%s", DECIMAL(seconds, 2), cores);
    finding.evidence = format_printable(
        "all threads waited in OpenMP for %s s of the run's %s s (reported from %s %% of that on), which no "
        "per cent contains",
        DECIMAL(seconds, 2), DECIMAL(wall_s, 2), DECIMAL(LOST_PERCENT, 0));
    finding.advice =
        format_printable("Other processes took the cores, or threads pass tiny pieces of work to each other: "
                         "measure on a quiet machine, and read the idleness here with that in mind.");
    put_finding(inquiry, &finding);
}

void find_losses(struct inquiry *inquiry)
{
    const struct ledger *ledger = &inquiry->ledger;
    const struct profile *profile = inquiry->profile;
    double truncated = (double)ledger->paths_truncated * inquiry->period_s;
    double asked = ledger->dropped ? (double)ledger->dropped_by[PROFILE_DROP_PAUSED] / (double)ledger->dropped : 0;
    double dropped_s = ledger->dropped_ns * 1e-9 * (1 - asked); /* the program asks for its pauses */
    find_nobody_busy(inquiry);
    put_loss(inquiry, dropped_s, dropped_s, "%s %% of the time is missing", "samples that were dropped");
    put_loss(inquiry, profile->unresolved_ns * 1e-9, 0, "%s %% of the time has no known region",
             "busy time of unknown regions (<unresolved>)");
    put_loss(inquiry, truncated, 0, "%s %% of the time has no known callers",
             "busy time of unknown callers (<truncated>)");
}

bool find_unmeasured(struct inquiry *inquiry)
{
    struct coverage coverage;
    coverage_of(inquiry->profile, &coverage);
    if (!coverage_is_poor(&coverage))
        return false;
    const struct coverage_loss *loss = &coverage.loss[0];
    struct finding finding = {
        .rule = "unmeasured", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = coverage.lost_s};
    finding.title = format_printable("only %s %% of the threads' time was measured",
                                     DECIMAL(coverage_percent(&coverage), 1));
    finding.evidence = format_printable("%s s of %s%s%s", DECIMAL(loss->seconds, 2), loss->what,
                                        *loss->cause ? ": " : "", loss->cause);
    finding.advice = format_printable("%s No other finding is made from so little.", loss->advice);
    put_finding(inquiry, &finding);
    return true;
}

bool find_short_run(struct inquiry *inquiry)
{
    uint64_t samples = inquiry->ledger.delivered;
    if (samples >= LEAST_SAMPLES)
        return false;
    struct finding finding = {
        .rule = "short", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = inquiry->whole_s};
    finding.title = format_printable("too short to say: %llu sample%s", (unsigned long long)samples,
                                     samples == 1 ? "" : "s");
    finding.evidence =
        format_printable("%s s of thread time gave %llu of the %d samples that are needed at least",
                         DECIMAL(inquiry->whole_s, 2), (unsigned long long)samples, LEAST_SAMPLES);
    finding.advice = format_printable("Measure a longer run, or with more samples: BLAME_RATE=2000, or "
                                      "`blame run --rate 2000`.");
    put_finding(inquiry, &finding);
    return true;
}
