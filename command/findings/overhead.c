/* Finds constructs whose pieces are too small: the runtime takes more time than it should. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings/rules.h"
#include "command/text/memory.h"

/* Titles and advice of findings about overhead, by construct. */

static const struct {
    const char *title, *advice;
} constructs[CONSTRUCTS] = {
    [CONSTRUCT_REGION] = {"parallel regions are too small",
                          "Start fewer regions: merge neighbouring regions, move the region out of the enclosing "
                          "loop, or run small ones serially (if clause)."},
    [CONSTRUCT_TASK] = {"tasks are too small", "Create fewer and larger tasks: call functions directly below a "
                                               "cut-off, or use taskloop with a grainsize, final and mergeable."},
    [CONSTRUCT_LOOP] = {"pieces of loops are too small",
                        "Use larger chunks: schedule(dynamic, n), schedule(guided) or schedule(static); or "
                        "parallelise an outer loop."},
    [CONSTRUCT_LOCK_MAKING] = {"many locks are made and destroyed",
                               "Make fewer locks: one for each group of elements, chosen by index modulo the number of "
                               "locks. For single updates, use atomic instead of a lock."},
    [CONSTRUCT_FLUSH] = {"flushes are too frequent",
                         "Flush less often: memory order seq_cst (the default of flush) is seldom needed where acquire "
                         "and release do."},
    [CONSTRUCT_LOCK] = {"locks are taken too often", "Take locks less often: collect results in private variables or a "
                                                     "reduction, and use atomic for single updates."},
    [CONSTRUCT_BARRIER] = {"barriers are too frequent",
                           "Remove barriers: use nowait where nothing depends on the other threads, merge loops, and "
                           "do one reduction for each loop."},
    [CONSTRUCT_WAIT] =
        {"the runtime waits without reporting for whom",
         "In a doacross loop, let each iteration reach its source directive sooner, or let fewer iterations wait for "
         "it."},
    [CONSTRUCT_OTHER] = {"much time in the OpenMP runtime", "Look at what calls the runtime there, and how often."},
};

#define SURE_SAMPLES 20  /* number of samples from which "always the same thread" is not chance */
#define MOSTLY_ONE   0.8 /* threads poll a lock if testing it takes this share of the time */

/* The overhead in one kind of construct over all regions, and the idleness of those regions. */
struct cost {
    double ns, idle_ns, top_ns;
    double search_ns; /* part of `ns` in which threads at the end of a region look for tasks */
    double test_ns;   /* part of `ns` in calls that test a lock */
    double lost_ns;   /* ns for which the same code had no core */
    double late_ns;   /* ns for which the work of pieces that are too small had no core */
    double end_ns;    /* ns of idleness in the regions that the code starts */
    double work_ns;   /* ns of work of the code that uses the construct */
    uint32_t row;
};

/* Returns whether there are so many regions that their starts take these seconds, and not a few long ones. */
static bool regions_are_small(const struct inquiry *inquiry, double seconds)
{
    double small_s = TINY_WALL_S * inquiry->threads;
    return seconds < small_s * (double)inquiry->profile->header.regions && work_per_region(inquiry) < small_s;
}

/* Returns whether a region below the function creates tasks. */
static bool has_tasks(struct inquiry *inquiry, uint32_t function)
{
    return *pair_map_slot(&inquiry->task_hosts, function, 0) != PAIR_MAP_NEW;
}

/* A static loop has one piece for each thread, whatever its schedule. */
static bool is_static_loop(const struct row *row)
{
    return row->kind == ROW_RUNTIME && strstr(row->label->name, "for_static");
}

/* Returns the construct to blame for a row's overhead. At the end of a region with tasks, threads look for tasks. Loops
 * and barriers of a tiny region cost time because there are so many regions, and static loops between frequent barriers
 * because they end there. */
