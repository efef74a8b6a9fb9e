/* Overhead: the pieces of work are too small. */
#include "report/findings/rules.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *title, *advice;
} constructs[CONSTRUCTS] = {
    [CONSTRUCT_REGION] =
        {"parallel regions are too small",
         "Begin fewer regions: merge neighbours into one, move the region out of the loop around "
         "it, or run small ones serially (if clause)."},
    [CONSTRUCT_TASK] =
        {"tasks are too small",
         "Create fewer and larger tasks: a cut-off below which calls are plain, taskloop with a "
         "grainsize, final and mergeable."},
    [CONSTRUCT_LOOP] =
        {"pieces of loops are too small",
         "Take larger chunks: schedule(dynamic, n), schedule(guided) or schedule(static); parallelise "
         "an outer loop."},
    [CONSTRUCT_LOCK] =
        {"locks are taken too often",
         "Take locks less often: gather results in private variables or a reduction, use atomic for "
         "single updates."},
    [CONSTRUCT_BARRIER] = {"barriers are too frequent",
                           "Remove barriers: nowait where nothing depends on the others, merge loops, use "
                           "reductions once a loop."},
    [CONSTRUCT_WAIT] = {"the runtime waits, and does not tell for whom",
                        "In a doacross loop: let an iteration reach its source sooner, or make fewer wait for it. At "
                        "the end of nested regions: an inner team's threads have no core; begin fewer threads."},
    [CONSTRUCT_OTHER] = {"much time in the OpenMP runtime",
                         "Look at what calls the runtime there, and how often."},
};

/* What an overhead is spent in: its sum over all regions, and the idleness of those. */
struct cost {
    double ns, idle_ns, top_ns;
    uint32_t row;
};

/* Threads that wait for one another's pieces lose that to the pieces' size; but not where an iteration, or an inner
 * team's end, is waited for. */
static enum construct spent_in(const struct rows *rows, const struct row *row)
{
    enum construct construct = construct_of(rows, row);
    bool waits = is_untold_wait(row) && (construct == CONSTRUCT_LOOP || construct == CONSTRUCT_REGION);
    return waits ? CONSTRUCT_WAIT : construct;
}

static struct cost cost_of(struct inquiry *inquiry, enum construct construct)
{
    const struct rows *rows = inquiry->rows;
    struct cost cost = {0};
    uint32_t stamp = next_stamp(inquiry);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t unit = inquiry->unit_of[i];
        double ns = row->exclusive->overhead;
        if (row->kind == ROW_STATEMENT || !(ns > 0) || spent_in(rows, row) != construct ||
            (unit != UNIT_NONE && inquiry->unit[unit].both))
            continue;
        cost.ns += ns;
        cost.idle_ns += unit == UNIT_NONE ? 1e9 * metric_value(rows, row->exclusive, METRIC_IDLENESS)
                                          : host_idle_once(inquiry, i, stamp);
        if (ns > cost.top_ns) {
            cost.top_ns = ns;
            cost.row = i;
        }
    }
    return cost;
}

void find_overhead(struct inquiry *inquiry)
{
    for (int construct = 0; construct < CONSTRUCTS; construct++) {
        struct cost cost = cost_of(inquiry, (enum construct)construct);
        double seconds = cost.ns * 1e-9;
        double gain_s = bound_of_cost(inquiry, seconds, cost.idle_ns) + inquiry->nobody_busy_s;
        uint64_t regions = inquiry->profile->header.regions;
        char each[FORMAT_NUMBER_BYTES + 100] = "";
        if (gain_s < LEAST_GAIN_S || !is_enough(inquiry, seconds))
            continue;
        struct finding finding = {.rule = "fine",
                                  .row = cost.row,
                                  .metric = METRIC_OVERHEAD,
                                  .seconds = seconds,
                                  .sampled = true,
                                  .gain_s = gain_s};
        if (construct == CONSTRUCT_REGION && regions > 0)
            snprintf(each, sizeof each, ", %s us for each of %llu regions",
                     DECIMAL(1e6 * seconds / (double)regions, 1), (unsigned long long)regions);
        double share = percent_of_program(inquiry, seconds);
        finding.title =
            format_printable("%s: %s %% overhead", constructs[construct].title, DECIMAL(share, 0));
        finding.evidence = format_printable(
            "%s s of overhead (+- %s)%s: %s %% of all (reported from %s %% on); %s %% of it here",
            DECIMAL(seconds, 2), DECIMAL(error_of(&inquiry->error, METRIC_OVERHEAD, seconds, ERROR_ALONE), 2),
            each, DECIMAL(share, 1), DECIMAL(LEAST_PERCENT, 0), DECIMAL(100 * cost.top_ns / cost.ns, 0));
        finding.advice = format_printable("%s", constructs[construct].advice);
        put_finding(inquiry, &finding);
    }
}
