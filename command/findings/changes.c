/* Finds a run that changes once: when it changes, by how much, and which code is to blame. */
#include "command/findings/rules.h"

#include <math.h>
#include <stdlib.h>

#include "command/findings/change_point.h"
#include "command/tables/ranks.h"
#include "command/text/memory.h"

#define LEAST_PART_S 0.2 /* least length of each part in seconds */
/* share of the run: the title names a slow first part by its length if it is shorter than this */
#define SHORT_FIRST 0.25
/* share of the change: the finding says "in all ranks" if every rank shows at least this much of it */
#define ALL_RANKS  0.5
#define EVERYTHING 0.9 /* share of the program's effort from which a row counts as the whole program */
/* largest share of a function's effort in the better part for which the function counts as new in the worse
 * part */
#define NEW 0.02
/* a row whose earlier level is below this share of its later level hardly ran before */
#define HARDLY      0.1
#define NAMED_RANKS 3 /* number of ranks that are named; the other ranks are only counted */

enum side { BEFORE, AFTER, SIDES };

struct course {
    enum metric metric;
    size_t bins;
    double *part, *whole; /* seconds of the metric and of the effort, by bin */
    struct change change;
    enum side worse;
    /* whole_s: seconds of effort in each part. seconds: how much more of the metric the worse part has than
     * at the better part's level */
    double whole_s[SIDES], seconds;
    double *row_s[SIDES]; /* seconds of the metric in each part, inclusive, by row */
    bool *is_new;         /* by row: whether the function hardly ran in the better part */
    /* part of `seconds` in which threads idled beside threads without a core */
    double no_core_s;
    /* the context to blame for the difference, or ROW_NONE if no single one is */
    uint32_t row;
};

static const char no_core_advice[] = "Other processes took cores for that time, or the program started more threads "
                                     "than there are cores. Measure on a quiet machine.";

static const struct changing {
    enum metric metric;
    const char *what, *advice;
} metrics[] = {
    {METRIC_IDLENESS, "idleness",
     "Look at what runs only in the slower part. --view timeline shows both parts, and --view culprits shows which "
     "code was to blame at what time. The finding about that code says what may help."},
    {METRIC_LOCK_WAIT, "waiting for locks",
     "Look at the code that holds the lock in the slower part, and at what changed there. --view timeline and --view "
     "locks show both."},
    {METRIC_NO_CORE, "time without a core", no_core_advice},
    {METRIC_MPI_WAIT, "waiting in MPI",
     "Look at the rank that works longer in the slower part, and at what changed there. --view timeline and --view "
     "ranks show both."},
};
#define METRICS (sizeof metrics / sizeof *metrics)

static double cell_idleness_ns(const struct rows *rows, const struct profile_time_value *value)
{
    return rows->shared ? (double)value->shared_idle
                        : rows->threads * (double)value->inverse_busy - (double)value->own - (double)value->lock_wait;
}

static double cell_s(const struct rows *rows, const struct profile_time_value *value, uint32_t row, enum metric metric)
{
    double own = (double)value->own, ns = 0;
    if (metric == METRIC_IDLENESS)
        ns = cell_idleness_ns(rows, value);
    else if (metric == METRIC_LOCK_WAIT)
        ns = (double)value->lock_wait;
    else if (metric == METRIC_EFFORT)
        ns = own + (double)value->lock_wait + cell_idleness_ns(rows, value);
    else if (metric == METRIC_NO_CORE ? row_is_no_core(&rows->row[row]) : row_is_mpi_wait(&rows->row[row]))
        ns = own;
    return ns * 1e-9;
}

static void gather_course(const struct inquiry *inquiry, struct course *course)
{
    const struct timeline *timeline = &inquiry->profile->timeline;
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        uint32_t row = row_of_node(inquiry->rows, cell->node);
        course->part[cell->bin] += cell_s(inquiry->rows, &cell->value, row, course->metric);
        course->whole[cell->bin] += cell_s(inquiry->rows, &cell->value, row, METRIC_EFFORT);
    }
}

/* Returns whether there is a change large enough to report. */
static bool judge_course(const struct inquiry *inquiry, struct course *course)
{
    struct change *change = &course->change;
    double bin_s = 1e-9 * (double)inquiry->profile->timeline.bin_ns;
    if (!change_find(course->part, course->whole, course->bins, change))
        return false;
    for (size_t i = 0; i < course->bins; i++)
        course->whole_s[i < change->at ? BEFORE : AFTER] += course->whole[i];
    course->worse = change->after > change->before ? AFTER : BEFORE;
    course->seconds = fabs(change->after - change->before) * course->whole_s[course->worse];
    return percent_of_program(inquiry, course->seconds) >= LEAST_PERCENT &&
           bin_s * (double)change->at >= LEAST_PART_S && bin_s * (double)(course->bins - change->at) >= LEAST_PART_S;
}

