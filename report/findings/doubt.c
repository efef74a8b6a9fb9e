/* Too many threads, and what makes all numbers doubtful. */
#include <math.h>

#include "report/tables/coverage.h"
#include "report/findings/rules.h"

void find_oversubscription(struct gathering *gathering)
{
    const struct rows *rows = gathering->rows;
    double excess = 0, own = 0, inverse_busy = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        double idle = metric_value(rows, rows->row[i].exclusive, METRIC_CORE_IDLENESS);
        const struct profile_metric *sums = rows->row[i].exclusive;
        if (rows->row[i].kind == ROW_STATEMENT || idle >= 0)
            continue;
        excess -= idle;
        own += sums->work + sums->overhead + sums->lock_wait;
        inverse_busy += sums->inverse_busy;
    }
    if (gathering->threads <= gathering->cores || !is_enough(gathering, excess, gathering->threads))
        return;
    struct finding finding = {
        .rule = "oversubscribed", .row = ROW_NONE, .metric = METRIC_CORE_IDLENESS, .seconds = excess};
    const char *cores = number_text(gathering, gathering->cores, 0), *plural = gathering->cores == 1 ? "" : "s";
    finding.title = finding_text(gathering, "%s busy threads at a time on %s core%s",
                                 number_text(gathering, own / inverse_busy, 1), cores, plural);
    finding.evidence = finding_text(gathering,
                                    "%s s in which busy threads had no core (negative core idleness): %s %% "
                                    "of all (reported from %s %% on)",
                                    number_text(gathering, excess, 2),
                                    number_text(gathering, percent_of_program(gathering, excess), 1),
                                    number_text(gathering, LEAST_PERCENT, 0));
    finding.advice = finding_text(
        gathering,
        "Use at most %s thread%s (OMP_NUM_THREADS), or more cores (affinity, cgroup quota); waiting threads "
        "that spin take cores from working ones: KMP_BLOCKTIME=0. The division of blame is an approximation "
        "here.",
        cores, plural);
    put_finding(gathering, &finding);
}

