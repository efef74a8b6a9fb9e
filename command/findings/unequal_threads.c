/* Finds threads outside OpenMP that have unequal work: a thread waits for their ends, and the longest one ends last; or
 * they wait for each other, at barriers or in a function that waits and wakes. Finds threads that run one after the other, too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/findings/rules.h"
#include "command/rows/label.h"
#include "command/rows/own.h"
#include "command/text/memory.h"

#define NEARLY_ALL 0.8 /* least share of their lives for which a thread waits for threads that run one by one */

/* A thread that began in the function of a group. */
struct life {
    double begin_s, end_s;
    double busy_s; /* work, overhead and sleep */
};

/* The threads of one function; those that live at the same time share their work. */
struct shares {
    struct life *life;
    size_t count, room;
    double ended_s;  /* thread-seconds for which threads had ended before the longest one of their time */
    double lost_s;   /* the part of ended_s that their lack of work explains */
    double gain_s;   /* seconds of the run that equal shares would save */
    double most_s;   /* of the longest thread */
    double others_s; /* sum over the others of its time */
    size_t others;
    size_t alone;   /* number of threads beside which no other one lived, but for those that wait for their ends */
    double alone_s; /* their lives */
};

uint32_t thread_first_row(const struct rows *rows, uint32_t index)
{
    uint32_t first = ROW_NONE;
    for (; index != ROW_NONE && index != 0; index = rows->row[index].parent)
        if (rows->row[index].kind != ROW_STATEMENT && rows->row[index].kind != ROW_PSEUDO && !rows->row[index].foreign)
            first = index;
    return first;
}

bool threads_have_trees(const struct profile *profile)
{
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].tree >= THREAD_TREES)
            return false;
    return true;
}

void find_first_functions(const struct inquiry *inquiry, uint32_t first[THREAD_TREES])
{
    uint64_t seen = 0;
    for (int tree = 0; tree < THREAD_TREES; tree++)
        first[tree] = ROW_NONE;
    for (size_t i = 1; i < inquiry->profile->node_count; i++) {
        uint64_t threads = inquiry->profile->nodes[i].threads;
        uint32_t row = inquiry->rows->node_row[i];
        uint32_t begins = threads ? thread_first_row(inquiry->rows, row) : ROW_NONE;
        for (int tree = 0; tree < THREAD_TREES && begins != ROW_NONE; tree++) {
            uint32_t function = inquiry->rows->row[begins].function;
            if (!(threads >> tree & 1))
                continue;
            first[tree] = (seen >> tree & 1) && first[tree] != function ? ROW_NONE : function;
            seen |= 1ull << tree;
        }
    }
}

static int compare_begins(const void *left, const void *right)
{
    const struct life *a = left, *b = right;
    return (a->begin_s > b->begin_s) - (a->begin_s < b->begin_s);
}

/* Returns the trees of the threads that wait for the ends of threads that begin in a function. */
static uint64_t trees_that_join(const struct inquiry *inquiry, uint32_t function)
{
    const struct rows *rows = inquiry->rows;
    uint64_t trees = 0;
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        const struct merged_wake *wake = &inquiry->profile->wakes[i];
        uint32_t begins = thread_first_row(rows, row_of_node(rows, wake->waker));
        if (wake->wake == PROFILE_WAKE_END && begins != ROW_NONE && rows->row[begins].function == function)
            trees |= inquiry->profile->nodes[wake->waiter].threads;
    }
    return trees;
}

/* Returns whether another thread lived for most of a thread's life. `joins`: trees of threads that do not count. */
static bool has_company(const struct inquiry *inquiry, const struct life *life, uint64_t joins)
{
    const struct profile *profile = inquiry->profile;
    double together_s = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        double begin_s = 1e-9 * (double)thread->begin_ns, end_s = 1e-9 * (double)profile_thread_end_ns(thread);
        bool itself = begin_s == life->begin_s && end_s == life->end_s;
        if (!itself && !(joins >> thread->tree & 1))
            together_s += fmax(0, fmin(end_s, life->end_s) - fmax(begin_s, life->begin_s));
    }
    return together_s >= MOSTLY * (life->end_s - life->begin_s);
}

