/* Finds regions in which threads idle: unequal work, too few pieces, too few tasks, small teams, and regions
 * that also have much overhead. */
#include <math.h>
#include <string.h>

#include "command/findings/rules.h"
#include "command/rows/own.h"

#define WAITING_BYTES          (3 * NAME_BYTES) /* of a sentence about waiting, with a construct's name */
#define CHANCE                 0.05 /* probability below which it is not chance that one of equal threads is found at work for longer */
#define LEAST_OVERHEAD_PERCENT 0.1 /* of the effort; less overhead is not mentioned */

static bool is_named_unit(const struct inquiry *inquiry, const struct unit *unit)
{
    return inquiry->rows->row[unit->row].kind != ROW_PSEUDO;
}

/* Returns which worksharing constructs threads waited at the ends of. */
static const char *ends_of_worksharing(const struct unit *unit)
{
    double known = MOSTLY * unit->idle.shared_idle;
    return !(known > 0)                   ? "at the ends of loops, sections or single constructs"
           : unit->idle.sections >= known ? "at the ends of sections"
           : unit->idle.single >= known   ? "at the ends of single constructs"
           : unit->idle.loops >= known    ? "at the ends of loops"
                                          : "at the ends of loops, sections or single constructs";
}

/* Returns words for the kind of wait in which threads idled most. Waits of unknown kind are beside threads
 * that wait for locks, if there are such threads. */
static const char *place_of_waiting(const struct unit *unit, bool tasks)
{
    const char *const words[WAIT_KINDS] = {
        [WAIT_UNKNOWN] = "at barriers",
        [WAIT_BARRIER] = "at barriers",
        [WAIT_WORKSHARE] = ends_of_worksharing(unit),
        [WAIT_REGION_END] = "at the end",
        [WAIT_TASKWAIT] = "in taskwait",
        [WAIT_TASKGROUP] = "at the ends of taskgroups",
        [WAIT_REDUCTION] = "in reductions",
        [WAIT_NOT_KEPT] = "beside threads that wait for locks",
    };
    int most = WAIT_BARRIER;
    for (int kind = 0; kind < WAIT_KINDS; kind++)
        if (words[kind] && (tasks || (kind != WAIT_TASKWAIT && kind != WAIT_TASKGROUP)) &&
            unit->kind_ns[kind] > unit->kind_ns[most])
            most = kind;
    if (most == WAIT_NOT_KEPT && !(unit->sum.lock_wait > 0) && !(unit->sum.lock_wait_here > 0))
        return "in waits of unknown kind";
    return words[most];
}

/* Returns whether the idle threads mostly wait for a thread that sleeps voluntarily. */
static bool waits_for_sleep(const struct unit *unit)
{
    double passed_ns = unit->passes ? unit->awaited_ns : 0;
    return unit->asleep_ns > 0 && unit->sum.blocked_idle - passed_ns >= MOSTLY * unit->sum.shared_idle;
}

/* Returns whether the sleep itself is the finding (find_blocked), because threads sleep for much longer than
 * others wait for them. */
static bool sleep_is_more(const struct unit *unit)
{
    return waits_for_sleep(unit) && unit->sum.blocked_idle < MOSTLY * unit->sum.blocked;
}

/* Fills in title and advice. If the other threads wait for a sleeping thread, the finding gets another title
 * and other advice, because dividing the work differently would not help. */
static void regions_set_title_and_advice(const struct inquiry *inquiry, const struct unit *unit,
                                         struct finding *finding, const char *what, const char *advice)
{
    char blocked[BLOCKED_BYTES], construct[CONSTRUCT_BYTES];
    if (!waits_for_sleep(unit)) {
        name_construct(inquiry, unit, finding->row, construct);
        finding->title = format_printable("%s%s: %s of %s threads busy", what, construct,
                                          DECIMAL(busy_threads(&unit->sum), 1), DECIMAL(inquiry->threads, 0));
        finding->advice = format_printable("%s", advice);
        return;
    }
    const struct awaited *awaited = inquiry->awaited[unit->asleep];
    describe_blocked(blocked, inquiry->rows, unit->asleep, awaited);
    finding->row = finding->call = unit->asleep;
    finding->title = format_printable("%s, and others wait", blocked);
    finding->advice = format_printable(
        "%s", awaited->threads
                  ? awaited->advice
                  : "The other threads wait for a thread that sleeps. Overlap the sleep with work (a task, nowait), "
                    "start it earlier, or let it be shorter or less frequent. A sleeping thread needs no core, so "
                    "another schedule does not help.");
}

