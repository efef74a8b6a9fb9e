/* Finds threads that wait for another thread in a loop of their own, which the runtime cannot know of. */
#include "command/findings/rules.h"
#include "command/findings/calls.h"
#include "command/rows/own.h"
#include "command/text/memory.h"

/* The spinning of one function in all of its contexts, in ns. */
struct spinning {
    double ns, lost_ns; /* with a core, and without one */
    double work_ns;     /* part of ns in the program's own code; the rest is in the runtime */
    double blocked_ns;  /* part of ns that samples found to be waiting, with a core or without */
    uint32_t row;       /* the row that spins most */
};

/* Returns the ns for which samples have found a merged node's threads in a loop that waits, and not in a pool's. */
static double node_blocked_ns(const struct inquiry *inquiry, size_t node)
{
    uint32_t row = inquiry->rows->node_row[node];
    bool found = row != ROW_NONE && row_is_spinning(&inquiry->rows->row[row]) && !is_of_pool(inquiry->rows, row);
    return found ? inquiry->profile->nodes[node].metric.blocked : 0;
}

/* Returns whether a merged node has sums, and is in a loop that waits. */
static bool node_spins(const struct inquiry *inquiry, size_t node)
{
    const struct rows *rows = inquiry->rows;
    unsigned kind = inquiry->profile->nodes[node].kind;
    if (node_blocked_ns(inquiry, node) > 0)
        return true;
    return rows->node_waits[node] && rows->node_row[node] != ROW_NONE && kind != PROFILE_NODE_WAITERS &&
           kind != PROFILE_NODE_LOCK && kind != PROFILE_NODE_RANKS;
}

/* Returns the row of the program's own code to which a node that spins belongs. */
static uint32_t spinner_of(const struct inquiry *inquiry, size_t node)
{
    const struct rows *rows = inquiry->rows;
    uint32_t row = rows->node_row[node];
    return rows_own(rows, row_is_no_core(&rows->row[row]) ? rows->row[row].parent : row);
}

void findings_gather_spinning(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    inquiry->spun_ns = memory_array(rows->count, sizeof *inquiry->spun_ns);
    for (size_t i = 1; i < rows->node_count; i++)
        if (node_spins(inquiry, i))
            inquiry->spun_ns[rows->node_row[i]] +=
                inquiry->profile->nodes[i].metric.work + inquiry->profile->nodes[i].metric.overhead;
}

/* Returns whether a finding says for whom a function waits. */
static bool waiting_is_told(const struct inquiry *inquiry, uint64_t function)
{
    const struct rows *rows = inquiry->rows;
    for (size_t i = 1; i < rows->count; i++)
        if (inquiry->wait_told_ns[i] > 0 && rows->row[rows_own(rows, (uint32_t)i)].function == function)
            return true;
    return false;
}

static void put_spinning(struct inquiry *inquiry, const struct spinning *spinning)
{
    double seconds = spinning->ns * 1e-9;
    bool own = spinning->work_ns >= MOSTLY * spinning->ns, blocked = spinning->blocked_ns >= MOSTLY * spinning->ns;
    char name[NAME_BYTES], call[NAME_BYTES];
    const struct row *called = &inquiry->rows->row[rows_outermost(inquiry->rows, spinning->row)];
    bool library = called->kind == ROW_INLINED && called->foreign; /* std::barrier, std::counting_semaphore */
    struct finding finding = {.rule = "spin",
                              .row = spinning->row,
                              .metric = blocked ? METRIC_BLOCKED
                                        : own   ? METRIC_WORK
                                                : METRIC_OVERHEAD,
                              .seconds = seconds,
                              .sampled = true};
    struct relief relief = {.spent_s = seconds, .not_runtime = true, .lost_s = 1e-9 * spinning->lost_ns};
    shorten_name(name, inquiry->rows->row[rows_own(inquiry->rows, spinning->row)].label->name);
    name_call(call, inquiry->rows, spinning->row);
    finding.title = library
                        ? format_printable("spin-waiting in %s, called by %s: %s", call, name, PART(inquiry, seconds))
                        : format_printable("spin-waiting on a flag in %s: %s", name, PART(inquiry, seconds));
    finding.evidence =
        blocked ? format_printable("samples found threads for %s s in sched_yield or at a pause, which only loops that "
                                   "wait contain",
                                   DECIMAL(seconds, 2))
                : format_printable("threads spun for %s s in a short loop whose passes all do the same with the same "
                                   "memory, so only another thread can end it",
                                   DECIMAL(seconds, 2));
    finding.advice = format_printable(
        "Threads wait here until another thread changes what they read. %s Better still, give the waiting threads "
        "work.",
        library ? "The library spins for a while before it lets them sleep."
        : inquiry->rows->without_openmp || inquiry->profile->header.regions == 0
            ? "Let them sleep if the cores are needed: a condition variable, std::atomic::wait, a semaphore. If the "
              "flag "
              "is a lock of your own, use a mutex: the report then says who held it."
            : "Let OpenMP do the waiting: a barrier, task dependences, or one region for the code before the flag is "
              "set and one for the code after it. If the flag is a lock of your own, use omp_set_lock or critical: the "
              "report then says who held it.");
    put_bounded_finding(inquiry, &finding, &relief);
}

/* Reports functions that spin. */
void find_spinning(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct tally functions = {0};
    if (inquiry->threads < 2 && inquiry->profile->thread_count < 2)
        return;
    for (size_t i = 1; i < rows->node_count; i++) {
        const struct profile_sums *sums = &inquiry->profile->nodes[i].metric;
        if (node_spins(inquiry, i))
            tally_add(&functions, rows->row[spinner_of(inquiry, i)].function, rows->node_row[i],
                      sums->work + sums->overhead + node_blocked_ns(inquiry, i));
    }
    for (size_t f = 0; f < functions.count; f++) {
        struct spinning spinning = {.ns = functions.item[f].ns, .row = functions.item[f].row};
        if (!finding_is_enough(inquiry, spinning.ns * 1e-9) || waiting_is_told(inquiry, functions.item[f].key))
            continue;
        for (size_t i = 1; i < rows->node_count; i++) {
            if (!node_spins(inquiry, i) || rows->row[spinner_of(inquiry, i)].function != functions.item[f].key)
                continue;
            spinning.work_ns += inquiry->profile->nodes[i].metric.work;
            spinning.blocked_ns += node_blocked_ns(inquiry, i);
            spinning.lost_ns += inquiry->profile->nodes[i].metric.no_core;
        }
        put_spinning(inquiry, &spinning);
    }
    tally_free(&functions);
}