/* Returns a row's contribution to the difference between the levels, in thread-seconds of the worse part. */
static double level_difference(const struct course *course, uint32_t row)
{
    double better = course->row_s[!course->worse][row] / course->whole_s[!course->worse];
    return course->row_s[course->worse][row] - better * course->whole_s[course->worse];
}

static bool is_own_code(const struct row *row)
{
    return row->kind != ROW_STATEMENT && row->kind != ROW_PSEUDO && !row->foreign;
}

/* Returns whether naming the row would say nothing, because it contains nearly the whole program and most of
 * the difference is in its callees. */
static bool is_whole_program_row(const struct inquiry *inquiry, const struct course *course, uint32_t at)
{
    const struct rows *rows = inquiry->rows;
    double own = level_difference(course, at);
    for (uint32_t child = at + 1; child < rows->row[at].end; child = rows->row[child].end)
        own -= is_own_code(&rows->row[child]) ? level_difference(course, child) : 0;
    return own < MOSTLY * course->seconds &&
           metric_value(rows, rows->row[at].inclusive, METRIC_EFFORT) > EVERYTHING * inquiry->whole_s;
}

/* Finds the code to blame: goes down from the root while one row of the program's own code makes most of the
 * difference. Stops at a row that is new in the worse part. */
static uint32_t find_changing_code(const struct inquiry *inquiry, const struct course *course)
{
    const struct rows *rows = inquiry->rows;
    uint32_t at = 0, best = 0;
    while (best != ROW_NONE && !course->is_new[at]) {
        double most = MOSTLY * course->seconds;
        best = ROW_NONE;
        for (uint32_t child = at + 1; child < rows->row[at].end; child = rows->row[child].end) {
            if (!is_own_code(&rows->row[child]) || level_difference(course, child) < most)
                continue;
            best = child;
            most = level_difference(course, child);
        }
        if (best != ROW_NONE)
            at = best;
    }
    return at == 0 || is_whole_program_row(inquiry, course, at) ? ROW_NONE : at;
}

static bool is_for_want_of_cores(const struct course *course)
{
    return course->metric != METRIC_NO_CORE && course->no_core_s >= MOSTLY * course->seconds;
}

static bool is_about_cores(const struct course *course)
{
    return course->metric == METRIC_NO_CORE || is_for_want_of_cores(course);
}

static void add_to_callers(const struct rows *rows, double *by_row[SIDES])
{
    for (size_t i = rows->count; i-- > 1;)
        for (int side = 0; side < SIDES; side++)
            by_row[side][rows->row[i].parent] += by_row[side][i];
}

/* Marks functions that are new in the worse part, by the effort of all their contexts. */
static void find_new_functions(const struct rows *rows, struct course *course, double *effort_s[SIDES])
{
    struct pair_map functions = {0};
    double(*sum)[SIDES] = memory_array(rows->count, sizeof *sum);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 1; i < rows->count; i++) {
            if (rows->row[i].kind == ROW_STATEMENT || row_is_probe(&rows->row[i]))
                continue;
            uint32_t *slot = pair_map_slot(&functions, rows->row[i].function, 0);
            if (*slot == PAIR_MAP_NEW)
                *slot = i;
            for (int side = 0; side < SIDES && pass == 0; side++)
                sum[*slot][side] += effort_s[side][i];
            course->is_new[i] = sum[*slot][!course->worse] <= NEW * (sum[*slot][BEFORE] + sum[*slot][AFTER]);
        }
    pair_map_free(&functions);
    free(sum);
}

static void gather_rows(const struct inquiry *inquiry, struct course *course)
{
    const struct timeline *timeline = &inquiry->profile->timeline;
    const struct rows *rows = inquiry->rows;
    double no_core[SIDES] = {0}, *effort_s[SIDES];
    for (int side = 0; side < SIDES; side++) {
        course->row_s[side] = memory_array(rows->count, sizeof *course->row_s[side]);
        effort_s[side] = memory_array(rows->count, sizeof *effort_s[side]);
    }
    course->is_new = memory_array(rows->count, sizeof *course->is_new);
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        enum side side = cell->bin < course->change.at ? BEFORE : AFTER;
        uint32_t row = row_of_node(inquiry->rows, cell->node);
        double seconds = cell_s(rows, &cell->value, row, course->metric);
        if (row_is_no_core(&rows->row[row]))
            no_core[side] += seconds;
        course->row_s[side][row] += seconds;
        effort_s[side][row] += cell_s(rows, &cell->value, row, METRIC_EFFORT);
    }
    add_to_callers(rows, course->row_s);
    add_to_callers(rows, effort_s);
    find_new_functions(rows, course, effort_s);
    course->no_core_s = no_core[course->worse] -
                        no_core[!course->worse] * course->whole_s[course->worse] / course->whole_s[!course->worse];
    course->row = is_about_cores(course) ? ROW_NONE : find_changing_code(inquiry, course);
    free(effort_s[BEFORE]);
    free(effort_s[AFTER]);
}