/* Adds threads that lived at the same time. Samples may find unequal work by chance. */
static void add_together(const struct inquiry *inquiry, struct shares *shares, const struct life *life, size_t count,
                         uint64_t joins)
{
    const struct life *most = &life[0];
    double ended_s = 0;
    for (size_t i = 1; i < count; i++)
        most = life[i].busy_s > most->busy_s ? &life[i] : most;
    for (size_t i = 0; i < count; i++) {
        double before_s = fmax(0, most->end_s - life[i].end_s), less_s = most->busy_s - life[i].busy_s;
        double error_s = ERROR_DEVIATIONS * sqrt(inquiry->period_s * (most->busy_s + life[i].busy_s));
        ended_s += less_s > error_s ? before_s : 0;
        shares->lost_s += less_s > error_s ? fmin(before_s, less_s) : 0;
    }
    if (count == 1 && !has_company(inquiry, life, joins)) {
        shares->alone++;
        shares->alone_s += life->end_s - life->begin_s;
    }
    shares->ended_s += ended_s;
    shares->gain_s += ended_s / (double)count;
    if (count < 2 || most->busy_s <= shares->most_s)
        return;
    shares->most_s = most->busy_s;
    shares->others = count - 1;
    shares->others_s = -most->busy_s;
    for (size_t i = 0; i < count; i++)
        shares->others_s += life[i].busy_s;
}

/* Gathers the threads that begin in a function. */
static void gather_shares(const struct inquiry *inquiry, uint32_t function, const uint32_t first[THREAD_TREES],
                          struct shares *shares)
{
    const struct profile *profile = inquiry->profile;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->kind != PROFILE_THREAD_OTHER || first[thread->tree % THREAD_TREES] != function)
            continue;
        memory_grow(&shares->life, &shares->room, shares->count, sizeof *shares->life);
        shares->life[shares->count++] =
            (struct life){.begin_s = 1e-9 * (double)thread->begin_ns,
                          .end_s = 1e-9 * (double)profile_thread_end_ns(thread),
                          .busy_s = 1e-9 * (thread->work + thread->overhead + thread->blocked)};
    }
    uint64_t joins = trees_that_join(inquiry, function);
    if (shares->count)
        qsort(shares->life, shares->count, sizeof *shares->life, compare_begins);
    for (size_t begin = 0, end; begin < shares->count; begin = end) {
        double all_until_s = shares->life[begin].end_s;
        for (end = begin + 1; end < shares->count && shares->life[end].begin_s < all_until_s; end++)
            all_until_s = fmin(all_until_s, shares->life[end].end_s);
        add_together(inquiry, shares, &shares->life[begin], end - begin, joins);
    }
}

/* Returns for how many seconds the threads that begin in a function wait in loops of their own: that is no work. */
static double spun_s(const struct inquiry *inquiry, uint32_t function)
{
    const struct rows *rows = inquiry->rows;
    double ns = 0;
    for (uint32_t i = 1; i < rows->count; i++) {
        double spun_ns = inquiry->spun_ns[i] + (row_is_spinning(&rows->row[i]) ? rows->row[i].exclusive->blocked : 0);
        uint32_t begins = spun_ns > 0 ? thread_first_row(rows, i) : ROW_NONE;
        if (begins != ROW_NONE && rows->row[begins].function == function)
            ns += spun_ns;
    }
    return 1e-9 * ns;
}

uint32_t busiest_row_of_threads(const struct inquiry *inquiry, uint32_t function, uint32_t *begins)
{
    const struct rows *rows = inquiry->rows;
    uint32_t most = *begins = ROW_NONE;
    double work_ns = 0;
    for (uint32_t i = 1; i < rows->count; i++) {
        uint32_t first = rows->row[i].kind == ROW_STATEMENT ? ROW_NONE : thread_first_row(rows, i);
        if (first != ROW_NONE && rows->row[first].function == function && rows->row[i].exclusive->work > work_ns) {
            work_ns = rows->row[i].exclusive->work;
            most = inquiry->own[i];
            *begins = first;
        }
    }
    return most;
}

