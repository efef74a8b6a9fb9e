/* Findings: the rules in their order. */
#include "report/findings/findings.h"

#include <math.h>
#include <stdlib.h>

#include "report/findings/rules.h"

/* Each puts down what it finds. find_both comes before the rules whose findings it replaces. */
static void (*const rules[])(struct gathering *) = {
    find_losses, find_oversubscription, find_start_up, find_serial_code,
    find_both,   find_idle_regions,     find_overhead, find_locks,
};

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
    gathering.effort_s = metric_value(rows, rows->row[0].inclusive, METRIC_EFFORT);
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
