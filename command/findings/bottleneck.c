/* Finds threads for which others wait all the time, while they hardly wait themselves: the slow stage of a pipeline, or a
 * slow producer. */
#include <stdlib.h>

#include "command/findings/rules.h"
#include "command/text/memory.h"

#define SELDOM 0.2 /* greatest share of its time for which a bottleneck waits for others */

/* The threads that begin in one function. */
struct stage {
    uint32_t function, threads;
    double life_s, work_s;
    double waits_s;   /* for threads of other stages */
    double awaited_s; /* for which other stages wait for this one, directly or through stages between them */
    double call_s;    /* the most of it in one row, and the row */
    uint32_t call;
};

struct stages {
    struct stage stage[THREAD_TREES];
    size_t count;
    double wait_s[THREAD_TREES][THREAD_TREES]; /* by waiting stage and awaited stage */
};

static struct stage *stage_of(struct stages *stages, uint32_t function)
{
    for (size_t i = 0; i < stages->count; i++)
        if (stages->stage[i].function == function)
            return &stages->stage[i];
    return NULL;
}

static struct stage *stage_of_node(const struct inquiry *inquiry, struct stages *stages, uint32_t node)
{
    uint32_t begins = thread_first_row(inquiry->rows, row_of_node(inquiry->rows, node));
    return begins == ROW_NONE ? NULL : stage_of(stages, inquiry->rows->row[begins].function);
}

static void gather_stages(const struct inquiry *inquiry, struct stages *stages)
{
    const struct profile *profile = inquiry->profile;
    uint32_t first[THREAD_TREES];
    find_first_functions(inquiry, first);
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (first[thread->tree] == ROW_NONE)
            continue;
        struct stage *stage = stage_of(stages, first[thread->tree]);
        if (!stage) {
            stage = &stages->stage[stages->count++];
            stage->function = first[thread->tree];
        }
        stage->threads++;
        stage->work_s += 1e-9 * (thread->work + thread->overhead);
        stage->life_s += 1e-9 * ((double)profile_thread_end_ns(thread) - (double)thread->begin_ns);
    }
}

/* Returns whether a wait is for something that the waker hands over, and not for its end. */
static bool is_for_data(const struct merged_wake *wake)
{
    return wake->wake != PROFILE_WAKE_END && wake->wake != PROFILE_WAKE_BARRIER && wake->wake != PROFILE_WAKE_ONCE;
}

/* A wait of one stage for another. */
struct stage_wait {
    struct stage *waiter, *waker;
    uint32_t row; /* in which the thread waits */
    double ns;
};

/* Stores a wait for data and returns true if it is between two stages. */
static bool wait_of_stage(const struct inquiry *inquiry, struct stages *stages, size_t number, struct stage_wait *to)
{
    const struct merged_wake *wake = &inquiry->profile->wakes[number];
    *to = (struct stage_wait){.waiter = stage_of_node(inquiry, stages, wake->waiter),
                              .waker = stage_of_node(inquiry, stages, wake->waker),
                              .row = row_of_node(inquiry->rows, wake->waiter),
                              .ns = wake->ns};
    return to->waiter && to->waker && to->waiter != to->waker && is_for_data(wake);
}

static void gather_waits(const struct inquiry *inquiry, struct stages *stages)
{
    struct stage_wait wait;
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        if (!wait_of_stage(inquiry, stages, i, &wait))
            continue;
        wait.waiter->waits_s += 1e-9 * wait.ns;
        stages->wait_s[wait.waiter - stages->stage][wait.waker - stages->stage] += 1e-9 * wait.ns;
    }
}

static bool is_bottleneck(const struct stage *stage)
{
    return stage->life_s > 0 && stage->waits_s <= SELDOM * stage->life_s;
}

/* Returns the stage that keeps threads waiting for this one: itself, or the one for which it waits most itself, and so
 * on; NULL if all of these wait for each other. */
