/* Finds serial code, and the time before OpenMP starts. */
#include "command/findings/rules.h"
#include "command/rows/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/format.h"
#include "command/text/memory.h"

#define LOADING_S 0.1 /* loading a program's libraries takes no longer on a busy machine */

static bool is_before_openmp_start(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, "<before OpenMP start>") == 0;
}

/* Returns the ns of idleness outside any team that are blamed on the row's own code. The start of a region is
 * not serial code but overhead of the region. */
static double serial_idle_ns(const struct inquiry *inquiry, uint32_t index)
{
    const struct row *row = &inquiry->rows->row[index];
    if (row->kind == ROW_STATEMENT || inquiry->region[index] != ROW_NONE || is_before_openmp_start(row) ||
        construct_of(inquiry->rows, row) == CONSTRUCT_REGION)
        return 0;
    return inquiry->idle_ns[CAUSE_NO_TEAM][index] - inquiry->awaited_ns[CAUSE_NO_TEAM][index];
}

/* Sleep in serial code that the program asked for. Other threads cannot take part in it. */
struct sleep {
    double own_ns, blocked_ns, most_ns;
    double lost_ns; /* ns of other threads' idleness while the code had no core */
    uint32_t row;   /* the row that slept most */
};

struct serial_search {
    struct inquiry *inquiry;
    double *left;  /* by row: ns of inclusive serial idleness that are in no finding yet */
    bool *claimed; /* by row: whether the row's own code is in a finding */
};

/* Returns the sleep in serial code below a row, as far as it is in no finding yet. function: counts only this
 * function and its callees, unless it is ROW_NONE. */
static struct sleep serial_sleep_of(const struct serial_search *search, uint32_t below, uint32_t function)
{
    const struct inquiry *inquiry = search->inquiry;
    const struct rows *rows = inquiry->rows;
    struct sleep sleep = {.row = ROW_NONE};
    for (uint32_t i = below; i < rows->row[below].end; i++) {
        uint32_t own = inquiry->own[i];
        const struct profile_sums *sums = rows->row[i].exclusive;
        if (rows->row[i].kind == ROW_STATEMENT || search->claimed[own] || !(serial_idle_ns(inquiry, own) > 0) ||
            (function != ROW_NONE && rows->row[own].function != function))
            continue;
        if (own == i)
            sleep.lost_ns += inquiry->lost_ns[CAUSE_NO_TEAM][i];
        sleep.own_ns += sums->work + sums->overhead + sums->lock_wait + sums->blocked;
        sleep.blocked_ns += sums->blocked;
        if (sums->blocked > sleep.most_ns) {
            sleep.most_ns = sums->blocked;
            sleep.row = i;
        }
    }
    return sleep;
}

bool counts_page_faults(const char *counter)
{
    return strcasestr(counter, "page-fault") || strcasestr(counter, "page_fault");
}

/* Returns how many page faults were counted below a row; 0 if they were not counted. */
static double page_faults_below(const struct rows *rows, uint32_t index)
{
    const struct profile_counters *counters = row_counters(&rows->row[index], false);
    for (size_t i = 0; counters && i < rows->counter_count; i++)
        if (counts_page_faults(rows->counter_name[i]))
            return counters->value[i];
    return 0;
}

/* Returns the foreign code that a row of serial code calls and that most idleness is beside, if threads idle for longer
 * beside the start of a region there, which is no serial code; 0 otherwise. */
static uint32_t serial_call_of(const struct inquiry *inquiry, uint32_t own)
{
    const struct rows *rows = inquiry->rows;
    uint32_t most = 0;
    double most_s = 0, starts_s = 0;
    for (uint32_t i = own + 1; i < rows->row[own].end; i++) {
        if (rows->row[i].kind == ROW_STATEMENT || rows->row[i].parent != own)
            continue;
        double seconds = metric_value(rows, rows->row[i].inclusive, METRIC_IDLENESS);
        if (construct_of(rows, &rows->row[i]) == CONSTRUCT_REGION) {
            starts_s = fmax(starts_s, seconds);
        } else if (inquiry->own[i] == own && seconds > most_s) {
            most = i;
            most_s = seconds;
        }
    }
    return starts_s > most_s ? most : 0;
}

/* What a serial finding covers: a row with its callees, many small functions below a row, or one function in
 * many contexts. */
enum spread { ONE_PLACE, IN_PIECES, ONE_FUNCTION };

