/* Finds atomic updates on which threads spend their time, and the private copies of reductions. */
#include "command/findings/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/rows/own.h"
#include "command/text/memory.h"

#define NOTABLE_PART 0.05 /* part of a reduction's time from which the runtime's part is mentioned */

/* Returns whether a merged node's own time is at atomic updates in the program's own module: also in functions of a library
 * that the compiler has put there. */
static bool node_updates(const struct inquiry *inquiry, size_t node)
{
    const struct rows *rows = inquiry->rows;
    uint32_t row = rows->node_row[node];
    unsigned kind = inquiry->profile->nodes[node].kind;
    if (!rows->node_updates[node] || row == ROW_NONE || (kind != PROFILE_NODE_FRAME && kind != PROFILE_NODE_PSEUDO))
        return false;
    while (row && (row_is_no_core(&rows->row[row]) || rows->row[row].kind == ROW_STATEMENT))
        row = rows->row[row].parent;
    return strcmp(rows->row[row].label->module, rows->row[rows_own(rows, row)].label->module) == 0;
}

/* ---- reductions ---- */

/* What a region spends on the private copies of its reductions, in ns. */
struct copies {
    double own_ns;   /* making and combining them */
    double calls_ns; /* part of own_ns in calls of the runtime */
    double other_ns; /* the region's other time */
    double idle_ns;  /* idleness of other threads meanwhile */
    double lost_ns;  /* time without a core */
    bool sure;       /* whether the region certainly has a reduction */
    uint32_t call;   /* the function of a library that takes most of own_ns; 0: none */
    double call_ns;
};

static bool row_reduces(const struct row *row)
{
    return row->kind == ROW_RUNTIME &&
           (strstr(row->label->name, "kmpc_reduce") || strstr(row->label->name, "kmpc_end_reduce") ||
            strstr(row->label->name, "GOMP_atomic"));
}

/* Adds what a row in the line of a directive spends, with all that it calls. */
static void add_copies(const struct inquiry *inquiry, uint32_t index, struct copies *to)
{
    const struct rows *rows = inquiry->rows;
    double ns = 0;
    for (uint32_t i = index; i < rows->row[index].end; i++) {
        const struct profile_sums *sums = rows->row[i].exclusive;
        if (rows->row[i].kind == ROW_STATEMENT && i != index)
            continue; /* part of its function's sums */
        ns += sums->work + sums->overhead + sums->lock_wait_here;
        to->idle_ns += sums->shared_idle;
        to->lost_ns += sums->no_core;
    }
    to->own_ns += ns;
    to->calls_ns += row_reduces(&rows->row[index]) ? ns : 0;
    if (rows->row[index].foreign && ns > to->call_ns) {
        to->call_ns = ns;
        to->call = index;
    }
}

/* Returns the line of a loop's directive in the region, if the compiler calls the runtime to combine the copies; 0: none */
static int reducing_line(const struct rows *rows, uint32_t region)
{
    for (uint32_t i = region + 1; i < rows->row[region].end; i = rows->row[i].end)
        if (row_reduces(&rows->row[i]) && strstr(rows->row[i].label->name, "kmpc"))
            return rows->row[i].call_line;
    return 0;
}

/* Adds one context of a region. Code in the line of a directive makes, clears, copies and combines private variables. */
static void add_copies_of_region(const struct inquiry *inquiry, uint32_t region, struct copies *to)
{
    const struct rows *rows = inquiry->rows;
    int directive = rows->row[region].label->line, loop = reducing_line(rows, region);
    for (uint32_t i = region + 1; i < rows->row[region].end; i = rows->row[i].end) {
        const struct row *row = &rows->row[i];
        int line = row->kind == ROW_STATEMENT ? row->label->line : row->call_line;
        bool reduces = row_reduces(row), here = line > 0 && (line == directive || line == loop);
        to->sure |= reduces;
        if (reduces || (here && (row->kind == ROW_STATEMENT || strstr(row->label->name, "memset"))))
            add_copies(inquiry, i, to);
        else if (!here)
            to->other_ns += row->inclusive->work;
    }
}