/* Starts a finding about a part of the unit's idleness. The error is computed as if all of the remaining
 * idleness had occurred beside other threads. */
static struct finding start_idle_region_finding(const struct inquiry *inquiry, const char *rule,
                                                const struct unit *unit, uint32_t row, double seconds)
{
    double rest = fmax(0, metric_value(inquiry->rows, &unit->sum, METRIC_IDLENESS) - seconds);
    return (struct finding){.rule = rule,
                            .row = row,
                            .metric = METRIC_IDLENESS,
                            .seconds = seconds,
                            .sampled = true,
                            .basis.idle_beside = fmax(0, error_basis_of(&unit->sum).idle_beside - rest)};
}

/* Returns what would be gone with `seconds` of the unit's idleness. lost_ns: the same waiting while the unit
 * had no core. If threads wait for a sleep, the sleep may be gone. */
static struct relief relief_of(const struct inquiry *inquiry, const struct unit *unit, double seconds, double lost_ns)
{
    double slept_s = waits_for_sleep(unit) ? unit->sum.blocked * 1e-9 : 0;
    return (struct relief){.idle_s = seconds + lost_ns * 1e-9,
                           .asleep_s = unit->sum.blocked_idle * 1e-9,
                           .waited_s = unit->passes ? unit->awaiting_ns * 1e-9 : 0,
                           .moved_s = profile_sums_own(&unit->sum) * 1e-9,
                           .dropped_s = slept_s,
                           .wall_s = slept_s / fmax(1, inquiry->threads)};
}

/* Writes the name of the function that is called in the section for which threads wait most. Writes "" if the
 * section calls none, or if other sections may, too: if another call in the region has the same name, or if there is no other
 * code, because compilers make one call of those of several sections. */
static void name_longest_section(const struct inquiry *inquiry, const struct unit *unit, char name[NAME_BYTES])
{
    const struct rows *rows = inquiry->rows;
    uint32_t section = unit->worst[CAUSE_BARRIER], region = inquiry->region[section], twins = 0;
    double others_ns = 0;
    *name = '\0';
    while (section && section != region && rows->row[section].parent != region)
        section = rows->row[section].parent;
    if (!section || section == region)
        return;
    for (uint32_t i = region + 1; i < rows->row[region].end; i = rows->row[i].end) {
        twins += rows->row[i].kind != ROW_STATEMENT && rows->row[i].function == rows->row[section].function;
        others_ns += i == section ? 0 : rows->row[i].inclusive->work;
    }
    if (twins == 1 && others_ns > 0)
        shorten_name(name, rows->row[section].label->name);
}

/* Returns how many regions or tasks a unit has; contexts of one count once. */
static size_t count_constructs(const struct inquiry *inquiry, const struct unit *unit)
{
    struct tally constructs = {0};
    for (uint32_t i = 1; i < inquiry->rows->count; i++)
        if (inquiry->region[i] == i && inquiry->unit_of[i] != UNIT_NONE && &inquiry->unit[inquiry->unit_of[i]] == unit)
            tally_add(&constructs, inquiry->rows->row[i].function, i, 0);
    size_t count = constructs.count;
    tally_free(&constructs);
    return count;
}