static void put_serial(struct inquiry *inquiry, uint32_t row, double ns, enum spread spread, uint32_t contexts,
                       const struct sleep *sleep)
{
    double seconds = ns * 1e-9;
    double idle_s = seconds + sleep->lost_ns * 1e-9;
    bool sleeps = sleep->row != ROW_NONE && sleep->blocked_ns >= MOSTLY * sleep->own_ns;
    double dropped_s = sleeps ? sleep->blocked_ns * 1e-9 : 0;
    struct relief relief = {.idle_s = idle_s,
                            .asleep_s = sleep->own_ns > 0 ? idle_s * sleep->blocked_ns / sleep->own_ns : 0,
                            .moved_s = sleep->own_ns * 1e-9,
                            .dropped_s = dropped_s,
                            .wall_s = dropped_s / inquiry->threads};
    double faults = row == ROW_NONE || spread != ONE_PLACE ? 0 : page_faults_below(inquiry->rows, row);
    bool touches = faults > 0 && sleep->own_ns < faults * FAULT_NS;
    const struct awaited *awaited = sleeps ? inquiry->awaited[sleep->row] : NULL;
    char blocked[BLOCKED_BYTES] = "", asleep[FORMAT_NUMBER_BYTES + 40] = "", wakers[WAKERS_BYTES] = "";
    struct finding finding = {
        .rule = "serial", .row = row, .metric = METRIC_IDLENESS, .seconds = seconds, .sampled = true};
    char some[64] = "";
    if (spread == ONE_PLACE && row != ROW_NONE)
        finding.call = serial_call_of(inquiry, row);
    if (spread == ONE_FUNCTION)
        snprintf(some, sizeof some, ", in %u calling contexts", contexts);
    if (sleeps) {
        describe_blocked(blocked, inquiry->rows, sleep->row, awaited);
        describe_wakers(inquiry, sleep->row, wakers);
        finding.call = spread == IN_PIECES ? 0 : sleep->row;
        snprintf(asleep, sizeof asleep, " (asleep for %s %% of the time)",
                 DECIMAL(100 * sleep->blocked_ns / sleep->own_ns, 0));
        finding.title = format_printable("%s s %s", DECIMAL(sleep->blocked_ns * 1e-9, 2), blocked);
    } else if (touches) {
        finding.title = format_printable("%s s of serial code with %s page faults (first touch)",
                                         DECIMAL(seconds / (inquiry->threads - 1), 2), DECIMAL(faults, 0));
    } else {
        finding.title = format_printable("%s s of serial code%s", DECIMAL(seconds / (inquiry->threads - 1), 2),
                                         spread == IN_PIECES ? " in small pieces" : "");
    }
    double shown = sleeps ? inquiry->threads - 1 : 1;
    finding.evidence =
        format_printable("%s of %s threads %s while %s outside parallel regions%s%s%s", DECIMAL(shown, 0),
                         DECIMAL(inquiry->threads, 0), sleeps ? "had nothing to do" : "was busy",
                         spread == IN_PIECES ? "many functions ran below this one," : "this ran", some, asleep, wakers);
    finding.advice = format_printable(
        "%s", sleeps && *awaited->what ? awaited->advice
              : sleeps  ? "Overlap the wait with other work (in a task, or a thread of its own), or let it be shorter "
                          "or less frequent. The wait needs no core, so more threads do not make it shorter."
              : touches ? "The first access to each page of new memory is a page fault. Let the threads that use the "
                          "data later touch it first, in a parallel loop with the same schedule, or reuse memory "
                          "instead of allocating it anew."
              : spread == IN_PIECES ? "The serial pieces add up. Look at the callees in the top-down view, move them "
                                      "into parallel regions, or overlap them with other work as tasks."
                                    : "Make the code parallel, overlap it with other work as a task, or do less of it. "
                                      "No number of threads makes a run shorter than its serial code.");
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Reports the function below a row that has most serial time, summed over its callers, if that time is
 * enough. */
static void find_serial_function(struct serial_search *search, uint32_t below)
{
    struct inquiry *inquiry = search->inquiry;
    const struct rows *rows = inquiry->rows;
    struct tally functions = {0};
    const struct tallied *most = NULL;
    double sum = 0;
    for (uint32_t i = below; i < rows->row[below].end; i++) {
        double own = serial_idle_ns(inquiry, i);
        if (!search->claimed[i] && own > 0)
            tally_add(&functions, rows->row[i].function, i, own);
    }
    for (size_t i = 0; i < functions.count; i++)
        if (!most || functions.item[i].ns > most->ns)
            most = &functions.item[i];
    if (most && most->contexts > 1 && finding_is_enough_idleness(inquiry, most->ns * 1e-9)) {
        struct sleep sleep = serial_sleep_of(search, below, (uint32_t)most->key);
        for (uint32_t i = below; i < rows->row[below].end; i++) {
            double own = serial_idle_ns(inquiry, i);
            if (search->claimed[i] || !(own > 0) || rows->row[i].function != most->key)
                continue;
            sum += own;
            search->claimed[i] = true;
        }
        put_serial(inquiry, most->row, sum, ONE_FUNCTION, most->contexts, &sleep);
        search->left[below] -= sum;
    }
    tally_free(&functions);
}

static void claim_subtree(struct serial_search *search, uint32_t below)
{
    for (uint32_t i = below; i < search->inquiry->rows->row[below].end; i++)
        search->claimed[i] = true;
}

/* Walks from the leaves to the root and reports a subtree as soon as it has enough. */
static void search_serial(struct serial_search *search)
{
    struct inquiry *inquiry = search->inquiry;
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = (uint32_t)rows->count; i-- > 0;) {
        double own = serial_idle_ns(inquiry, i), *left = &search->left[i];
        *left += own;
        if (inquiry->own[i] == i && finding_is_enough_idleness(inquiry, *left * 1e-9)) {
            bool pieces = own < 0.5 * *left;
            if (pieces)
                find_serial_function(search, i);
            if (finding_is_enough_idleness(inquiry, *left * 1e-9)) {
                struct sleep sleep = serial_sleep_of(search, i, ROW_NONE);
                put_serial(inquiry, i ? i : ROW_NONE, *left, pieces ? IN_PIECES : ONE_PLACE, 1, &sleep);
                claim_subtree(search, i);
                continue;
            }
        }
        if (i)
            search->left[rows->row[i].parent] += *left;
    }
}

