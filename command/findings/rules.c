#include "command/findings/rules.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings/finding.h"
#include "command/profile/pair_map.h"
#include "command/rows/error.h"
#include "command/rows/label.h"
#include "command/rows/own.h"
#include "command/tables/conservation.h"
#include "command/tables/coverage.h"
#include "command/tables/locks.h"
#include "command/tables/waits.h"
#include "command/text/format.h"
#include "command/text/memory.h"

/* Least number of samples in all threads. With fewer, the only finding is `short`: a share of LEAST_PERCENT is
 * less than one sample. */
#define LEAST_SAMPLES 20
/* number of samples from which a run without findings has no problem that is worth one */
#define ENOUGH_SAMPLES 100

#define NEARLY_ALL 0.95 /* share of the effort with a core from which missing cores are not mentioned */

#define PLACE_COLUMNS 100 /* width of a place with its callers */

/* ---- thresholds, and recording a finding ---- */

bool finding_is_enough_idleness(const struct inquiry *inquiry, double seconds)
{
    return seconds * inquiry->idle_to_wall >= LEAST_GAIN_S && finding_is_enough(inquiry, seconds);
}

double percent_of_program(const struct inquiry *inquiry, double seconds)
{
    return inquiry->whole_s > 0 && seconds > 0 ? 100 * seconds / inquiry->whole_s : 0;
}

const char *describe_share(char to[SHARE_BYTES], const struct inquiry *inquiry, double seconds)
{
    snprintf(to, SHARE_BYTES, "%s %% of the effort of %s thread-seconds",
             DECIMAL(percent_of_program(inquiry, seconds), 1), DECIMAL(inquiry->whole_s, 2));
    return to;
}

static bool cores_are_missing(const struct inquiry *inquiry)
{
    return inquiry->core_s > 0 && inquiry->core_s <= NEARLY_ALL * inquiry->whole_s;
}

const char *describe_part(char to[PART_BYTES], const struct inquiry *inquiry, double seconds)
{
    bool missing = cores_are_missing(inquiry);
    double percent = missing ? fmin(100, 100 * seconds / inquiry->core_s) : percent_of_program(inquiry, seconds);
    snprintf(to, PART_BYTES, "%s %% of the effort%s", DECIMAL(percent, percent < 1 ? 1 : 0),
             missing ? " with a core" : "");
    return to;
}

const struct unit *host_once(struct inquiry *inquiry, uint32_t unit, uint32_t stamp)
{
    if (unit == UNIT_NONE)
        return NULL;
    struct unit *host = &inquiry->unit[inquiry->unit[unit].host];
    if (host->stamp == stamp)
        return NULL;
    host->stamp = stamp;
    return host;
}

uint32_t next_stamp(struct inquiry *inquiry)
{
    return ++inquiry->stamp;
}

double busy_threads(const struct profile_sums *sum)
{
    return sum->inverse_busy > 0 ? profile_sums_own(sum) / sum->inverse_busy : 0;
}

uint32_t construct_at(const struct inquiry *inquiry, const struct unit *unit, uint32_t row)
{
    uint32_t at = inquiry->region[row];
    return at != ROW_NONE && &inquiry->unit[inquiry->unit_of[at]] == unit ? at : unit->row;
}

void name_construct(const struct inquiry *inquiry, const struct unit *unit, uint32_t row, char to[CONSTRUCT_BYTES])
{
    const struct rows *rows = inquiry->rows;
    const struct row *construct = &rows->row[construct_at(inquiry, unit, row)];
    char name[NAME_BYTES];
    bool begins = rows->row[rows_own(rows, row)].function == construct->function;
    bool known = construct->kind == ROW_PARALLEL || construct->kind == ROW_TASK;
    *to = '\0';
    if (!known || begins)
        return;
    shorten_name(name, construct->label->name);
    snprintf(to, CONSTRUCT_BYTES, " in %s", name);
}

static double error_of_finding(const struct inquiry *inquiry, const struct finding *finding)
{
    /* core idleness is negative where threads lack cores */
    double value = finding->metric == METRIC_CORE_IDLENESS ? -finding->seconds : finding->seconds;
    return error_of(&inquiry->error, finding->metric, value, finding->basis);
}