/* Returns the row with most work of threads that begin in a function, or a row in which they wait. */
static uint32_t busiest_row(const struct inquiry *inquiry, const struct tallied *joins)
{
    uint32_t begins, most = busiest_row_of_threads(inquiry, (uint32_t)joins->key, &begins);
    return most == ROW_NONE ? joins->row : most;
}

static void put_unequal_threads(struct inquiry *inquiry, const struct shares *shares, const struct tallied *joins)
{
    const struct rows *rows = inquiry->rows;
    char name[NAME_BYTES];
    struct finding finding = {.rule = "unequal-threads",
                              .row = busiest_row(inquiry, joins),
                              .metric = METRIC_SAMPLES,
                              .seconds = shares->lost_s};
    struct relief relief = {.wall_s = fmin(shares->gain_s, 1e-9 * joins->ns), .moved_s = INFINITY};
    shorten_name(name, rows->row[joins->row].label->name);
    finding.title =
        format_printable("threads of %s have unequal work: the longest %s s, %s %s s", name, DECIMAL(shares->most_s, 2),
                         shares->others > 1 ? "the others on average" : "the other one",
                         DECIMAL(shares->others_s / (double)shares->others, 2));
    finding.evidence = format_printable(
        "threads with less work ended %s thread-seconds before the longest one, and a thread waited for their ends for "
        "%s s",
        DECIMAL(shares->ended_s, 2), DECIMAL(1e-9 * joins->ns, 2));
    finding.advice = format_printable("%s", "Divide the work into equal shares, or into small pieces that each thread "
                                            "takes when it has finished one (a shared counter or queue).");
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Returns whether all threads of a function run one after the other, and a thread waits for the end of each. */
static bool run_one_by_one(const struct shares *shares, const struct tallied *joins)
{
    return shares->count > 1 && shares->alone == shares->count && 1e-9 * joins->ns >= NEARLY_ALL * shares->alone_s;
}

/* Returns the row in which a thread waits longest for the ends of threads that begin in a function. */
static uint32_t longest_join(const struct inquiry *inquiry, const struct tallied *joins)
{
    const struct rows *rows = inquiry->rows;
    uint32_t most = joins->row;
    double most_ns = 0;
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        const struct merged_wake *wake = &inquiry->profile->wakes[i];
        uint32_t begins = thread_first_row(rows, row_of_node(rows, wake->waker));
        if (wake->wake == PROFILE_WAKE_END && begins != ROW_NONE && rows->row[begins].function == joins->key &&
            wake->ns > most_ns) {
            most = row_of_node(rows, wake->waiter);
            most_ns = wake->ns;
        }
    }
    return most;
}

static void put_one_by_one(struct inquiry *inquiry, const struct shares *shares, const struct tallied *joins)
{
    char name[NAME_BYTES];
    double waited_s = 1e-9 * joins->ns, together = fmin((double)shares->count, fmax(1, inquiry->cores));
    struct finding finding = {
        .rule = "one-by-one", .row = longest_join(inquiry, joins), .metric = METRIC_SAMPLES, .seconds = waited_s};
    struct relief relief = {.wall_s = waited_s * (1 - 1 / together), .moved_s = INFINITY};
    finding.call = finding.row;
    shorten_name(name, inquiry->rows->row[joins->row].label->name);
    finding.title = format_printable("%zu threads of %s run one after the other", shares->count, name);
    finding.evidence = format_printable(
        "no other thread lived at the same time, and a thread waited %s s for their ends", DECIMAL(waited_s, 2));
    finding.advice = format_printable(
        "Begin several threads before you wait for the end of the first: call join, or get of std::async's futures, in "
        "a second loop.");
    put_bounded_finding(inquiry, &finding, &relief);
}

/* The least and the greatest work of the threads that meet at barriers, in seconds. */
struct work {
    double most_s, least_s, lost_s; /* lost_s: what the others lack of the longest thread's work */
    double threads;
};