static enum construct spent_in(struct inquiry *inquiry, uint32_t index)
{
    const struct rows *rows = inquiry->rows;
    const struct row *row = &rows->row[index];
    enum construct construct = construct_of(rows, row);
    uint32_t unit = inquiry->unit_of[index];
    if (is_untold_wait(row) && construct == CONSTRUCT_LOOP)
        return CONSTRUCT_WAIT;
    if (construct == CONSTRUCT_REGION && index && has_tasks(inquiry, rows->row[row->parent].function))
        return CONSTRUCT_TASK;
    if ((construct == CONSTRUCT_LOOP || construct == CONSTRUCT_BARRIER) && unit != UNIT_NONE &&
        inquiry->unit[unit].tiny)
        return CONSTRUCT_REGION;
    if (construct == CONSTRUCT_LOOP && is_static_loop(row) && unit != UNIT_NONE && inquiry->unit[unit].fine &&
        inquiry->unit[unit].fine_by == CONSTRUCT_BARRIER)
        return CONSTRUCT_BARRIER;
    return construct;
}

/* Adds the ns for which a row's own code had no core, and the idleness beside it then. */
static void add_lost_below(const struct rows *rows, uint32_t index, double *lost_ns, double *idle_ns)
{
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end) {
        if (!row_is_no_core(&rows->row[child]))
            continue;
        *lost_ns += rows->row[child].exclusive->no_core;
        *idle_ns += 1e9 * metric_value(rows, rows->row[child].exclusive, METRIC_IDLENESS);
    }
}

static bool row_tests_lock(const struct row *row)
{
    return row->kind == ROW_RUNTIME &&
           (strstr(row->label->name, "test_lock") || strstr(row->label->name, "test_nest_lock"));
}

/* Adds the time without a core of work in pieces that are too small. A thread that wakes up for a piece may have to wait
 * for a core; with larger pieces, it wakes up less often. all: whether all regions are too small. */
static void add_late_pieces(const struct inquiry *inquiry, enum construct construct, bool all, struct cost *cost)
{
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 1; i < rows->count; i++) {
        uint32_t unit = inquiry->unit_of[i];
        bool small = unit != UNIT_NONE && inquiry->unit[unit].fine && inquiry->unit[unit].fine_by == construct;
        if (rows->row[i].kind != ROW_STATEMENT && !(rows->row[i].exclusive->overhead > 0) &&
            (small || (all && inquiry->region[i] != ROW_NONE)))
            add_lost_below(rows, i, &cost->late_ns, &cost->idle_ns);
    }
}

/* Returns the region unit that a row outside all regions starts or ends; UNIT_NONE if it does not. Such a row
 * is below the same function, at the region's line. */
static uint32_t region_started(const struct inquiry *inquiry, uint32_t index)
{
    const struct rows *rows = inquiry->rows;
    const struct row *row = &rows->row[index];
    if (inquiry->region[index] != ROW_NONE || construct_of(rows, row) != CONSTRUCT_REGION)
        return UNIT_NONE;
    for (uint32_t i = 0; i < inquiry->unit_count; i++) {
        const struct row *region = &rows->row[inquiry->unit[i].row];
        if (region->kind == ROW_PARALLEL && rows->row[region->parent].function == rows->row[row->parent].function &&
            region->call_line == row->call_line)
            return i;
    }
    return UNIT_NONE;
}

/* Adds a unit that uses the construct, with the units that create or execute the same tasks. */
static void add_unit_cost(struct inquiry *inquiry, uint32_t unit, uint32_t stamp, double *idle_ns, double *work_ns)
{
    const struct unit *host = host_once(inquiry, unit, stamp);
    *idle_ns += host ? host->host_idle_ns : 0;
    *work_ns += host ? host->host_work_ns : 0;
}

static struct cost cost_of(struct inquiry *inquiry, enum construct construct)
{
    const struct rows *rows = inquiry->rows;
    struct cost cost = {0};
    uint32_t stamp = next_stamp(inquiry);
    bool top_searches = true; /* the code that creates tasks is named before threads that look for some */
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t unit = inquiry->unit_of[i];
        double ns = row->exclusive->overhead;
        if (row->kind == ROW_STATEMENT || !(ns > 0) || spent_in(inquiry, i) != construct ||
            inquiry->spun_ns[i] >= MOSTLY_ONE * ns || (unit != UNIT_NONE && inquiry->unit[unit].both))
            continue;
        cost.ns += ns;
        add_lost_below(rows, i, &cost.lost_ns, &cost.idle_ns);
        if (unit == UNIT_NONE)
            cost.idle_ns += 1e9 * metric_value(rows, row->exclusive, METRIC_IDLENESS);
        add_unit_cost(inquiry, unit, stamp, &cost.idle_ns, &cost.work_ns);
        uint32_t started = construct == CONSTRUCT_REGION ? region_started(inquiry, i) : UNIT_NONE;
        if (started != UNIT_NONE && !inquiry->unit[started].both)
            add_unit_cost(inquiry, started, stamp, &cost.end_ns, &cost.work_ns);
        bool search = construct == CONSTRUCT_TASK && construct_of(rows, row) == CONSTRUCT_REGION;
        cost.search_ns += search ? ns : 0;
        cost.test_ns += row_tests_lock(row) ? ns : 0;
        if (search == top_searches ? ns > cost.top_ns : top_searches) {
            cost.top_ns = ns;
            cost.row = i;
            top_searches = search;
        }
    }
    return cost;
}

