/* Finds serial code in programs without OpenMP: code of the first thread beside which cores are idle, although the program
 * has other threads that work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/findings/rules.h"
#include "command/rows/label.h"
#include "command/text/memory.h"

/* Seconds for which code ran alone, and for which it was alone but had no core. */
struct alone {
    double own_s, lost_s;
};

/* The first thread's code, by row. */
struct alone_search {
    struct inquiry *inquiry;
    struct alone *own;  /* of a row of the program's own code, with the foreign code that it calls */
    struct alone *left; /* inclusive, without what is in a finding */
};

/* Returns the function in which the program's first thread begins; ROW_NONE if it is unknown. */
static uint32_t first_function(const struct inquiry *inquiry)
{
    const struct profile *profile = inquiry->profile;
    uint32_t first[THREAD_TREES];
    find_first_functions(inquiry, first);
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].kind == PROFILE_THREAD_INITIAL)
            return first[profile->threads[i].tree];
    return ROW_NONE;
}

static double work_of_others_s(const struct profile *profile)
{
    double ns = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].kind != PROFILE_THREAD_INITIAL)
            ns += profile->threads[i].work + profile->threads[i].overhead;
    return 1e-9 * ns;
}

/* Returns whether the row is code that a thread executes after it began in a function. */
static bool begins_in(const struct rows *rows, uint32_t row, uint32_t function)
{
    uint32_t begins = rows->row[row].kind == ROW_STATEMENT ? ROW_NONE : thread_first_row(rows, row);
    return begins != ROW_NONE && rows->row[begins].function == function;
}

/* Returns whether a finding says that other threads wait for the first one: then it is not serial code, but too slow. */
static bool first_is_told(const struct inquiry *inquiry, uint32_t function)
{
    const struct findings *findings = inquiry->findings;
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->finding[i].rule, "bottleneck") == 0 && findings->finding[i].row != ROW_NONE &&
            begins_in(inquiry->rows, findings->finding[i].row, function))
            return true;
    return false;
}

/* Returns the least seconds for which code that took ran_s ran alone. While it does, all C-1 other cores are idle; if at
 * least one other thread runs as well, the idle cores are shared among at least two, so at most (C-2)/2 are this one's.
 * idle_s: cores' idle seconds beside the code. */
static double least_alone_s(double idle_s, double ran_s, double cores)
{
    return fmax(0, (idle_s - ran_s * (cores - 2) / 2) * 2 / cores);
}

/* Threads that wait for a lock of this code leave cores idle, too, but that is the lock's. */
static void gather_alone(struct alone_search *search, uint32_t function)
{
    const struct inquiry *inquiry = search->inquiry;
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct profile_sums *sums = rows->row[i].exclusive;
        if (!begins_in(rows, i, function))
            continue;
        double idle_s = metric_value(rows, sums, METRIC_CORE_IDLENESS) - 1e-9 * sums->lock_wait;
        double ran_s = 1e-9 * (sums->work + sums->overhead + sums->no_core);
        double alone_s = least_alone_s(idle_s, ran_s, inquiry->cores);
        struct alone *own = &search->own[inquiry->own[i]];
        *(row_is_no_core(&rows->row[i]) ? &own->lost_s : &own->own_s) += alone_s;
    }
}

/* Returns whether two rows are of one function. The name of an inlined copy may lack the parameters. */
static bool is_same_function(const struct row *one, const struct row *other)
{
    const char *a = one->label->name, *b = other->label->name;
    size_t length = strcspn(a, "(");
    return one->function == other->function || (length && length == strcspn(b, "(") && strncmp(a, b, length) == 0);
}

/* Returns whether other threads execute the row's function as well. */
static bool others_execute(const struct inquiry *inquiry, uint32_t row, uint32_t first)
{
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 1; i < rows->count; i++)
        if (is_same_function(&rows->row[i], &rows->row[row]) && rows->row[i].inclusive->work > 0 &&
            rows->row[i].kind != ROW_STATEMENT && !begins_in(rows, i, first))
            return true;
    return false;
}