/* share: in percent. */
static void put_loss(struct gathering *gathering, double seconds, double share, const char *title,
                     const char *what)
{
    struct finding finding = {
        .rule = "lost", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (share < LOST_PERCENT)
        return;
    finding.title = finding_text(gathering, title, number_text(gathering, share, 0));
    finding.evidence = finding_text(gathering, "%s: %s s, %s %% (reported from %s %% on)", what,
                                    number_text(gathering, seconds, 2), number_text(gathering, share, 1),
                                    number_text(gathering, LOST_PERCENT, 0));
    finding.advice = finding_text(gathering, "%s",
                                  "Read the other numbers with that in mind; `lost` and `note` in the "
                                  "summary and run.json say what happened.");
    put_finding(gathering, &finding);
}

/* Waiting for a core counts as work, as idleness of others, or as nobody's. Returns the seconds if they are
 * worth a finding, which then explains what else looks strange. */
static double find_taken_cores(struct gathering *gathering)
{
    double seconds = ledger_taken_s(gathering->profile, &gathering->ledger);
    double share = 100 * seconds / fmax(gathering->ledger.lifetime * 1e-9, 1e-9);
    struct finding finding = {
        .rule = "cores-taken", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (gathering->profile->header.clock != 0 || seconds < LEAST_GAIN_S)
        return 0;
    finding.title = finding_text(gathering, "other processes took the cores for %s s of thread time",
                                 number_text(gathering, seconds, 2));
    finding.evidence =
        finding_text(gathering,
                     "the program's threads were ready to run and had no core for %s s, %s %% of their "
                     "time (reported from %s %% on)",
                     number_text(gathering, seconds, 2), number_text(gathering, share, 1),
                     number_text(gathering, LEDGER_TAKEN_PERCENT, 0));
    finding.advice =
        finding_text(gathering, "%s",
                     "Measure on a quiet machine: work is too high by as much, and idleness by up to as "
                     "much for each thread that waited for the others.");
    put_finding(gathering, &finding);
    return seconds;
}

/* All threads idle at once: nobody's code is to blame, and so nobody is. */
static void find_nobody_busy(struct gathering *gathering, double taken_s)
{
    double seconds = gathering->nobody_busy_s, wall_s = profile_wall_s(gathering->profile);
    if (gathering->profile->header.clock != 0 || seconds < LEAST_GAIN_S ||
        100 * seconds < LOST_PERCENT * wall_s || seconds <= taken_s)
        return;
    struct finding finding = {.rule = "nobody-busy",
                              .row = ROW_NONE,
                              .metric = METRIC_SAMPLES,
                              .seconds = seconds * gathering->threads};
    finding.title = finding_text(gathering, "%s s with no thread busy", number_text(gathering, seconds, 2));
    finding.evidence = finding_text(
        gathering, "all threads waited in OpenMP for %s s of %s s: %s %% (reported from %s %% on)",
        number_text(gathering, seconds, 2), number_text(gathering, wall_s, 2),
        number_text(gathering, 100 * seconds / wall_s, 1), number_text(gathering, LOST_PERCENT, 0));
    finding.advice =
        finding_text(gathering, "%s",
                     "Other processes took the cores, or threads pass tiny pieces of work to each other: "
                     "measure on a quiet machine, and read the idleness here with that in mind.");
    put_finding(gathering, &finding);
}

void find_losses(struct gathering *gathering)
{
    const struct ledger *ledger = &gathering->ledger;
    const struct profile *profile = gathering->profile;
    double busy = (ledger->work + ledger->overhead + ledger->lock_wait) * 1e-9;
    double lifetime = ledger->lifetime * 1e-9;
    double dropped = ledger->dropped_ns * 1e-9,
           truncated = (double)ledger->paths_truncated * gathering->period_s;
    double unresolved = profile->unresolved_ns * 1e-9;
    const char *missing = "%s %% of the time is missing";
    double taken_s = find_taken_cores(gathering);
    find_nobody_busy(gathering, taken_s);
    if (lifetime > 0)
        put_loss(gathering, dropped, 100 * dropped / lifetime, missing, "samples that were dropped");
    if (busy > 0) {
        put_loss(gathering, unresolved, 100 * unresolved / busy, "%s %% of the busy time has no known region",
                 "busy time of unknown regions (<unresolved>)");
        put_loss(gathering, truncated, 100 * truncated / busy, "%s %% of the busy time has no known callers",
                 "busy time of unknown callers (<truncated>)");
    }
}

bool find_unmeasured(struct gathering *gathering)
{
    struct coverage coverage;
    coverage_of(gathering->profile, &coverage);
    if (!coverage_is_poor(&coverage))
        return false;
    const struct coverage_loss *loss = &coverage.loss[0];
    struct finding finding = {
        .rule = "unmeasured", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = coverage.lost_s};
    finding.title = finding_text(gathering, "only %s %% of the threads' time was measured",
                                 number_text(gathering, coverage_percent(&coverage), 1));
    finding.evidence = finding_text(gathering, "%s s of %s%s%s", number_text(gathering, loss->seconds, 2), loss->what,
                                    *loss->cause ? ": " : "", loss->cause);
    finding.advice = finding_text(gathering, "%s No other finding is made from so little.", loss->advice);
    put_finding(gathering, &finding);
    return true;
}

bool find_short_run(struct gathering *gathering)
{
    uint64_t samples = gathering->ledger.delivered;
    if (samples >= LEAST_SAMPLES)
        return false;
    struct finding finding = {
        .rule = "short", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = gathering->effort_s};
    finding.title = finding_text(gathering, "too short to say: %llu sample%s", (unsigned long long)samples,
                                 samples == 1 ? "" : "s");
    finding.evidence = finding_text(
        gathering, "%s s of thread time gave %llu of the %d samples that are needed at least",
        number_text(gathering, gathering->effort_s, 2), (unsigned long long)samples, LEAST_SAMPLES);
    finding.advice = finding_text(gathering, "%s",
                                  "Measure a longer run, or with more samples: BLAME_RATE=2000, or "
                                  "`blame run --rate 2000`.");
    put_finding(gathering, &finding);
    return true;
}