/* ---- units whose pieces are too small ---- */

/* What a unit spends, or units that create and execute the same tasks together, in ns. */
struct group {
    double cost[CONSTRUCTS], work, idle;
};

/* Adds the overhead of constructs whose pieces can be too small. */
static void add_costs(struct inquiry *inquiry, struct group *group, double *start_ns)
{
    for (uint32_t i = 1; i < inquiry->rows->count; i++) {
        const struct row *row = &inquiry->rows->row[i];
        double ns = row->exclusive->overhead;
        if (row->kind == ROW_STATEMENT || !(ns > 0))
            continue;
        enum construct construct = spent_in(inquiry, i);
        uint32_t started = region_started(inquiry, i), unit = started == UNIT_NONE ? inquiry->unit_of[i] : started;
        if (started != UNIT_NONE)
            start_ns[started] += ns;
        if (unit != UNIT_NONE && (construct == CONSTRUCT_REGION || construct == CONSTRUCT_TASK ||
                                  construct == CONSTRUCT_LOOP || construct == CONSTRUCT_BARRIER))
            group[unit].cost[construct] += ns;
    }
}

static bool has_task_costs(const struct inquiry *inquiry, const struct group *group, uint32_t unit)
{
    return inquiry->rows->row[inquiry->unit[unit].row].kind == ROW_TASK || group[unit].cost[CONSTRUCT_TASK] > 0;
}

/* Adds up the groups of units that create or execute the same tasks, and gives the sum to each of them. */
static void join_groups(const struct inquiry *inquiry, struct group *group)
{
    for (uint32_t i = 0; i < inquiry->unit_count; i++) {
        struct group *host = &group[inquiry->unit[i].host];
        if (inquiry->unit[i].host == i || !has_task_costs(inquiry, group, i))
            continue;
        for (int construct = 0; construct < CONSTRUCTS; construct++)
            host->cost[construct] += group[i].cost[construct];
        host->work += group[i].work;
        host->idle += group[i].idle;
    }
    for (uint32_t i = 0; i < inquiry->unit_count; i++)
        if (has_task_costs(inquiry, group, i))
            group[i] = group[inquiry->unit[i].host];
}

/* Sets *by to the construct with most of the overhead. */
static bool pieces_are_too_small(const struct inquiry *inquiry, const struct group *group, enum construct *by)
{
    double sum = 0, most = 0;
    for (int construct = 0; construct < CONSTRUCTS; construct++) {
        sum += group->cost[construct];
        if (group->cost[construct] > most) {
            most = group->cost[construct];
            *by = (enum construct)construct;
        }
    }
    struct relief relief = {.spent_s = most * 1e-9};
    return sum >= group->work && sum >= group->idle && finding_is_enough(inquiry, most * 1e-9) &&
           bound_of(inquiry, &relief) >= LEAST_GAIN_S;
}

/* Returns the ns of overhead that a unit has for tasks. */
static double task_overhead_ns(struct inquiry *inquiry, uint32_t unit)
{
    double ns = 0;
    for (uint32_t i = 1; i < inquiry->rows->count; i++)
        if (inquiry->unit_of[i] == unit && inquiry->rows->row[i].kind != ROW_STATEMENT &&
            spent_in(inquiry, i) == CONSTRUCT_TASK)
            ns += inquiry->rows->row[i].exclusive->overhead;
    return ns;
}