struct rank_course {
    double part[SIDES], whole[SIDES], excess;
    size_t record;
};

static int compare_excess(const void *left, const void *right)
{
    const struct rank_course *a = left, *b = right;
    return a->excess != b->excess ? (a->excess < b->excess ? 1 : -1)
                                  : (a->record > b->record) - (a->record < b->record);
}

static bool gather_ranks(const struct inquiry *inquiry, const struct course *course, struct rank_course *ranks)
{
    const struct timeline *timeline = &inquiry->profile->timeline;
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        uint32_t record = timeline->lanes[cell->lane].rank_record, row = row_of_node(inquiry->rows, cell->node);
        if (!record || record > inquiry->profile->rank_count)
            return false;
        enum side side = cell->bin < course->change.at ? BEFORE : AFTER;
        ranks[record - 1].part[side] += cell_s(inquiry->rows, &cell->value, row, course->metric);
        ranks[record - 1].whole[side] += cell_s(inquiry->rows, &cell->value, row, METRIC_EFFORT);
    }
    return true;
}

static void describe_outstanding(const struct profile *profile, const struct rank_course *ranks, size_t count,
                                 FILE *out)
{
    char name[32];
    fprintf(out, "; most of it in rank%s ", count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < NAMED_RANKS; i++) {
        rank_name(&profile->ranks[ranks[i].record], name, sizeof name);
        fprintf(out, "%s%s", i ? ", " : "", name);
    }
    if (count > NAMED_RANKS)
        fprintf(out, " and %zu more", count - NAMED_RANKS);
}

/* Returns "; most of it in rank 3", "; in all 8 ranks" or "". */
static char *describe_ranks(const struct inquiry *inquiry, const struct course *course)
{
    const struct profile *profile = inquiry->profile;
    size_t count = 0, alike = 0;
    char *text = NULL;
    FILE *out = memory_stream(&text);
    struct rank_course *ranks = memory_array(profile->rank_count + 1, sizeof *ranks);
    double *excess = memory_array(profile->rank_count + 1, sizeof *excess);
    if (profile->header.merged && profile->timeline.cell_level <= TIMELINE_RANKS &&
        gather_ranks(inquiry, course, ranks))
        for (size_t i = 0; i < profile->rank_count; i++) {
            struct rank_course rank = ranks[i];
            double better = rank.whole[!course->worse], worse = rank.whole[course->worse];
            rank.excess = better > 0 ? rank.part[course->worse] - rank.part[!course->worse] * worse / better : 0;
            rank.record = i;
            alike += worse > 0 && rank.excess / worse >= ALL_RANKS * fabs(course->change.after - course->change.before);
            if (better > 0 && worse > 0)
                ranks[count++] = rank;
        }
    qsort(ranks, count, sizeof *ranks, compare_excess);
    for (size_t i = 0; i < count; i++)
        excess[i] = fmax(0, ranks[i].excess);
    size_t outstanding = count > 1 ? count_outstanding(excess, count, count) : 0;
    if (outstanding)
        describe_outstanding(profile, ranks, outstanding, out);
    else if (count > 1 && alike == count)
        fprintf(out, "; in all %zu ranks", count);
    memory_stream_close(out);
    free(ranks);
    free(excess);
    return text;
}

/* Returns whether the row has most of the metric only after the change, or had hardly any before it. */
static bool begins_to_dominate(const struct course *course)
{
    double before = course->row_s[BEFORE][course->row], after = course->row_s[AFTER][course->row];
    bool hardly = before / course->whole_s[BEFORE] <= HARDLY * after / course->whole_s[AFTER];
    return course->worse == AFTER && after >= MOSTLY * course->row_s[AFTER][0] &&
           (hardly || before < MOSTLY * course->row_s[BEFORE][0]);
}

/* Returns ", when refine begins to dominate" or the like. */
static char *describe_culprit(const struct inquiry *inquiry, const struct course *course)
{
    char name[NAME_BYTES];
    if (is_for_want_of_cores(course))
        return memory_text(", because threads have no core");
    if (course->row == ROW_NONE || !begins_to_dominate(course))
        return memory_text("%s", "");
    shorten_name(name, inquiry->rows->row[course->row].label->name);
    return memory_text(", when %s begins to dominate", name);
}