/* Writes where threads waited: "at barriers in f [parallel f.c:2]", "in taskwait for f [task f.c:5] and 1 other". */
static void describe_waiting(const struct inquiry *inquiry, const struct unit *unit, uint32_t row, const char *where,
                             char to[WAITING_BYTES])
{
    const struct row *construct = &inquiry->rows->row[construct_at(inquiry, unit, row)];
    size_t count = construct->kind == ROW_TASK ? count_constructs(inquiry, unit) : 1;
    bool end = strcmp(where, "at the end") == 0;
    char name[NAME_BYTES], others[FORMAT_NUMBER_BYTES + 16] = "";
    shorten_name(name, construct->label->name);
    if (count > 1)
        snprintf(others, sizeof others, " and %zu other%s", count - 1, count > 2 ? "s" : "");
    snprintf(to, WAITING_BYTES, "%s %s %s%s", where,
             construct->kind == ROW_TASK ? (end ? "of the region for" : "for")
             : end                       ? "of"
                                         : "in",
             name, others);
}

/* Returns the evidence that every finding about an idle region has. row: the place of the finding */
static char *idle_evidence(const struct inquiry *inquiry, const struct unit *unit, uint32_t row, const char *where)
{
    double overhead = percent_of_program(inquiry, unit->sum.overhead * 1e-9);
    char some[64] = "", pieces[FORMAT_NUMBER_BYTES + 64] = "", asleep[FORMAT_NUMBER_BYTES + 64] = "";
    char waiting[WAITING_BYTES], also[FORMAT_NUMBER_BYTES + 64] = "";
    if (unit->contexts > 1 && inquiry->rows->row[unit->row].kind != ROW_TASK)
        snprintf(some, sizeof some, ", in %u calling contexts", unit->contexts);
    double per_thread = unit->idle.scarcity > 0 ? unit->idle.loops / unit->idle.scarcity : 0;
    if (unit->idle.loops >= MOSTLY * unit->idle.shared_idle && per_thread > 0)
        snprintf(pieces, sizeof pieces, ", beside loops with about %s iterations per thread",
                 DECIMAL(per_thread, per_thread < 100 ? 1 : 0));
    if (unit->idle.sections > 0 && unit->idle.sections >= MOSTLY * unit->idle.shared_idle)
        snprintf(pieces, sizeof pieces, ", beside about %s sections", DECIMAL(per_thread * inquiry->threads, 0));
    if (waits_for_sleep(unit))
        snprintf(asleep, sizeof asleep, ", %s %% of it while the busy threads slept",
                 DECIMAL(100 * unit->sum.blocked_idle / unit->sum.shared_idle, 0));
    if (overhead >= LEAST_OVERHEAD_PERCENT)
        snprintf(also, sizeof also, "; the overhead there is %s %% of the effort", DECIMAL(overhead, 1));
    describe_waiting(inquiry, unit, waits_for_sleep(unit) ? unit->asleep : row, where, waiting);
    return format_printable("threads waited %s%s%s%s%s", waiting, some, pieces, asleep, also);
}

/* What keeps threads waiting at barriers. */
enum uneven {
    UNEVEN_STATIC,   /* unequal shares */
    UNEVEN_UNKNOWN,  /* unequal shares, no known loop; GCC does not report static loops to the runtime */
    UNEVEN_DYNAMIC,  /* unequal shares despite a dynamic schedule */
    UNEVEN_SECTIONS, /* sections of unequal length */
    UNEVEN_FEW,      /* too few iterations to divide equally */
    UNEVEN_ALONE,    /* code that one thread executes */
    UNEVEN_CREATION, /* one thread's code that creates tasks for the others */
};

static bool creates_tasks(const struct inquiry *inquiry, const struct unit *unit)
{
    const struct unit *host = &inquiry->unit[unit->host];
    return inquiry->rows->row[unit->row].kind != ROW_TASK && inquiry->rows->row[host->row].kind == ROW_TASK &&
           host->sum.work > 0;
}

