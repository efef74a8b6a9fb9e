/* Findings: runs the rules in order. */
#include "command/findings/findings.h"

#include <math.h>
#include <stdlib.h>

#include "command/findings/rules.h"
#include "command/profile/job.h"
#include "command/tables/ranks.h"
#include "command/text/memory.h"

/* Each rule records its findings. find_both comes before the rules whose findings it replaces, find_locks before
 * find_blocked. */
static void (*const rules[])(struct inquiry *) = {
    find_no_core,       find_losses,          find_start_up,    find_serial_code,
    find_fine_units,    find_copies,          find_reductions,  find_atomic_updates,
    find_both,          find_idle_regions,    find_overhead,    find_locks,
    find_short_threads, find_unequal_threads, find_bottlenecks, find_spinning,
    find_alone,         find_blocked,         find_pools,       find_page_faults,
    find_one_thread,    find_unseen_threads,  find_late_ranks,  find_late_between_nodes,
    find_mpi_waits,     find_unequal_ranks,   find_changes,     find_periods,
};

static bool comes_before(const struct finding *one, const struct finding *other)
{
    return one->rank != other->rank ? one->rank < other->rank : one->share > other->share;
}

/* Sorts by rank, then by share, largest first; equal shares keep the order of the rules. */
static void sort_findings(struct findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct finding finding = findings->finding[i];
        size_t at = i;
        for (; at > 0 && comes_before(&finding, &findings->finding[at - 1]); at--)
            findings->finding[at] = findings->finding[at - 1];
        findings->finding[at] = finding;
    }
}

static void free_inquiry(struct inquiry *inquiry)
{
    free(inquiry->region);
    free(inquiry->unit_of);
    free(inquiry->in_task);
    free(inquiry->own);
    free(inquiry->awaited);
    free(inquiry->spun_ns);
    free(inquiry->wait_told_ns);
    free(inquiry->holds_told);
    for (int cause = 0; cause < CAUSES; cause++) {
        free(inquiry->idle_ns[cause]);
        free(inquiry->lost_ns[cause]);
        free(inquiry->awaited_ns[cause]);
    }
    free(inquiry->floors.busy_s);
    free(inquiry->unit);
    free(inquiry->between_ns);
    pair_map_free(&inquiry->unit_map);
    pair_map_free(&inquiry->task_hosts);
}

/* Returns the wall time in ns for which all threads waited and one of them was ready, but had no core. */
static double unknown_ready_ns(const struct rows *rows)
{
    double ns = 0;
    for (size_t i = 1; i < rows->count; i++)
        if (rows->row[i].parent == 0 && row_is_no_core(&rows->row[i]))
            ns += rows->row[i].exclusive->inverse_busy;
    return ns;
}

/* Returns for how many seconds no thread was busy, on average over the ranks. Returns 0 if the ranks of a job
 * have different numbers of threads, because their sums of inverse_busy then do not add up to the job's. */
static double nobody_busy_s(const struct profile *profile, const struct rows *rows)
{
    double wall_s = profile->header.merged ? 0 : profile_wall_s(profile);
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        if (!rank_counts(rank))
            continue;
        if (rank->threads_max != profile->header.threads_max)
            return 0;
        wall_s += (double)(int64_t)(rank->end_ns - rank->begin_ns) * 1e-9;
    }
    double beside_ns = (double)profile->header.paused_ns + profile_stopped_beside_ns(profile);
    double busy_ns = rows->row[0].inclusive->inverse_busy - unknown_ready_ns(rows);
    return fmax(0, wall_s - 1e-9 * (busy_ns + beside_ns)) / (double)job_ranks(profile);
}

/* Returns the effort in thread-seconds for which threads had no core, or waited beside such a thread. */
static double effort_without_core_s(const struct rows *rows)
{
    double seconds = 0;
    for (size_t i = 1; i < rows->count; i++)
        if (row_is_no_core(&rows->row[i]))
            seconds += metric_value(rows, rows->row[i].exclusive, METRIC_EFFORT);
    return seconds;
}

struct findings *findings_gather(const struct profile *profile, const struct rows *rows, const struct lock_table *locks,
                                 const struct wait_table *waits)
{
    struct inquiry inquiry = {.profile = profile,
                              .rows = rows,
                              .locks = locks,
                              .waits = waits,
                              .holds_told = memory_array(rows->count, sizeof *inquiry.holds_told),
                              .wait_told_ns = memory_array(rows->count, sizeof *inquiry.wait_told_ns),
                              .findings = memory_array(1, sizeof *inquiry.findings),
                              .threads = rows->threads,
                              .cores = rows->cores};
    double least_rate = profile_least_rate(profile);
    double most = rows->threads, useful = rows->cores >= 1 && rows->cores < most ? rows->cores : most;
    ledger_sum(profile, &inquiry.ledger);
    inquiry.error = rows->error;
    inquiry.period_s = least_rate > 0 ? 1 / least_rate : 0;
    /* ranks run at the same time, so a job saves what one rank saves on average */
    double ranks = (double)job_ranks(profile);
    inquiry.idle_to_wall = most > 1 ? (1 - 1 / useful) / (most - 1) / ranks : 0;
    if (profile->header.clock == 0)
        inquiry.nobody_busy_s = nobody_busy_s(profile, rows);
    inquiry.whole_s = metric_value(rows, rows->row[0].inclusive, METRIC_EFFORT);
    inquiry.core_s = fmax(0, inquiry.whole_s - effort_without_core_s(rows));
    inquiry.findings->whole_s = inquiry.whole_s;
    inquiry.findings->core_s = inquiry.core_s;
    findings_gather_awaited(&inquiry);
    findings_gather_spinning(&inquiry);
    findings_gather_floors(&inquiry);
    findings_gather_units(&inquiry);
    /* Samples that a hardware counter triggers cannot say how many seconds could be saved. */
    if (!profile_text(profile, "sample") && !find_unmeasured(&inquiry)) {
        for (size_t i = 0; i < sizeof rules / sizeof *rules && !samples_are_too_few(&inquiry); i++)
            rules[i](&inquiry);
        find_short_run(&inquiry);
    }
    free_inquiry(&inquiry);
    sort_findings(inquiry.findings);
    return inquiry.findings;
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
