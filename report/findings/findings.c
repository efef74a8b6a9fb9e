/* Findings: the rules in their order, and how findings are put down. */
#include "report/findings/rules.h"
#include "report/rows/label.h"
#include "report/rows/own.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/grow.h"

/* Each puts down what it finds. find_both comes before the rules whose findings it replaces. */
static void (*const rules[])(struct gathering *) = {
    find_losses, find_oversubscription, find_start_up, find_serial_code,
    find_both,   find_idle_regions,     find_overhead, find_locks,
};

bool is_enough(const struct gathering *gathering, double seconds, double per_sample)
{
    double deviation = sqrt(per_sample * gathering->period_s * (seconds > 0 ? seconds : 0));
    return percent_of_program(gathering, seconds - SIGMAS * deviation) >= LEAST_PERCENT;
}

bool is_enough_idleness(const struct gathering *gathering, double seconds)
{
    return seconds * gathering->idle_to_wall >= LEAST_GAIN_S &&
           is_enough(gathering, seconds, gathering->threads - 1);
}

double idleness_deviation(const struct gathering *gathering, double seconds)
{
    return sqrt((gathering->threads - 1) * gathering->period_s * (seconds > 0 ? seconds : 0));
}

double percent_of_program(const struct gathering *gathering, double seconds)
{
    return gathering->effort_s > 0 && seconds > 0 ? 100 * seconds / gathering->effort_s : 0;
}

double bound_of_cost(const struct gathering *gathering, double seconds, double idle_ns)
{
    return fmin(seconds, seconds * gathering->busy_to_wall + idle_ns * 1e-9 * gathering->idle_to_wall);
}

double host_idle_once(struct gathering *gathering, uint32_t row, uint32_t stamp)
{
    uint32_t number = gathering->unit_of[row];
    if (number == UNIT_NONE)
        return 0;
    struct unit *host = &gathering->unit[gathering->unit[number].host];
    if (host->stamp == stamp)
        return 0;
    host->stamp = stamp;
    return host->host_idle_ns;
}

uint32_t next_stamp(struct gathering *gathering)
{
    return ++gathering->stamp;
}

double busy_threads(const struct profile_metric *sum)
{
    double own = sum->work + sum->overhead + sum->lock_wait;
    return sum->inverse_busy > 0 ? own / sum->inverse_busy : 0;
}

const char *number_text(struct gathering *gathering, double value, int decimals)
{
    size_t slots = sizeof gathering->number / sizeof *gathering->number;
    return format_decimal(gathering->number[gathering->next_number++ % slots], value, decimals);
}

char *finding_text(struct gathering *gathering, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *clean = format_vprintable(format, arguments);
    va_end(arguments);
    gathering->no_memory |= !clean;
    return clean;
}

void shorten_name(char to[NAME_BYTES], const char *name)
{
    char *clean = format_clean(name, true);
    format_shorten(to, NAME_BYTES, clean ? clean : "", NAME_COLUMNS, false);
    free(clean);
}

void put_finding(struct gathering *gathering, const struct finding *finding)
{
    struct findings *findings = gathering->findings;
    if (!grow_list(&findings->finding, &gathering->room, findings->count, sizeof *findings->finding)) {
        gathering->no_memory = true;
        free(finding->title);
        free(finding->evidence);
        free(finding->advice);
        return;
    }
    struct finding *put = &findings->finding[findings->count++];
    *put = *finding;
    put->share = fmin(100, percent_of_program(gathering, finding->seconds));
    /* Many threads on few cores wait longer together than the run is long, even divided by the cores. */
    double wall_s = profile_wall_s(gathering->profile);
    if (wall_s > 0)
        put->gain_s = fmin(finding->gain_s, wall_s);
    if (put->row != ROW_NONE)
        put->row = rows_own(gathering->rows, put->row);
    put->place = put->row == ROW_NONE ? strdup("")
                                      : view_own_label(gathering->rows, put->row, finding->measure,
                                                       PLACE_COLUMNS, false);
    gathering->no_memory |= !put->title || !put->evidence || !put->advice || !put->place;
}

/* The greatest share first; of equal ones the order of the rules. */
static void sort_findings(struct findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct finding finding = findings->finding[i];
        size_t at = i;
        for (; at > 0 && findings->finding[at - 1].share < finding.share; at--)
            findings->finding[at] = findings->finding[at - 1];
        findings->finding[at] = finding;
    }
}

static void free_gathering(struct gathering *gathering)
{
    free(gathering->region);
    free(gathering->unit_of);
    free(gathering->in_task);
    free(gathering->own);
    for (int cause = 0; cause < CAUSES; cause++)
        free(gathering->idle_ns[cause]);
    free(gathering->unit);
    pair_map_free(&gathering->unit_map);
}

struct findings *findings_gather(const struct profile *profile, const struct rows *rows,
                                 const struct lock_table *locks, const struct wait_table *waits)
{
    struct gathering gathering = {.profile = profile,
                                  .rows = rows,
                                  .locks = locks,
                                  .waits = waits,
                                  .findings = calloc(1, sizeof *gathering.findings),
                                  .threads = rows->threads,
                                  .cores = rows->cores};
    double least_rate = profile_least_rate(profile);
    double most = rows->threads, useful = rows->cores >= 1 && rows->cores < most ? rows->cores : most;
    ledger_sum(profile, &gathering.ledger);
    gathering.effort_s = measure_value(rows, rows->row[0].inclusive, MEASURE_EFFORT);
    gathering.period_s = least_rate > 0 ? 1 / least_rate : 0;
    gathering.idle_to_wall = most > 1 ? (1 - 1 / useful) / (most - 1) : 0;
    gathering.busy_to_wall = useful >= 1 ? 1 / useful : 1;
    gathering.nobody_busy_s = fmax(0, profile_wall_s(profile) - rows->row[0].inclusive->inverse_busy * 1e-9);
    gathering.no_memory = !gathering.findings || !gather_units(&gathering);
    /* Seconds to gain cannot be told from samples by a counter's overflow. */
    bool none = gathering.no_memory || profile_text(profile, "sample") ||
                find_unmeasured(&gathering) || find_short_run(&gathering);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !none; i++)
        rules[i](&gathering);
    free_gathering(&gathering);
    if (gathering.no_memory) {
        findings_free(gathering.findings);
        return NULL;
    }
    sort_findings(gathering.findings);
    return gathering.findings;
}

void findings_free(struct findings *findings)
{
    if (!findings)
        return;
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->finding[i].title);
        free(findings->finding[i].evidence);
        free(findings->finding[i].advice);
        free(findings->finding[i].place);
    }
    free(findings->finding);
    free(findings);
}