static enum uneven why_shares_are_uneven(const struct inquiry *inquiry, const struct unit *unit)
{
    const struct profile_idle *idle = &unit->idle;
    double known = MOSTLY * idle->shared_idle;
    if (idle->shared_idle > 0 && idle->single + unit->alone_ns >= known)
        return creates_tasks(inquiry, unit) ? UNEVEN_CREATION : UNEVEN_ALONE;
    if (idle->sections > 0 && idle->sections >= known)
        return UNEVEN_SECTIONS;
    if (idle->loops >= known && FEW_PIECES * idle->scarcity > idle->loops)
        return UNEVEN_FEW;
    if (!(idle->loops > 0) || idle->loops < known)
        return UNEVEN_UNKNOWN;
    return idle->dynamic >= MOSTLY * idle->loops ? UNEVEN_DYNAMIC : UNEVEN_STATIC;
}

/* Returns the ns of idleness of the tasks that the unit's threads create. It has the same cause as the unit's own
 * idleness if creation is slow. */
static double idle_for_created_ns(const struct inquiry *inquiry, const struct unit *unit)
{
    double ns = 0;
    for (size_t i = 0; i < inquiry->unit_count; i++)
        if (inquiry->unit[i].host == unit->host)
            ns += inquiry->unit[i].idle_ns[CAUSE_TASKS];
    return ns;
}

static bool is_of_team(const struct profile_thread *thread)
{
    return thread->kind == PROFILE_THREAD_INITIAL || thread->kind == PROFILE_THREAD_WORKER;
}

/* Returns the s of an initial thread's work and sleep outside all regions; in a job, the mean of the ranks. */
static double serial_s(const struct inquiry *inquiry)
{
    const struct profile *profile = inquiry->profile;
    double ns = 0, initial = 0;
    for (uint32_t i = 0; i < inquiry->rows->count; i++)
        if (inquiry->rows->row[i].kind != ROW_STATEMENT && inquiry->region[i] == ROW_NONE)
            ns += inquiry->rows->row[i].exclusive->work + inquiry->rows->row[i].exclusive->blocked;
    for (size_t i = 0; i < profile->thread_count; i++) {
        initial += profile->threads[i].kind == PROFILE_THREAD_INITIAL;
        if (!is_of_team(&profile->threads[i]))
            ns -= profile->threads[i].work + profile->threads[i].blocked;
    }
    return 1e-9 * fmax(0, ns) / fmax(1, initial);
}

/* Returns by how much the longest of equal threads may exceed the mean by chance, times the number of threads: Bernstein's
 * bound for the number of samples that find a thread at work. */
static double excess_by_chance(const struct inquiry *inquiry, double threads, double sum_s)
{
    double chance_s = log(fmax(1, threads / CHANCE)) * inquiry->period_s;
    return threads * chance_s / 3 + sqrt(pow(threads * chance_s / 3, 2) + 2 * threads * chance_s * sum_s);
}

/* Returns whether some threads worked so much longer in regions than others that these had to wait for most of that
 * time. One standard deviation is left to chance. */
static bool threads_worked_unequally(const struct inquiry *inquiry, double waited_s)
{
    const struct profile *profile = inquiry->profile;
    double most = 0, sum = 0, threads = 0, outside_s = serial_s(inquiry);
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        double own_s = 1e-9 * (thread->work + thread->blocked);
        if (!is_of_team(thread))
            continue;
        if (thread->kind == PROFILE_THREAD_INITIAL)
            own_s = fmax(0, own_s - outside_s);
        most = fmax(most, own_s);
        sum += own_s;
        threads++;
    }
    return most * threads - sum >=
           fmax(MOSTLY * waited_s + sqrt(inquiry->period_s * sum), excess_by_chance(inquiry, threads, sum));
}

/* Returns whether threads waited for longer than they have to for equal shares. These keep them waiting longest if the
 * threads get cores one after the other: (T - 1) / 2 times the work. */
static bool waits_exceed_equal_shares(const struct inquiry *inquiry, const struct unit *unit, double waited_s)
{
    double others = inquiry->threads - 1, error_s = ERROR_DEVIATIONS * sqrt(inquiry->period_s * others * waited_s);
    return waited_s - error_s > others / 2 * 1e-9 * unit->sum.work;
}

