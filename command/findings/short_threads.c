/* Finds programs that make threads too often: making and ending them takes long beside what they do. */
#include <math.h>
#include <string.h>

#include "command/findings/rules.h"
#include "command/rows/label.h"
#include "command/text/memory.h"

#define MANY_THREADS 100 /* number of threads from which making them is a habit */

struct short_threads {
    double count;    /* threads that ended before the program did */
    double work_s;   /* their work, overhead and sleep in the program's code */
    double making_s; /* thread-seconds of making and ending threads that samples found */
    double waited_s; /* of creating threads, and of waiting for threads' ends; with a core or without */
    uint32_t row;    /* where most time is spent making them */
    double row_s;
};

static bool row_is_named(const struct row *row, const char *part)
{
    return row->kind == ROW_PROCEDURE && row->foreign && strstr(row->label->name, part);
}

static double work_s(const struct profile_sums *sums)
{
    return 1e-9 * (sums->work + sums->overhead);
}

static double waited_s(const struct profile_sums *sums)
{
    return 1e-9 * (sums->work + sums->overhead + sums->blocked + sums->no_core);
}

/* Adds the calls that make threads, and a new thread's own time before it reaches the program's code. */
static void add_rows(const struct inquiry *inquiry, struct short_threads *threads)
{
    const struct rows *rows = inquiry->rows;
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        bool makes = row_is_named(row, "pthread_create");
        if (row->parent == 0 && row_is_named(row, "start_thread")) {
            threads->making_s += work_s(row->exclusive);
            threads->work_s = fmax(0, threads->work_s - work_s(row->exclusive));
        }
        if (!makes || row_is_named(&rows->row[row->parent], "pthread_create"))
            continue;
        double seconds = work_s(row->inclusive);
        threads->making_s += seconds;
        threads->waited_s += waited_s(row->inclusive);
        if (seconds > threads->row_s) {
            threads->row_s = seconds;
            threads->row = i;
        }
    }
    for (size_t i = 0; i < inquiry->profile->wake_count; i++)
        if (inquiry->profile->wakes[i].wake == PROFILE_WAKE_END)
            threads->waited_s += 1e-9 * inquiry->profile->wakes[i].ns;
}

static void add_lives(const struct inquiry *inquiry, struct short_threads *threads)
{
    const struct profile *profile = inquiry->profile;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->kind != PROFILE_THREAD_OTHER || thread->end_ns == 0)
            continue;
        threads->count++;
        threads->work_s += 1e-9 * (thread->work + thread->overhead + thread->blocked);
    }
}

/* Writes " of f" if threads that begin in f were waited for longest. */
static void name_threads(const struct inquiry *inquiry, char to[CONSTRUCT_BYTES])
{
    struct tally ends = {0};
    double most_ns = 0;
    char name[NAME_BYTES];
    *to = '\0';
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        const struct merged_wake *wake = &inquiry->profile->wakes[i];
        uint32_t begins = thread_first_row(inquiry->rows, row_of_node(inquiry->rows, wake->waker));
        if (begins != ROW_NONE && wake->wake == PROFILE_WAKE_END)
            tally_add(&ends, inquiry->rows->row[begins].function, begins, wake->ns);
    }
    for (size_t i = 0; i < ends.count; i++) {
        if (!(ends.item[i].ns > most_ns))
            continue;
        most_ns = ends.item[i].ns;
        shorten_name(name, inquiry->rows->row[ends.item[i].row].label->name);
        snprintf(to, CONSTRUCT_BYTES, " of %s", name);
    }
    tally_free(&ends);
}

void find_short_threads(struct inquiry *inquiry)
{
    struct short_threads threads = {.row = ROW_NONE};
    if (inquiry->profile->header.merged)
        return;
    add_lives(inquiry, &threads);
    add_rows(inquiry, &threads);
    /* The kernel makes and ends threads, mostly before their first sample and after their last one. */
    double unseen_s = fmin(unseen_processor_s(inquiry), TINY_WALL_S * threads.count);
    double seconds = threads.making_s + unseen_s;
    if (threads.count < MANY_THREADS || threads.row == ROW_NONE || !finding_is_enough(inquiry, seconds) ||
        seconds > TINY_WALL_S * threads.count)
        return;
    char name[CONSTRUCT_BYTES];
    struct finding finding = {
        .rule = "short-threads", .row = threads.row, .metric = METRIC_SAMPLES, .seconds = seconds};
    /* The thread that makes the others and waits for them may lose no time with these at all. */
    struct relief relief = {
        .spent_s = threads.making_s, .not_runtime = true, .wall_s = threads.waited_s, .moved_s = threads.work_s};
    name_threads(inquiry, name);
    finding.call = finding.row;
    finding.title = format_printable("threads are made too often: %s threads%s, %s us of work each",
                                     DECIMAL(threads.count, 0), name, DECIMAL(1e6 * threads.work_s / threads.count, 0));
    finding.evidence = format_printable(
        "making and ending a thread takes %s us of processor time; for %s s, threads made others or waited for their "
        "ends",
        DECIMAL(1e6 * seconds / threads.count, 0), DECIMAL(threads.waited_s, 2));
    finding.advice = format_printable(
        "Make one thread for each core, once, and give these threads the work: a pool with a queue, a loop that OpenMP "
        "or TBB divides, or larger pieces. std::async without std::launch::deferred makes a thread for each call.");
    size_t before = inquiry->findings->count;
    put_bounded_finding(inquiry, &finding, &relief);
    inquiry->threads_told = inquiry->findings->count > before;
}