/* Returns whether a wait is at a barrier: one of POSIX threads, or of a library in whose same function threads wait and wake
 * the others (std::barrier::arrive_and_wait). */
static bool is_at_barrier(const struct inquiry *inquiry, const struct merged_wake *wake)
{
    const struct rows *rows = inquiry->rows;
    uint32_t waiter = rows_outermost(rows, row_of_node(rows, wake->waiter));
    uint32_t waker = rows_outermost(rows, row_of_node(rows, wake->waker));
    bool calls = rows->row[waiter].foreign && rows->row[waker].foreign;
    return wake->wake == PROFILE_WAKE_BARRIER ||
           (wake->wake == PROFILE_WAKE_FUTEX && calls && rows->row[waiter].function == rows->row[waker].function);
}

/* Returns the row of the program's own function in which threads of one kind wait for each other: it also wakes them, as a
 * barrier or a turn that the program has made itself. ROW_NONE if there is none. */
static uint32_t row_of_meeting(const struct inquiry *inquiry, const struct merged_wake *wake)
{
    const struct rows *rows = inquiry->rows;
    uint32_t row = row_of_node(rows, wake->waiter), other = row_of_node(rows, wake->waker);
    uint32_t begins = thread_first_row(rows, row), other_begins = thread_first_row(rows, other);
    if (wake->wake == PROFILE_WAKE_END || wake->wake == PROFILE_WAKE_ONCE || begins == ROW_NONE ||
        other_begins == ROW_NONE)
        return ROW_NONE;
    row = rows_own(rows, row);
    bool same = rows->row[row].function == rows->row[rows_own(rows, other)].function &&
                rows->row[begins].function == rows->row[other_begins].function;
    return same && rows->row[row].function != rows->row[begins].function ? row : ROW_NONE;
}

static bool is_meeting(const struct inquiry *inquiry, const struct merged_wake *wake)
{
    return is_at_barrier(inquiry, wake) || row_of_meeting(inquiry, wake) != ROW_NONE;
}

/* Returns whether threads that begin in one function wait at barriers for those that begin in another. */
static bool waits_at_barrier(const struct inquiry *inquiry, uint32_t waits, uint32_t comes_last)
{
    const struct rows *rows = inquiry->rows;
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        const struct merged_wake *wake = &inquiry->profile->wakes[i];
        uint32_t waiter = thread_first_row(rows, row_of_node(rows, wake->waiter));
        uint32_t waker = thread_first_row(rows, row_of_node(rows, wake->waker));
        if (is_meeting(inquiry, wake) && waiter != ROW_NONE && waker != ROW_NONE &&
            rows->row[waiter].function == waits && rows->row[waker].function == comes_last)
            return true;
    }
    return false;
}

static struct work work_of_threads(const struct inquiry *inquiry, uint32_t function, const uint32_t first[THREAD_TREES])
{
    const struct profile *profile = inquiry->profile;
    struct work work = {.least_s = INFINITY};
    double sum_s = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        double seconds = 1e-9 * (thread->work + thread->overhead);
        uint32_t begins = first[thread->tree % THREAD_TREES];
        if (begins == ROW_NONE || (begins != function && !waits_at_barrier(inquiry, begins, function)))
            continue;
        work.most_s = fmax(work.most_s, seconds);
        work.least_s = fmin(work.least_s, seconds);
        sum_s += seconds;
        work.threads++;
    }
    work.lost_s = work.threads * work.most_s - sum_s;
    return work;
}

/* Writes where threads wait most for threads that begin in a function: "at barriers", or "in" a function. */
static void name_meeting(const struct inquiry *inquiry, uint32_t function, char to[CONSTRUCT_BYTES])
{
    const struct rows *rows = inquiry->rows;
    double most_ns = 0;
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        const struct merged_wake *wake = &inquiry->profile->wakes[i];
        uint32_t begins = thread_first_row(rows, row_of_node(rows, wake->waker));
        if (begins == ROW_NONE || rows->row[begins].function != function || wake->ns <= most_ns ||
            !is_meeting(inquiry, wake))
            continue;
        char name[NAME_BYTES];
        most_ns = wake->ns;
        snprintf(to, CONSTRUCT_BYTES, "at barriers");
        if (is_at_barrier(inquiry, wake))
            continue;
        shorten_name(name, rows->row[row_of_meeting(inquiry, wake)].label->name);
        snprintf(to, CONSTRUCT_BYTES, "in %s", name);
    }
}