static struct stage *culprit_of(struct stages *stages, size_t awaited)
{
    for (size_t step = 0; step < stages->count; step++) {
        size_t most = 0;
        if (is_bottleneck(&stages->stage[awaited]))
            return &stages->stage[awaited];
        for (size_t i = 1; i < stages->count; i++)
            most = stages->wait_s[awaited][i] > stages->wait_s[awaited][most] ? i : most;
        awaited = most;
    }
    return NULL;
}

/* Adds each wait to its culprit. If `told` is a stage, the rows that wait for it are told of instead. */
static void charge_waits(const struct inquiry *inquiry, struct stages *stages, const struct stage *told)
{
    struct stage_wait wait;
    for (size_t i = 0; i < inquiry->profile->wake_count; i++) {
        struct stage *culprit =
            wait_of_stage(inquiry, stages, i, &wait) ? culprit_of(stages, (size_t)(wait.waker - stages->stage)) : NULL;
        if (!culprit || culprit == wait.waiter)
            continue;
        if (told) {
            inquiry->wait_told_ns[wait.row] += culprit == told ? wait.ns : 0;
            continue;
        }
        culprit->awaited_s += 1e-9 * wait.ns;
        if (1e-9 * wait.ns > culprit->call_s) {
            culprit->call_s = 1e-9 * wait.ns;
            culprit->call = wait.row;
        }
    }
}

static void put_bottleneck(struct inquiry *inquiry, const struct stage *stage)
{
    const struct rows *rows = inquiry->rows;
    char name[NAME_BYTES], caller[NAME_BYTES], call[NAME_BYTES];
    uint32_t begins = ROW_NONE, busiest = busiest_row_of_threads(inquiry, stage->function, &begins);
    if (busiest == ROW_NONE)
        return;
    struct finding finding = {
        .rule = "bottleneck", .row = busiest, .metric = METRIC_BLOCKED, .seconds = stage->awaited_s, .sampled = true};
    /* The work of the stage is divided among any number of threads. */
    struct relief relief = {.wall_s = stage->life_s / stage->threads, .moved_s = stage->work_s};
    shorten_name(name, rows->row[begins].label->name);
    shorten_name(caller, rows->row[inquiry->own[stage->call]].label->name);
    name_call(call, rows, stage->call);
    finding.title = format_printable("threads wait %s s for %s of %s", DECIMAL(stage->awaited_s, 2),
                                     stage->threads > 1 ? "threads" : "the thread", name);
    finding.evidence = format_printable(
        "%s for others for only %s %% of %s time; most of the waiting is in %s, called by %s",
        stage->threads > 1 ? "these threads wait" : "this thread waits",
        DECIMAL(100 * stage->waits_s / stage->life_s, 0), stage->threads > 1 ? "their" : "its", call, caller);
    finding.advice = format_printable(
        "The others can only go on as fast as this code. Let more threads execute it, divide it into two stages, move "
        "parts of it to threads that wait, or make it faster. Longer queues do not help.");
    put_bounded_finding(inquiry, &finding, &relief);
}

void find_bottlenecks(struct inquiry *inquiry)
{
    if (!threads_have_trees(inquiry->profile) || inquiry->profile->header.regions > 0 ||
        inquiry->profile->header.merged)
        return;
    struct stages *stages = memory_array(1, sizeof *stages);
    gather_stages(inquiry, stages);
    gather_waits(inquiry, stages);
    charge_waits(inquiry, stages, NULL);
    for (size_t i = 0; i < stages->count; i++) {
        struct stage *stage = &stages->stage[i];
        size_t before = inquiry->findings->count;
        if (stage->threads >= inquiry->cores || !finding_is_enough(inquiry, stage->awaited_s))
            continue;
        put_bottleneck(inquiry, stage);
        if (inquiry->findings->count > before)
            charge_waits(inquiry, stages, stage);
    }
    free(stages);
}