/* Marks tasks whose creator mostly executes the runtime, so that others wait for tasks because these are too small. */
static void mark_costly_creation(struct inquiry *inquiry)
{
    for (uint32_t i = 0; i < inquiry->unit_count; i++) {
        const struct unit *unit = &inquiry->unit[i];
        bool creates = inquiry->rows->row[unit->row].kind != ROW_TASK &&
                       inquiry->rows->row[inquiry->unit[unit->host].row].kind == ROW_TASK;
        double ns = creates ? task_overhead_ns(inquiry, i) : 0;
        if (ns < unit->sum.work || !finding_is_enough(inquiry, ns * 1e-9))
            continue;
        for (uint32_t j = 0; j < inquiry->unit_count; j++)
            if (inquiry->unit[j].host == unit->host) {
                inquiry->unit[j].fine = true;
                inquiry->unit[j].fine_by = CONSTRUCT_TASK;
            }
    }
}

void find_fine_units(struct inquiry *inquiry)
{
    double *start_ns = memory_array(inquiry->unit_count, sizeof *start_ns);
    double regions = (double)inquiry->profile->header.regions;
    bool all_tiny = nobody_busy_is_enough(inquiry) && idles_for_tiny_regions(inquiry);
    /* Twice: the units that are tiny decide what the overhead of loops and barriers is blamed on. */
    for (int pass = 0; pass < 2; pass++) {
        struct group *group = memory_array(inquiry->unit_count, sizeof *group);
        for (uint32_t i = 0; i < inquiry->unit_count; i++) {
            const struct unit *unit = &inquiry->unit[i];
            group[i].work = unit->sum.work;
            group[i].idle = unit->idle_ns[CAUSE_BARRIER] + unit->idle_ns[CAUSE_TASKS] - unit->overhead_idle_ns;
            start_ns[i] = 0;
        }
        add_costs(inquiry, group, start_ns);
        join_groups(inquiry, group);
        for (uint32_t i = 0; i < inquiry->unit_count; i++) {
            struct unit *unit = &inquiry->unit[i];
            unit->fine = pieces_are_too_small(inquiry, &group[i], &unit->fine_by);
            unit->tiny = start_ns[i] > 0 && (all_tiny || start_ns[i] >= unit->sum.work) &&
                         unit->sum.work < regions * TINY_S * 1e9;
        }
        free(group);
    }
    free(start_ns);
    mark_costly_creation(inquiry);
    /* Waiting at the end of a fine region belongs to the region. */
    for (uint32_t i = 1; i < inquiry->rows->count; i++) {
        uint32_t started = region_started(inquiry, i), end = inquiry->unit_of[i];
        if (started != UNIT_NONE && end != UNIT_NONE && inquiry->unit[started].fine) {
            inquiry->unit[end].fine = true;
            inquiry->unit[end].fine_by = inquiry->unit[started].fine_by;
        }
    }
}

/* ---- locks ---- */

/* Returns whether a row is a call that takes or releases a lock. Sets *function to the one that calls. */
static bool row_calls_lock(struct inquiry *inquiry, uint32_t index, uint32_t *function)
{
    const struct row *row = &inquiry->rows->row[index];
    *function = inquiry->rows->row[inquiry->own[index]].function;
    return row->kind == ROW_RUNTIME && row->exclusive->overhead > 0 && spent_in(inquiry, index) == CONSTRUCT_LOCK;
}

void add_lock_calls(struct inquiry *inquiry, uint32_t row, struct relief *relief)
{
    const struct rows *rows = inquiry->rows;
    uint32_t region = inquiry->region[row], caller;
    double spent_ns = 0, lost_ns = 0, idle_ns = 0;
    for (uint32_t at = row, last = ROW_NONE; at != last && !(spent_ns > 0);) {
        for (uint32_t i = 1; i < rows->count; i++) {
            if (!row_calls_lock(inquiry, i, &caller) || caller != rows->row[at].function)
                continue;
            spent_ns += rows->row[i].exclusive->overhead;
            add_lost_below(rows, i, &lost_ns, &idle_ns);
        }
        last = at;
        at = at == region || region == ROW_NONE ? at : rows->row[at].parent;
    }
    relief->spent_s += 1e-9 * spent_ns;
    relief->lost_s += 1e-9 * lost_ns;
    relief->idle_s += 1e-9 * idle_ns;
}