void find_serial_code(struct inquiry *inquiry)
{
    size_t count = inquiry->rows->count;
    struct serial_search search = {.inquiry = inquiry,
                                   .left = memory_array(count, sizeof *search.left),
                                   .claimed = memory_array(count, sizeof *search.claimed)};
    search_serial(&search);
    free(search.left);
    free(search.claimed);
}

/* Returns advice on how to measure the start-up. Under `blame run`, a program that is linked with a runtime
 * has the runtime from its start; a program that loads the runtime later does not. */
static char *start_up_advice(const struct profile *profile)
{
    if (!profile_text(profile, "launcher"))
        return format_printable("Run the program with `blame run`, which measures this serial time by function.");
    const char *runtime = "libomp.so.5";
    for (size_t i = 0; i < profile->module_count; i++)
        if (profile->modules[i].flags & PROFILE_MODULE_RUNTIME &&
            strncmp(format_base_name(profile->modules[i].path), "libblame", strlen("libblame")) != 0)
            runtime = profile->modules[i].path;
    return format_printable("The program loads its OpenMP runtime only then. With `LD_PRELOAD=%s blame run ...` the "
                            "runtime is there from the start, and this serial time is measured by function.",
                            runtime);
}

void find_start_up(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        double seconds = metric_value(rows, row->exclusive, METRIC_IDLENESS);
        char asleep[FORMAT_NUMBER_BYTES + 20] = "";
        bool loading =
            profile_text(inquiry->profile, "launcher") && 1e-9 * profile_sums_own(row->exclusive) < LOADING_S;
        if (!is_before_openmp_start(row) || loading || !finding_is_enough_idleness(inquiry, seconds))
            continue;
        struct finding finding = {.rule = "start-up", .row = i, .metric = METRIC_IDLENESS, .seconds = seconds};
        struct relief relief = {.idle_s = seconds,
                                .asleep_s = seconds * row->exclusive->blocked / profile_sums_own(row->exclusive),
                                .start_s = 1e-9 * profile_sums_own(row->exclusive)};
        if (row->exclusive->blocked > 0)
            snprintf(asleep, sizeof asleep, " (asleep for %s s)", DECIMAL(1e-9 * row->exclusive->blocked, 2));
        finding.title =
            format_printable("%s s before OpenMP starts", DECIMAL(1e-9 * profile_sums_own(row->exclusive), 2));
        finding.evidence = format_printable("1 thread ran before the runtime was first used%s", asleep);
        finding.advice = start_up_advice(inquiry->profile);
        put_bounded_finding(inquiry, &finding, &relief);
    }
}