/* Returns whether threads may have waited only because others had lost their cores before: the shares themselves may be
 * equal. */
static bool may_be_equal(const struct inquiry *inquiry, const struct unit *unit, enum uneven why, double seconds)
{
    bool unequal = why == UNEVEN_STATIC || why == UNEVEN_UNKNOWN || why == UNEVEN_DYNAMIC;
    return unequal && cores_explain(inquiry, seconds + unit->lost_ns[CAUSE_BARRIER] * 1e-9) &&
           !threads_worked_unequally(inquiry, seconds) && !waits_exceed_equal_shares(inquiry, unit, seconds);
}

static void put_barrier_finding(struct inquiry *inquiry, struct unit *unit, double seconds)
{
    static const struct {
        const char *rule, *title, *advice;
    } texts[] = {
        [UNEVEN_STATIC] = {"imbalance", "unequal work",
                           "Give the threads equal shares: use schedule(dynamic) or schedule(guided) with small "
                           "chunks, or smaller pieces of work, the largest first. Use nowait where no barrier is "
                           "needed."},
        [UNEVEN_UNKNOWN] = {"imbalance", "unequal work",
                            "Give the threads equal shares. In a loop, use schedule(dynamic) or schedule(guided) with "
                            "small chunks, the largest pieces first; if it has too few iterations for the threads, "
                            "parallelise an outer or inner loop, or use collapse(2). Use nowait where no barrier is "
                            "needed."},
        [UNEVEN_DYNAMIC] = {"imbalance", "unequal work",
                            "The schedule distributes work on demand, but the last pieces are too large. Use smaller "
                            "chunks, divide long iterations, or begin with the longest."},
        [UNEVEN_SECTIONS] = {"coarse", "sections of unequal length",
                             "Threads wait for the longest section. Divide its work into several sections, or into "
                             "tasks or a loop for all threads. No schedule divides a section."},
        [UNEVEN_FEW] =
            {"coarse", "too few pieces",
             "There are too few iterations for the threads. Parallelise an outer or inner loop, use collapse(2), or "
             "make more and smaller pieces of the work with fewer iterations in each chunk."},
        [UNEVEN_ALONE] = {"coarse", "one thread works alone",
                          "The other threads wait for code that only one thread executes. Do less in single, in "
                          "masked, or after a test of the thread number; divide that code, or let the others "
                          "continue (nowait, tasks). If it is in a loop, use schedule(dynamic)."},
        [UNEVEN_CREATION] = {"task-starved", "tasks come too slowly",
                             "One thread creates tasks more slowly than the others execute them. Let several threads "
                             "create tasks (taskloop, or for instead of single), prepare less for each task, or move "
                             "the preparation into the tasks."},
    };
    enum uneven why = why_shares_are_uneven(inquiry, unit);
    char section[NAME_BYTES], title[NAME_BYTES + 64];
    if (sleep_is_more(unit) || (!waits_for_sleep(unit) && may_be_equal(inquiry, unit, why, seconds)))
        return;
    struct finding finding =
        start_idle_region_finding(inquiry, texts[why].rule, unit, unit->worst[CAUSE_BARRIER], seconds);
    finding.evidence = idle_evidence(inquiry, unit, finding.row, place_of_waiting(unit, false));
    name_longest_section(inquiry, unit, section);
    bool longest = why == UNEVEN_SECTIONS && *section;
    snprintf(title, sizeof title, "%s%s%s%s", texts[why].title, longest ? " (the longest: " : "",
             longest ? section : "", longest ? ")" : "");
    regions_set_title_and_advice(inquiry, unit, &finding, title, texts[why].advice);
    struct relief relief = relief_of(inquiry, unit, seconds, unit->lost_ns[CAUSE_BARRIER]);
    unit->idle_told = true;
    put_bounded_finding(inquiry, &finding, &relief);
}