/* Returns the ns for which threads waited for locks in or because of functions that take locks. */
static double lock_waits_ns(struct inquiry *inquiry)
{
    const struct wait_table *waits = inquiry->waits;
    struct pair_map takes = {0};
    uint32_t function;
    double ns = 0;
    for (uint32_t i = 1; i < inquiry->rows->count; i++)
        if (row_calls_lock(inquiry, i, &function))
            *pair_map_slot(&takes, function, 0) = 1;
    for (size_t i = 0; i < waits->pair_count; i++) {
        const struct wait_pair *pair = &waits->pair[i];
        function = inquiry->rows->row[inquiry->own[pair->row]].function;
        if (waits->place[pair->place].kind == WAIT_LOCK && *pair_map_slot(&takes, function, 0) == 1)
            ns += pair->ns;
    }
    pair_map_free(&takes);
    return ns;
}

/* ---- findings ---- */

/* Returns whether one thread creates all tasks, as far as samples tell. */
static bool one_thread_creates(const struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    uint64_t threads = 0, samples = 0;
    for (size_t i = 1; i < rows->node_count; i++) {
        uint32_t index = rows->node_row[i];
        const struct row *row = index == ROW_NONE ? NULL : &rows->row[index];
        if (!row || row->kind != ROW_RUNTIME || construct_of(rows, row) != CONSTRUCT_TASK ||
            strstr(row->label->name, "taskwait") || strstr(row->label->name, "taskgroup") ||
            strstr(row->label->name, "taskyield"))
            continue;
        threads |= inquiry->profile->nodes[i].threads;
        samples += inquiry->profile->nodes[i].metric.samples;
    }
    return inquiry->threads > 1 && inquiry->profile->header.threads_max <= MOST_IDENTIFIED && threads &&
           !(threads & (threads - 1)) && samples >= SURE_SAMPLES;
}

/* Names the cause more closely where the profile tells it. */
static void overhead_set_title_and_advice(struct inquiry *inquiry, struct finding *finding, enum construct construct,
                                          const struct cost *cost)
{
    const char *title = constructs[construct].title, *advice = constructs[construct].advice, *more = "";
    char name[CONSTRUCT_BYTES] = "";
    uint32_t unit = inquiry->unit_of[finding->row];
    /* A thread that gets the lock by a test also releases it, which takes about as long. */
    if (construct == CONSTRUCT_LOCK && cost->test_ns >= MOSTLY_ONE * cost->ns) {
        title = "threads poll locks that others hold";
        advice = "Do less while holding the lock, use one lock for each part of the data, private copies, or a "
                 "reduction. Polling takes cores from threads that work: do other work between two tests, or call "
                 "omp_set_lock or omp_set_nest_lock instead, though threads still wait then.";
    }
    if (construct == CONSTRUCT_TASK && one_thread_creates(inquiry) && cost->search_ns >= MOSTLY * cost->ns) {
        title = "one thread creates all tasks, and others look for some";
        advice = "Use taskloop, or let all threads create tasks (for instead of single). If tasks are small, create "
                 "fewer and larger ones: call functions directly below a cut-off.";
    } else if (construct == CONSTRUCT_TASK && one_thread_creates(inquiry))
        more = " One thread creates all tasks: use taskloop, or let all threads create tasks (for instead of single).";
    if (construct == CONSTRUCT_LOOP && is_static_loop(&inquiry->rows->row[finding->row])) {
        title = "loops are too small";
        advice =
            "Each thread has one piece of a static loop, so larger chunks do not help: merge loops, or parallelise an "
            "outer loop.";
    }
    if (construct == CONSTRUCT_REGION && !regions_are_small(inquiry, finding->seconds)) {
        title = "starting and ending parallel regions takes long";
        advice = "The runtime makes threads, or threads do not get cores. Let all regions have the same number of "
                 "threads, avoid nested regions, and start no more threads than there are cores.";
    }
    if (unit != UNIT_NONE)
        name_construct(inquiry, &inquiry->unit[unit], finding->row, name);
    finding->title = format_printable("%s%s: %s is overhead", title, name, PART(inquiry, finding->seconds));
    finding->advice = format_printable("%s%s", advice, more);
}