/* Returns whether a row is a statement in the line of its region's directive. */
static bool is_at_directive(const struct inquiry *inquiry, uint32_t row)
{
    const struct rows *rows = inquiry->rows;
    uint32_t region = inquiry->region[row];
    return region != ROW_NONE && rows->row[row].kind == ROW_STATEMENT && rows->row[row].parent == region &&
           rows->row[row].label->line == rows->row[region].label->line;
}

/* Only a reduction updates memory atomically in the line of a directive. */
static struct copies copies_of_unit(struct inquiry *inquiry, uint32_t unit)
{
    const struct rows *rows = inquiry->rows;
    struct copies copies = {.sure = inquiry->unit[unit].kind_ns[WAIT_REDUCTION] > 0};
    for (uint32_t i = 1; i < rows->count; i++)
        if (inquiry->unit_of[i] == unit && inquiry->region[i] == i)
            add_copies_of_region(inquiry, i, &copies);
    for (size_t i = 1; i < rows->node_count && !copies.sure; i++) {
        uint32_t row = rows->node_row[i];
        if (row == ROW_NONE || inquiry->unit_of[row] != unit)
            continue;
        bool own = rows->row[row].kind == ROW_STATEMENT && rows->row[row].parent == inquiry->region[row];
        copies.sure = own && (rows->node_combines[i] || (node_updates(inquiry, i) && is_at_directive(inquiry, row)));
    }
    return copies;
}

void find_reductions(struct inquiry *inquiry)
{
    for (uint32_t i = 0; i < inquiry->unit_count; i++) {
        struct unit *unit = &inquiry->unit[i];
        const struct row *region = &inquiry->rows->row[unit->row];
        if (region->kind != ROW_PARALLEL || region->label->line <= 0)
            continue;
        struct copies copies = copies_of_unit(inquiry, i);
        double seconds = 1e-9 * copies.own_ns;
        /* if nothing is in other lines, a macro has made directive and loop */
        unit->reduces = copies.sure && copies.other_ns > 0;
        /* mostly in the runtime: too frequent, not too large */
        if (!unit->reduces || unit->fine || !finding_is_enough(inquiry, seconds) ||
            copies.calls_ns >= MOSTLY * copies.own_ns)
            continue;
        unit->idle_for_copies |= copies.idle_ns >= MOSTLY * unit->idle_ns[CAUSE_BARRIER];
        struct finding finding = {.rule = "reduction",
                                  .row = unit->row,
                                  .call = copies.call,
                                  .metric = METRIC_EFFORT,
                                  .seconds = seconds,
                                  .sampled = true};
        struct relief relief = {
            .spent_s = seconds, .not_runtime = true, .lost_s = 1e-9 * copies.lost_ns, .idle_s = 1e-9 * copies.idle_ns};
        char idle[FORMAT_NUMBER_BYTES + 48] = "", calls[FORMAT_NUMBER_BYTES + 48] = "";
        if (relief.idle_s >= LEAST_GAIN_S)
            snprintf(idle, sizeof idle, ", while other threads idled for %s s", DECIMAL(relief.idle_s, 2));
        if (copies.calls_ns >= NOTABLE_PART * copies.own_ns)
            snprintf(calls, sizeof calls, "; %s %% of this time is in the runtime",
                     DECIMAL(100 * copies.calls_ns / copies.own_ns, 0));
        finding.title =
            format_printable("threads make and combine private copies for %s s (reduction)", DECIMAL(seconds, 2));
        finding.evidence =
            format_printable("the time is in the line of the directive and in calls from there%s%s", idle, calls);
        finding.advice = format_printable(
            "Each thread clears a copy of the whole variable, and all copies are added up at the end of each region. "
            "Reduce fewer times (move the region out of the enclosing loop) and less of an array; give each thread its "
            "own part of the array, or keep one array for each thread and add these up in a parallel loop over the "
            "elements.");
        put_bounded_finding(inquiry, &finding, &relief);
    }
}