/* Returns the nearest caller of a row that only the first thread executes, or the row itself. If there is only the function
 * in which the thread begins, sets *shared and returns what that function calls. */
static uint32_t caller_alone(const struct inquiry *inquiry, uint32_t row, uint32_t first, bool *shared)
{
    const struct rows *rows = inquiry->rows;
    uint32_t outermost = row;
    *shared = false;
    for (; row != ROW_NONE && row != 0 && rows->row[row].function != first; row = rows->row[row].parent) {
        if (inquiry->own[row] != row)
            continue;
        if (!others_execute(inquiry, row, first))
            return row;
        outermost = row;
    }
    *shared = rows->row[outermost].function != first;
    return outermost;
}

static void put_alone(struct inquiry *inquiry, uint32_t row, const struct alone *alone, bool pieces, bool shared)
{
    char name[NAME_BYTES];
    double all_s = alone->own_s + alone->lost_s, cores = inquiry->cores;
    struct finding finding = {.rule = shared ? "unequal-threads" : "serial",
                              .row = row,
                              .metric = METRIC_WORK,
                              .seconds = alone->own_s,
                              .sampled = true};
    struct relief relief = {.wall_s = all_s * (1 - 1 / cores), .moved_s = all_s};
    shorten_name(name, inquiry->rows->row[row].label->name);
    finding.title =
        shared ? format_printable("the first thread is alone in %s for %s s", name, DECIMAL(all_s, 2))
               : format_printable("%s s of serial code%s", DECIMAL(all_s, 2), pieces ? " in small pieces" : "");
    char lacked[FORMAT_NUMBER_BYTES + 32] = "";
    if (alone->lost_s >= LEAST_GAIN_S)
        snprintf(lacked, sizeof lacked, "; it had no core for %s s of this", DECIMAL(alone->lost_s, 2));
    finding.evidence = format_printable("no other thread had anything to do while the first thread ran this%s%s",
                                        pieces ? " and what it calls" : "", lacked);
    finding.advice = format_printable(
        "%s",
        shared ? "Other threads execute this code, too, but have less of it. Divide the work into equal shares, or "
                 "into small pieces that each thread takes when it has finished one (a shared counter or queue)."
               : "Divide this work among the threads, overlap it with theirs, or do less of it. No number of threads "
                 "makes a run shorter than its serial code.");
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Walks from the leaves to the root and reports a subtree as soon as it has enough. */
static void search_alone(struct alone_search *search, uint32_t first)
{
    struct inquiry *inquiry = search->inquiry;
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = (uint32_t)rows->count; i-- > 1;) {
        struct alone *left = &search->left[i];
        left->own_s += search->own[i].own_s;
        left->lost_s += search->own[i].lost_s;
        if (inquiry->own[i] == i && finding_is_enough(inquiry, left->own_s)) {
            bool pieces = search->own[i].own_s < MOSTLY * left->own_s;
            bool shared = false;
            uint32_t caller = pieces ? i : caller_alone(inquiry, i, first, &shared);
            put_alone(inquiry, caller, left, pieces, shared);
            continue;
        }
        search->left[rows->row[i].parent].own_s += left->own_s;
        search->left[rows->row[i].parent].lost_s += left->lost_s;
    }
}

void find_alone(struct inquiry *inquiry)
{
    if (!rows_show_cores(inquiry->rows) || inquiry->cores < 2 || !threads_have_trees(inquiry->profile) ||
        !finding_is_enough(inquiry, work_of_others_s(inquiry->profile)))
        return;
    uint32_t first = first_function(inquiry);
    if (first == ROW_NONE || first_is_told(inquiry, first))
        return;
    struct alone_search search = {.inquiry = inquiry,
                                  .own = memory_array(inquiry->rows->count, sizeof *search.own),
                                  .left = memory_array(inquiry->rows->count, sizeof *search.left)};
    gather_alone(&search, first);
    search_alone(&search, first);
    free(search.own);
    free(search.left);
}