/* Sets the error. If chance alone may explain the finding, marks this in the title, because a summary shows
 * only titles. */
static void put_finding_error(const struct inquiry *inquiry, struct finding *put)
{
    char *title = put->title, *evidence = put->evidence;
    put->error = error_of_finding(inquiry, put);
    double least_s = put->seconds - put->error;
    /* changes and missing cores are judged by all of the effort */
    if (put->rank >= FINDING_TIME ? percent_of_program(inquiry, least_s) >= LEAST_PERCENT
                                  : finding_is_enough(inquiry, least_s))
        return;
    put->title = memory_text("perhaps (few samples): %s", title);
    put->evidence =
        memory_text("%s; with so large an error, the share may be below %s %%", evidence, DECIMAL(LEAST_PERCENT, 0));
    free(title);
    free(evidence);
}

/* Adds the share that the finding is judged by, if it differs from the share of all effort. */
static void put_core_share(const struct inquiry *inquiry, struct finding *put)
{
    if (put->rank != FINDING_OWN || !cores_are_missing(inquiry))
        return;
    char *evidence = put->evidence;
    put->evidence =
        memory_text("%s; this is %s %% of the %s thread-seconds that had a core", evidence,
                    DECIMAL(fmin(100, 100 * put->seconds / inquiry->core_s), 1), DECIMAL(inquiry->core_s, 2));
    free(evidence);
}

void put_finding(struct inquiry *inquiry, const struct finding *finding)
{
    struct findings *findings = inquiry->findings;
    memory_grow(&findings->finding, &inquiry->room, findings->count, sizeof *findings->finding);
    struct finding *put = &findings->finding[findings->count++];
    *put = *finding;
    put->share = fmin(100, percent_of_program(inquiry, finding->seconds));
    if (finding->sampled) {
        put_core_share(inquiry, put);
        put_finding_error(inquiry, put);
    }
    if (put->row != ROW_NONE)
        put->row = rows_own(inquiry->rows, put->row);
    put->place = put->row == ROW_NONE ? memory_text("%s", "") : finding_place(inquiry->rows, put, PLACE_COLUMNS, false);
}

void put_bounded_finding(struct inquiry *inquiry, const struct finding *finding, const struct relief *relief)
{
    struct finding bounded = *finding;
    double error_s = finding->sampled ? error_of_finding(inquiry, finding) : 0;
    bool chance = finding->sampled && error_s >= finding->seconds;
    struct relief most = *relief;
    most.error_share = finding->seconds > 0 ? error_s / finding->seconds : 0;
    bounded.gain_s = bound_of(inquiry, &most);
    if (bounded.gain_s >= LEAST_GAIN_S && !chance) {
        put_finding(inquiry, &bounded);
        return;
    }
    free(bounded.title);
    free(bounded.evidence);
    free(bounded.advice);
}

bool cores_explain(const struct inquiry *inquiry, double waited_s)
{
    return waited_s <= (inquiry->threads - 1) * inquiry->no_core_s;
}

/* ---- doubt ---- */

/* Reports a loss that makes all numbers doubtful. missing_s: the seconds of the loss that the program's
 * effort does not contain. */
static void put_loss(struct inquiry *inquiry, double seconds, double missing_s, const char *title, const char *what)
{
    double all_s = inquiry->whole_s + missing_s, share = all_s > 0 ? 100 * seconds / all_s : 0;
    struct finding finding = {.rule = "lost", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = seconds};
    if (share < LOST_PERCENT)
        return;
    finding.title = format_printable(title, DECIMAL(share, 0));
    finding.evidence =
        format_printable("%s: %s s of the effort of %s thread-seconds", what, DECIMAL(seconds, 2), DECIMAL(all_s, 2));
    finding.advice = format_printable(
        "The other numbers are therefore doubtful. The lines `lost` and `note` of the summary, and run.json, say "
        "what happened.");
    put_finding(inquiry, &finding);
}

bool nobody_busy_is_enough(const struct inquiry *inquiry)
{
    double seconds = inquiry->nobody_busy_s;
    return seconds >= LEAST_GAIN_S && 100 * seconds >= LOST_PERCENT * profile_wall_s(inquiry->profile) &&
           seconds > inquiry->no_core_s;
}