/* Returns the title of the finding. The reason follows directly after the worse part's number. */
static char *change_title(const struct course *course, const struct changing *of, bool first, const char *at_s,
                          const char *culprit, const char *ranks)
{
    const char *before = DECIMAL(100 * course->change.before, 0), *after = DECIMAL(100 * course->change.after, 0);
    if (first)
        return format_printable("the first %s s are slow: %s is %s %% of the effort%s, and %s %% later%s", at_s,
                                of->what, before, culprit, after, ranks);
    if (course->worse == BEFORE)
        return format_printable("%s is %s %% of the effort until %s s%s, and %s %% later%s", of->what, before, at_s,
                                culprit, after, ranks);
    return format_printable("%s is %s %% of the effort until %s s, and %s %% later%s%s", of->what, before, at_s, after,
                            culprit, ranks);
}

/* Adds the change to the finding about missing cores, which says the cause. Returns false if there is none. */
static bool add_to_cause(struct inquiry *inquiry, const char *title)
{
    for (size_t i = 0; i < inquiry->findings->count; i++) {
        struct finding *finding = &inquiry->findings->finding[i];
        if (finding->metric != METRIC_NO_CORE)
            continue;
        char *evidence = finding->evidence;
        finding->evidence = memory_text("%s; %s", evidence, title);
        free(evidence);
        return true;
    }
    return false;
}

static void put_changes(struct inquiry *inquiry, const struct course *course, size_t which)
{
    const struct timeline *timeline = &inquiry->profile->timeline;
    double bin_s = 1e-9 * (double)timeline->bin_ns;
    double at_s = bin_s * (double)course->change.at +
                  1e-9 * (double)(int64_t)(timeline->origin_ns - inquiry->profile->header.start_ns);
    int digits = bin_s < 0.05 ? 2 : bin_s < 0.5 ? 1 : 0;
    bool first = course->worse == BEFORE && (double)course->change.at <= SHORT_FIRST * (double)course->bins;
    char *culprit = describe_culprit(inquiry, course), *ranks = describe_ranks(inquiry, course), share[200] = "";
    struct finding finding = {
        .rule = "changes", .row = course->row, .metric = course->metric, .seconds = course->seconds, .sampled = true};
    struct relief relief = {.idle_s = course->seconds, .moved_s = INFINITY};
    if (course->metric == METRIC_IDLENESS)
        finding.gain_s = bound_of(inquiry, &relief);
    finding.rank = is_about_cores(course) ? FINDING_LAST : FINDING_TIME;
    finding.title = change_title(course, &metrics[which], first, DECIMAL(at_s, digits), culprit, ranks);
    if (is_about_cores(course) && add_to_cause(inquiry, finding.title)) {
        free(finding.title);
        free(culprit);
        free(ranks);
        return;
    }
    if (course->row != ROW_NONE)
        snprintf(share, sizeof share, ", %.40s %% of it in the named code",
                 DECIMAL(fmin(100, 100 * level_difference(course, course->row) / course->seconds), 0));
    finding.evidence = format_printable(
        "each part stays at its level for most of its time (%zu bins of %s s), and variation within the parts does not "
        "explain the difference; without the change there would be that much less %s%s",
        course->bins, DECIMAL(bin_s, 3), metrics[which].what, share);
    finding.advice = format_printable("%s", is_for_want_of_cores(course) ? no_core_advice : metrics[which].advice);
    put_finding(inquiry, &finding);
    free(culprit);
    free(ranks);
}

static void free_course(struct course *course)
{
    free(course->part);
    free(course->whole);
    free(course->row_s[BEFORE]);
    free(course->row_s[AFTER]);
    free(course->is_new);
}

/* Returns whether the run cannot be judged: the effort covers only times at which a thread was busy, and in
 * this run too much time has no busy thread. */
static bool is_run_doubtful(const struct inquiry *inquiry)
{
    return 100 * inquiry->nobody_busy_s >= LOST_PERCENT * profile_wall_s(inquiry->profile) &&
           inquiry->nobody_busy_s >= LEAST_GAIN_S;
}

/* Reports at most one change, in the metric with the largest difference. */
void find_changes(struct inquiry *inquiry)
{
    const struct timeline *timeline = &inquiry->profile->timeline;
    struct course best = {0};
    size_t which = 0;
    if (is_run_doubtful(inquiry))
        return;
    for (size_t i = 0; i < METRICS && timeline->bins && timeline->cell_count; i++) {
        struct course course = {.metric = metrics[i].metric, .bins = timeline->bins};
        course.part = memory_array(course.bins, sizeof *course.part);
        course.whole = memory_array(course.bins, sizeof *course.whole);
        gather_course(inquiry, &course);
        if (!judge_course(inquiry, &course) || course.seconds <= best.seconds) {
            free_course(&course);
            continue;
        }
        free_course(&best);
        best = course;
        which = i;
    }
    if (best.seconds > 0) {
        gather_rows(inquiry, &best);
        put_changes(inquiry, &best, which);
    }
    free_course(&best);
}