static void put_tasks_finding(struct inquiry *inquiry, struct unit *unit, double seconds)
{
    if (sleep_is_more(unit))
        return;
    struct finding finding =
        start_idle_region_finding(inquiry, "task-starved", unit, unit->worst[CAUSE_TASKS], seconds);
    finding.evidence = idle_evidence(inquiry, unit, finding.row, place_of_waiting(unit, true));
    regions_set_title_and_advice(
        inquiry, unit, &finding, "too few tasks",
        "Create more and smaller tasks, create them earlier and in several threads, and start long tasks first. Use "
        "fewer taskwaits and dependences, so that more tasks can run at the same time.");
    struct relief relief = relief_of(inquiry, unit, seconds, unit->lost_ns[CAUSE_TASKS]);
    unit->idle_told = true;
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Returns whether samples saw all of the program's threads in the unit. */
static bool has_all_threads(const struct inquiry *inquiry, const struct unit *unit)
{
    uint32_t threads = inquiry->profile->header.threads_max;
    return !inquiry->profile->header.merged && threads <= MOST_IDENTIFIED &&
           (uint32_t)__builtin_popcountll(unit->threads) >= threads;
}

static void put_small_team(struct inquiry *inquiry, const struct unit *unit, double seconds)
{
    double own = profile_sums_own(&unit->sum);
    double team = unit->sum.inverse_busy > 0 ? (own + unit->sum.shared_idle) / unit->sum.inverse_busy : 0;
    bool late = has_all_threads(inquiry, unit);
    if (late && cores_explain(inquiry, seconds + unit->lost_ns[CAUSE_NO_TEAM] * 1e-9))
        return;
    struct finding finding = start_idle_region_finding(inquiry, "narrow", unit, unit->worst[CAUSE_NO_TEAM], seconds);
    if (team < ONE_THREAD && !late)
        finding.title = format_printable("%s s in a team of one thread", DECIMAL(seconds / (inquiry->threads - 1), 2));
    else
        finding.title = format_printable("%s: on average %s of %s threads take part",
                                         late ? "threads come late, or not always" : "small team", DECIMAL(team, 1),
                                         DECIMAL(inquiry->threads, 0));
    finding.evidence = idle_evidence(inquiry, unit, finding.row, "outside any team, and others worked");
    finding.advice = format_printable(
        "%s", late ? "Samples saw all threads in this region, so its team is not always small. If the region is short, "
                     "threads spend this time waking up: make it larger, or merge it with its neighbours. If it runs "
                     "with few threads at times, check its if clause and num_threads."
                   : "Let more threads take part: check num_threads, if clauses, nested regions and "
                     "OMP_MAX_ACTIVE_LEVELS. Outside a parallel region, tasks run one after the other.");
    struct relief relief = relief_of(inquiry, unit, seconds, unit->lost_ns[CAUSE_NO_TEAM]);
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Returns whether cores are idle. If the team uses all cores, threads outside the team could not run anyway. */
static bool leaves_cores_idle(const struct inquiry *inquiry, const struct unit *unit)
{
    double idle = metric_value(inquiry->rows, &unit->sum, METRIC_CORE_IDLENESS);
    return finding_is_enough_idleness(inquiry, idle);
}

static bool has_tasks_in_unit(const struct inquiry *inquiry, const struct unit *unit)
{
    return inquiry->rows->row[unit->row].kind == ROW_TASK || creates_tasks(inquiry, unit);
}

/* Returns whether an earlier finding covers the unit's idleness: one about the unit itself, or about a unit that
 * creates or executes the same tasks. */
static bool is_idleness_told(const struct inquiry *inquiry, const struct unit *unit)
{
    if (unit->both || unit->fine || unit->slow_creation)
        return true;
    for (size_t i = 0; i < inquiry->unit_count && has_tasks_in_unit(inquiry, unit); i++) {
        const struct unit *other = &inquiry->unit[i];
        if (other->host == unit->host && (other->both || other->fine) && has_tasks_in_unit(inquiry, other))
            return true;
    }
    return false;
}

/* Finds regions in which one thread creates tasks too slowly: most of the idleness is beside that thread's own
 * code. The idleness for tasks is in the same finding. */
static void find_slow_creation(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->unit_count; i++) {
        struct unit *unit = &inquiry->unit[i];
        if (is_idleness_told(inquiry, unit) || !(unit->idle_ns[CAUSE_BARRIER] > 0) ||
            why_shares_are_uneven(inquiry, unit) != UNEVEN_CREATION || inquiry->unit[unit->host].slow_creation)
            continue;
        double seconds = (unit->idle_ns[CAUSE_BARRIER] + idle_for_created_ns(inquiry, unit)) * 1e-9;
        if (sleep_is_more(unit) || !finding_is_enough_idleness(inquiry, seconds) ||
            unit->idle_ns[CAUSE_BARRIER] * 1e-9 < MOSTLY * seconds)
            continue;
        unit->slow_creation = true;
        for (size_t j = 0; j < inquiry->unit_count; j++)
            if (inquiry->unit[j].host == unit->host && inquiry->rows->row[inquiry->unit[j].row].kind == ROW_TASK)
                inquiry->unit[j].slow_creation = true;
        put_barrier_finding(inquiry, unit, seconds);
    }
}

void find_idle_regions(struct inquiry *inquiry)
{
    find_slow_creation(inquiry);
    for (size_t i = 0; i < inquiry->unit_count; i++) {
        struct unit *unit = &inquiry->unit[i];
        double barrier = unit->idle_ns[CAUSE_BARRIER] * 1e-9, tasks = unit->idle_ns[CAUSE_TASKS] * 1e-9;
        double no_team = unit->idle_ns[CAUSE_NO_TEAM] * 1e-9;
        bool covered = is_idleness_told(inquiry, unit);
        if (!covered && !unit->idle_for_copies && finding_is_enough_idleness(inquiry, barrier))
            put_barrier_finding(inquiry, unit, barrier);
        if (!covered && finding_is_enough_idleness(inquiry, tasks))
            put_tasks_finding(inquiry, unit, tasks);
        if (is_named_unit(inquiry, unit) && !unit->fine && !unit->copies && inquiry->region[unit->row] != ROW_NONE &&
            finding_is_enough_idleness(inquiry, no_team) && leaves_cores_idle(inquiry, unit))
            put_small_team(inquiry, unit, no_team);
    }
}

/* Finds regions with much idleness and much overhead, for which neither smaller nor larger pieces help. */
void find_both(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->unit_count; i++) {
        struct unit *unit = &inquiry->unit[i];
        double idle = (unit->idle_ns[CAUSE_BARRIER] + unit->idle_ns[CAUSE_TASKS] - unit->overhead_idle_ns) * 1e-9,
               overhead = unit->sum.overhead * 1e-9;
        double effort = 1e-9 * (profile_sums_own(&unit->sum) + unit_idle_ns(unit));
        unit->both = !unit->fine && finding_is_enough_idleness(inquiry, idle) && finding_is_enough(inquiry, overhead) &&
                     100 * idle >= BOTH_PERCENT * effort && 100 * overhead >= BOTH_PERCENT * effort;
        if (!unit->both)
            continue;
        unit->idle_told = true;
        struct finding finding = start_idle_region_finding(inquiry, "both", unit, unit->row, idle);
        struct relief relief =
            relief_of(inquiry, unit, idle, unit->lost_ns[CAUSE_BARRIER] + unit->lost_ns[CAUSE_TASKS]);
        relief.spent_s = overhead;
        relief.slowed_s = slowed_by(overhead, 1e-9 * unit->sum.work);
        relief.wall_s += inquiry->nobody_busy_s;
        finding.title = format_printable("much idleness and much overhead");
        finding.evidence = idle_evidence(inquiry, unit, finding.row, place_of_waiting(unit, true));
        finding.advice = format_printable(
            "Smaller pieces of work would raise the overhead, and larger pieces the idleness. Divide the work in "
            "another way.");
        put_bounded_finding(inquiry, &finding, &relief);
    }
}