/* Reports time in which all threads idled. No code is to blame for this time, but other findings may say why. */
static void find_nobody_busy(struct inquiry *inquiry)
{
    double seconds = inquiry->nobody_busy_s, wall_s = profile_wall_s(inquiry->profile);
    if (!nobody_busy_is_enough(inquiry) || idles_for_tiny_regions(inquiry))
        return;
    struct finding finding = {.rule = "nobody-busy",
                              .row = ROW_NONE,
                              .rank = FINDING_TIME,
                              .metric = METRIC_SAMPLES,
                              .seconds = seconds * inquiry->threads};
    /* A waiting thread notices the end of its wait only when it has a core. */
    double waited_s = 1e-9 * (inquiry->ledger.idle + inquiry->ledger.lock_wait + inquiry->ledger.mpi_wait);
    double without_s = waited_without_core_s(inquiry->profile);
    char cores[FORMAT_NUMBER_BYTES + 60] = "";
    if (without_s > 0 && without_s >= MOSTLY * waited_s) {
        finding.rank = FINDING_LAST;
        snprintf(cores, sizeof cores, "; waiting threads had no core for %s %% of their time",
                 DECIMAL(100 * without_s / waited_s, 0));
    }
    finding.title = format_printable("%s s with no thread busy%s", DECIMAL(seconds, 2), cores);
    finding.evidence = format_printable(
        "all threads waited in OpenMP for %s %% of the run's %s s; no code is to blame for this time%s",
        DECIMAL(100 * seconds / wall_s, 0), DECIMAL(wall_s, 2),
        *cores ? "; a wait counts as idleness, also without a core" : "");
    finding.advice =
        format_printable("Either other processes took the cores, or threads pass tiny pieces of work to each other. "
                         "Measure on a quiet machine, and do not rely on the figures for idleness.");
    put_finding(inquiry, &finding);
}

void find_losses(struct inquiry *inquiry)
{
    const struct ledger *ledger = &inquiry->ledger;
    const struct profile *profile = inquiry->profile;
    double truncated = (double)ledger->paths_truncated * inquiry->period_s;
    double asked = ledger->dropped ? (double)ledger->dropped_by[PROFILE_DROP_PAUSED] / (double)ledger->dropped : 0;
    double dropped_s = ledger->dropped_ns * 1e-9 * (1 - asked); /* the program itself asks for pauses */
    find_nobody_busy(inquiry);
    put_loss(inquiry, dropped_s, dropped_s, "%s %% of the effort is missing", "the time of dropped samples");
    put_loss(inquiry, profile->unresolved_ns * 1e-9, 0, "%s %% of the effort is in unknown regions",
             "busy time of unknown regions (<unresolved>)");
    put_loss(inquiry, truncated, 0, "%s %% of the effort has unknown callers",
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
    finding.title =
        format_printable("only %s %% of the threads' time was measured", DECIMAL(coverage_percent(&coverage), 1));
    finding.evidence = format_printable("%s s of %s%s%s", DECIMAL(loss->seconds, 2), loss->what,
                                        *loss->cause ? ": " : "", loss->cause);
    finding.advice = format_printable("%s There are no other findings, because too little was measured.", loss->advice);
    put_finding(inquiry, &finding);
    return true;
}

bool samples_are_too_few(const struct inquiry *inquiry)
{
    return inquiry->ledger.delivered < LEAST_SAMPLES;
}

void find_short_run(struct inquiry *inquiry)
{
    uint64_t samples = inquiry->ledger.delivered;
    if (samples >= ENOUGH_SAMPLES || inquiry->findings->count > 0)
        return;
    struct finding finding = {.rule = "short", .row = ROW_NONE, .metric = METRIC_SAMPLES, .seconds = inquiry->whole_s};
    finding.title = format_printable("the run was too short for findings: %llu sample%s", (unsigned long long)samples,
                                     samples == 1 ? "" : "s");
    finding.evidence =
        format_printable("%s thread-seconds were measured; findings need at least %d samples, and %d to be complete",
                         DECIMAL(inquiry->whole_s, 2), LEAST_SAMPLES, ENOUGH_SAMPLES);
    finding.advice = format_printable("Measure a longer run, or take more samples per second: BLAME_RATE=2000, or "
                                      "`blame run --rate 2000`.");
    put_finding(inquiry, &finding);
}