/* ---- atomic updates ---- */

/* Returns the row of the program's own code that a node updates memory for; ROW_NONE if it does not, or if a finding about
 * a reduction covers this. */
static uint32_t updater_of(const struct inquiry *inquiry, size_t node)
{
    const struct rows *rows = inquiry->rows;
    if (!node_updates(inquiry, node))
        return ROW_NONE;
    uint32_t row = rows->node_row[node];
    row = row_is_no_core(&rows->row[row]) ? rows->row[row].parent : row;
    uint32_t unit = inquiry->unit_of[row];
    bool reduces = unit != UNIT_NONE && inquiry->unit[unit].reduces && is_at_directive(inquiry, row);
    return reduces ? ROW_NONE : rows_own(rows, row);
}

static void put_updates(struct inquiry *inquiry, const struct tallied *item)
{
    const struct rows *rows = inquiry->rows;
    double lost_ns = 0, work_ns = 0, seconds = 1e-9 * item->ns;
    uint64_t seen = 0;
    char name[CONSTRUCT_BYTES] = "";
    for (size_t i = 1; i < rows->node_count; i++) {
        uint32_t own = updater_of(inquiry, i);
        if (own == ROW_NONE || rows->row[own].function != item->key)
            continue;
        lost_ns += inquiry->profile->nodes[i].metric.no_core;
        seen |= inquiry->profile->nodes[i].threads;
    }
    for (uint32_t i = 1; i < rows->count; i++)
        if (rows->row[i].function == item->key && rows->row[i].kind != ROW_STATEMENT)
            work_ns += rows->row[i].exclusive->work;
    int threads = __builtin_popcountll(seen);
    if (threads < 2)
        return;
    uint32_t unit = inquiry->unit_of[item->row];
    if (unit != UNIT_NONE)
        name_construct(inquiry, &inquiry->unit[unit], item->row, name);
    bool foreign = rows->row[item->row].foreign && rows->row[item->row].kind != ROW_STATEMENT;
    struct finding finding = {.rule = "atomic",
                              .row = item->row,
                              .call = foreign ? item->row : 0,
                              .metric = METRIC_WORK,
                              .seconds = seconds,
                              .sampled = true};
    struct relief relief = {.spent_s = seconds,
                            .not_runtime = true,
                            .slowed_s = slowed_by(seconds, fmax(0, 1e-9 * work_ns - seconds)),
                            .lost_s = 1e-9 * lost_ns};
    finding.title = format_printable("atomic updates%s: %s", name, PART(inquiry, seconds));
    finding.evidence =
        format_printable("samples found %s%d threads at locked instructions there; each takes the "
                         "memory from other threads' caches, and the thread's processor does nothing else meanwhile",
                         inquiry->profile->thread_count > MOST_IDENTIFIED ? "at least " : "", threads);
    finding.advice = format_printable(
        "Update a private variable, and combine the threads' variables once: a reduction, or one atomic update for "
        "each "
        "thread. Take numbers from a shared counter several at a time. Pass a std::shared_ptr by reference: each copy "
        "updates its counter twice. If the line has no update, a reduction of the region combines its copies there: "
        "reduce fewer times, and less of an array.");
    put_bounded_finding(inquiry, &finding, &relief);
}

void find_atomic_updates(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct tally functions = {0};
    for (size_t i = 1; i < rows->node_count; i++) {
        uint32_t own = updater_of(inquiry, i);
        if (own != ROW_NONE && !row_is_no_core(&rows->row[rows->node_row[i]]))
            tally_add(&functions, rows->row[own].function, rows->node_row[i], inquiry->profile->nodes[i].metric.work);
    }
    for (size_t i = 0; i < functions.count; i++)
        if (finding_is_enough(inquiry, 1e-9 * functions.item[i].ns))
            put_updates(inquiry, &functions.item[i]);
    tally_free(&functions);
}