/* Waiting at barriers. As in regions, missing cores explain it unless the threads have unequal work in all. */
static void find_barrier(struct inquiry *inquiry, const struct tallied *waits, const uint32_t first[THREAD_TREES])
{
    double waited_s = 1e-9 * waits->ns;
    struct work work = work_of_threads(inquiry, (uint32_t)waits->key, first);
    double seconds = cores_explain(inquiry, waited_s) ? fmin(waited_s, work.lost_s) : waited_s;
    char name[NAME_BYTES], where[CONSTRUCT_BYTES] = "";
    if (!finding_is_enough(inquiry, seconds) || !(work.most_s > 0))
        return;
    struct finding finding = {
        .rule = "unequal-threads", .row = busiest_row(inquiry, waits), .metric = METRIC_SAMPLES, .seconds = seconds};
    struct relief relief = {.wall_s = waited_s / work.threads, .moved_s = INFINITY};
    shorten_name(name, inquiry->rows->row[waits->row].label->name);
    name_meeting(inquiry, (uint32_t)waits->key, where);
    finding.title = format_printable("threads wait %s s %s for threads of %s", DECIMAL(waited_s, 2), where, name);
    finding.evidence = format_printable("in all, the threads that meet there work for %s to %s s",
                                        DECIMAL(work.least_s, 2), DECIMAL(work.most_s, 2));
    finding.advice = format_printable("%s", "Divide the work between two waits into equal shares, or into small "
                                            "pieces that each thread takes when it has finished one. Let threads wait "
                                            "for each other less often.");
    put_bounded_finding(inquiry, &finding, &relief);
    for (size_t i = 0; i < inquiry->profile->wake_count; i++)
        if (is_meeting(inquiry, &inquiry->profile->wakes[i]))
            inquiry->wait_told_ns[row_of_node(inquiry->rows, inquiry->profile->wakes[i].waiter)] +=
                inquiry->profile->wakes[i].ns;
}

void find_unequal_threads(struct inquiry *inquiry)
{
    const struct profile *profile = inquiry->profile;
    uint32_t first[THREAD_TREES];
    struct tally joins = {0}, barriers = {0};
    if (inquiry->threads_told || !threads_have_trees(profile) || profile->header.regions > 0 || profile->header.merged)
        return;
    find_first_functions(inquiry, first);
    for (size_t i = 0; i < profile->wake_count; i++) {
        const struct merged_wake *wake = &profile->wakes[i];
        uint32_t begins = thread_first_row(inquiry->rows, row_of_node(inquiry->rows, wake->waker));
        if (begins != ROW_NONE && (wake->wake == PROFILE_WAKE_END || is_meeting(inquiry, wake)))
            tally_add(wake->wake == PROFILE_WAKE_END ? &joins : &barriers, inquiry->rows->row[begins].function, begins,
                      wake->ns);
    }
    for (size_t i = 0; i < joins.count; i++) {
        struct shares shares = {0};
        gather_shares(inquiry, (uint32_t)joins.item[i].key, first, &shares);
        double lost_s = shares.lost_s - spun_s(inquiry, (uint32_t)joins.item[i].key);
        if (shares.others && finding_is_enough(inquiry, lost_s))
            put_unequal_threads(inquiry, &shares, &joins.item[i]);
        if (run_one_by_one(&shares, &joins.item[i]) && finding_is_enough(inquiry, 1e-9 * joins.item[i].ns))
            put_one_by_one(inquiry, &shares, &joins.item[i]);
        free(shares.life);
    }
    for (size_t i = 0; i < barriers.count; i++)
        find_barrier(inquiry, &barriers.item[i], first);
    tally_free(&joins);
    tally_free(&barriers);
}