/* Reports regions so small that most of the run passes between them. The threads' waiting there is no
 * overhead, so the finding covers more than the metric. */
static void put_tiny_regions(struct inquiry *inquiry, const struct cost *cost, const struct relief *relief)
{
    double regions = (double)inquiry->profile->header.regions;
    struct finding finding = {.rule = "fine",
                              .row = cost->ns > 0 ? cost->row : ROW_NONE,
                              .metric = METRIC_SAMPLES,
                              .seconds = cost->ns * 1e-9 + inquiry->nobody_busy_s * inquiry->threads,
                              .gain_s = bound_of(inquiry, relief)};
    finding.title = format_printable("%s: %s us of work in each of %s regions", constructs[CONSTRUCT_REGION].title,
                                     DECIMAL(1e6 * work_per_region(inquiry), 1), DECIMAL(regions, 0));
    finding.evidence = format_printable(
        "while regions began and ended, all threads waited in OpenMP for %s s of the run's %s s, and the overhead was "
        "%s s: %s",
        DECIMAL(inquiry->nobody_busy_s, 2), DECIMAL(profile_wall_s(inquiry->profile), 2), DECIMAL(cost->ns * 1e-9, 2),
        SHARE(inquiry, finding.seconds));
    finding.advice = format_printable("%s", constructs[CONSTRUCT_REGION].advice);
    put_finding(inquiry, &finding);
}

void find_overhead(struct inquiry *inquiry)
{
    for (int construct = 0; construct < CONSTRUCTS; construct++) {
        bool tiny = construct == CONSTRUCT_REGION && nobody_busy_is_enough(inquiry) && idles_for_tiny_regions(inquiry);
        struct cost cost = cost_of(inquiry, (enum construct)construct);
        add_late_pieces(inquiry, (enum construct)construct, tiny, &cost);
        double seconds = cost.ns * 1e-9;
        uint64_t regions = inquiry->profile->header.regions;
        /* fewer regions or barriers: threads no longer wait for each other there, unless a region is long */
        double end_s = TINY_WALL_S * (double)regions * (inquiry->threads - 1);
        struct relief relief = {.spent_s = seconds,
                                .waited_s = construct == CONSTRUCT_LOCK ? 1e-9 * lock_waits_ns(inquiry) : 0,
                                .slowed_s = slowed_by(seconds, 1e-9 * cost.work_ns),
                                .lost_s = 1e-9 * (cost.lost_ns + cost.late_ns),
                                .idle_s = 1e-9 * cost.idle_ns + fmin(1e-9 * cost.end_ns, end_s),
                                .idle_follows = construct != CONSTRUCT_REGION && construct != CONSTRUCT_BARRIER,
                                .wall_s = inquiry->nobody_busy_s};
        char each[FORMAT_NUMBER_BYTES + 100] = "";
        if (tiny) {
            put_tiny_regions(inquiry, &cost, &relief);
            continue;
        }
        bool slow = construct == CONSTRUCT_REGION && !regions_are_small(inquiry, seconds);
        if (!finding_is_enough(inquiry, seconds) || (slow && cores_explain(inquiry, seconds)))
            continue;
        struct finding finding = {
            .rule = "fine", .row = cost.row, .metric = METRIC_OVERHEAD, .seconds = seconds, .sampled = true};
        if (construct == CONSTRUCT_REGION && regions > 0)
            snprintf(each, sizeof each, "%s us for each of %llu regions; ", DECIMAL(1e6 * seconds / (double)regions, 1),
                     (unsigned long long)regions);
        overhead_set_title_and_advice(inquiry, &finding, (enum construct)construct, &cost);
        char lost[FORMAT_NUMBER_BYTES + 60] = "";
        if (cost.lost_ns > cost.ns)
            snprintf(lost, sizeof lost, "; for another %s s, this code had no core", DECIMAL(1e-9 * cost.lost_ns, 2));
        finding.evidence = format_printable("%s%s %% of this overhead is in the named code%s", each,
                                            DECIMAL(100 * cost.top_ns / cost.ns, 0), lost);
        put_bounded_finding(inquiry, &finding, &relief);
    }
}
