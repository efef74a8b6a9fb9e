/* Too many threads, and what makes all numbers doubtful. */
#include <math.h>

#include "report/tables/coverage.h"
#include "report/findings/rules.h"

void find_oversubscription(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    double excess = 0, own = 0, inverse_busy = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        double idle = metric_value(rows, rows->row[i].exclusive, METRIC_CORE_IDLENESS);
        const struct profile_sums *sums = rows->row[i].exclusive;
        if (rows->row[i].kind == ROW_STATEMENT || idle >= 0)
            continue;
        excess -= idle;
        own += sums->work + sums->overhead + sums->lock_wait;
        inverse_busy += sums->inverse_busy;
    }
    if (inquiry->threads <= inquiry->cores || !is_enough(inquiry, excess))
        return;
    struct finding finding = {.rule = "oversubscribed",
                              .row = ROW_NONE,
                              .metric = METRIC_CORE_IDLENESS,
                              .seconds = excess,
                              .sampled = true,
                              .own = own * 1e-9};
    const char *cores = DECIMAL(inquiry->cores, 0), *plural = inquiry->cores == 1 ? "" : "s";
    finding.title = format_printable("%s busy threads at a time on %s core%s", DECIMAL(own / inverse_busy, 1),
                                     cores, plural);
    finding.evidence = format_printable(
        "%s s in which busy threads had no core (negative core idleness): %s %% "
        "of all (reported from %s %% on)",
        DECIMAL(excess, 2), DECIMAL(percent_of_program(inquiry, excess), 1), DECIMAL(LEAST_PERCENT, 0));
    finding.advice = format_printable(
        "Use at most %s thread%s (OMP_NUM_THREADS), or more cores (affinity, cgroup quota); waiting threads "
        "that spin take cores from working ones: KMP_BLOCKTIME=0. The division of blame is an approximation "
        "here.",
        cores, plural);
    put_finding(inquiry, &finding);
}

/* share: in percent. */
static void put_loss(struct inquiry *inquiry, double seconds, double share, const char *title,
                     const char *what)
{
    struct finding finding = {.rule = "lost", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (share < LOST_PERCENT)
        return;
    finding.title = format_printable(title, DECIMAL(share, 0));
    finding.evidence = format_printable("%s: %s s, %s %% (reported from %s %% on)", what, DECIMAL(seconds, 2),
                                        DECIMAL(share, 1), DECIMAL(LOST_PERCENT, 0));
    finding.advice = format_printable("Read the other numbers with that in mind; `lost` and `note` in the "
                                      "summary and run.json say what happened.");
    put_finding(inquiry, &finding);
}

/* Waiting for a core counts as work, as idleness of others, or as nobody's. Returns the seconds if they are
 * worth a finding, which then explains what else looks strange. */
static double find_taken_cores(struct inquiry *inquiry)
{
    double seconds = ledger_taken_s(inquiry->profile, &inquiry->ledger);
    double share = 100 * seconds / fmax(inquiry->ledger.lifetime * 1e-9, 1e-9);
    struct finding finding = {
        .rule = "cores-taken", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (inquiry->profile->header.clock != 0 || seconds < LEAST_GAIN_S)
        return 0;
    finding.title =
        format_printable("other processes took the cores for %s s of thread time", DECIMAL(seconds, 2));
    finding.evidence =
        format_printable("the program's threads were ready to run and had no core for %s s, %s %% of their "
                         "time (reported from %s %% on)",
                         DECIMAL(seconds, 2), DECIMAL(share, 1), DECIMAL(LEDGER_TAKEN_PERCENT, 0));
    finding.advice =
        format_printable("Measure on a quiet machine: work is too high by as much, and idleness by up to as "
                         "much for each thread that waited for the others.");
    put_finding(inquiry, &finding);
    return seconds;
}

/* All threads idle at once: nobody's code is to blame, and so nobody is. */
static void find_nobody_busy(struct inquiry *inquiry, double taken_s)
{
    double seconds = inquiry->nobody_busy_s, wall_s = profile_wall_s(inquiry->profile);
    if (inquiry->profile->header.clock != 0 || seconds < LEAST_GAIN_S ||
        100 * seconds < LOST_PERCENT * wall_s || seconds <= taken_s)
        return;
    struct finding finding = {.rule = "nobody-busy",
                              .row = ROW_NONE,
                              .metric = METRIC_SAMPLES,
                              .seconds = seconds * inquiry->threads};
    finding.title = format_printable("%s s with no thread busy", DECIMAL(seconds, 2));
    finding.evidence = format_printable(
        "all threads waited in OpenMP for %s s of %s s: %s %% (reported from %s %% on)", DECIMAL(seconds, 2),
        DECIMAL(wall_s, 2), DECIMAL(100 * seconds / wall_s, 1), DECIMAL(LOST_PERCENT, 0));
    finding.advice =
        format_printable("Other processes took the cores, or threads pass tiny pieces of work to each other: "
                         "measure on a quiet machine, and read the idleness here with that in mind.");
    put_finding(inquiry, &finding);
}

void find_losses(struct inquiry *inquiry)
{
    const struct ledger *ledger = &inquiry->ledger;
    const struct profile *profile = inquiry->profile;
    double busy = (ledger->work + ledger->overhead + ledger->lock_wait) * 1e-9;
    double lifetime = ledger->lifetime * 1e-9;
    double dropped = ledger->dropped_ns * 1e-9,
           truncated = (double)ledger->paths_truncated * inquiry->period_s;
    double unresolved = profile->unresolved_ns * 1e-9;
    const char *missing = "%s %% of the time is missing";
    double taken_s = find_taken_cores(inquiry);
    find_nobody_busy(inquiry, taken_s);
    if (lifetime > 0)
        put_loss(inquiry, dropped, 100 * dropped / lifetime, missing, "samples that were dropped");
    if (busy > 0) {
        put_loss(inquiry, unresolved, 100 * unresolved / busy, "%s %% of the busy time has no known region",
                 "busy time of unknown regions (<unresolved>)");
        put_loss(inquiry, truncated, 100 * truncated / busy, "%s %% of the busy time has no known callers",
                 "busy time of unknown callers (<truncated>)");
    }
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
        .rule = "short", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = inquiry->effort_s};
    finding.title = format_printable("too short to say: %llu sample%s", (unsigned long long)samples,
                                     samples == 1 ? "" : "s");
    finding.evidence =
        format_printable("%s s of thread time gave %llu of the %d samples that are needed at least",
                         DECIMAL(inquiry->effort_s, 2), (unsigned long long)samples, LEAST_SAMPLES);
    finding.advice = format_printable("Measure a longer run, or with more samples: BLAME_RATE=2000, or "
                                      "`blame run --rate 2000`.");
    put_finding(inquiry, &finding);
    return true;
}
