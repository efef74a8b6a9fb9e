/* Finds pools of threads that wait in loops of their libraries (<spinning>). */
#include <string.h>

#include "command/findings/rules.h"
#include "command/rows/own.h"
#include "command/text/memory.h"

static const struct poller {
    const char *module; /* part of the names of the library's files */
    const char *name;
    const char *advice;
} pollers[] = {
    {"openblas", "OpenBLAS",
     "OpenBLAS's threads wait in loops for each other and, for some milliseconds, for the next call. If the matrices "
     "are small, use fewer threads (OPENBLAS_NUM_THREADS). If the cores are needed otherwise, let the threads sleep "
     "sooner (OPENBLAS_THREAD_TIMEOUT=10)."},
    {"libtbb", "TBB",
     "TBB's threads look in loops for tasks before they sleep. Make more or larger tasks, or use fewer threads "
     "(tbb::global_control)."},
};

/* Returns the pool in whose library a row's thread waits: that of the innermost function, without the C library's.
 * NULL: none. */
static const struct poller *poller_of(const struct rows *rows, uint32_t row)
{
    const char *module;
    do {
        row = rows->row[row].parent;
        module = format_base_name(rows->row[row].label->module);
    } while (row && rows_module_is_language_support(module));
    for (size_t i = 0; i < sizeof pollers / sizeof *pollers; i++)
        if (strstr(module, pollers[i].module))
            return &pollers[i];
    return NULL;
}

bool is_of_pool(const struct rows *rows, uint32_t row)
{
    return poller_of(rows, row);
}

static void put_pool(struct inquiry *inquiry, const struct tallied *waiting)
{
    const struct poller *poller = poller_of(inquiry->rows, waiting->row);
    double seconds = waiting->ns * 1e-9;
    struct finding finding = {.rule = "pool",
                              .row = waiting->row,
                              .metric = METRIC_BLOCKED,
                              .rank = FINDING_TIME,
                              .seconds = seconds,
                              .sampled = true};
    finding.title = format_printable("%s s of waiting in loops of %s's threads", DECIMAL(seconds, 2), poller->name);
    finding.evidence = format_printable("samples found the threads in sched_yield or at a pause, which only loops that "
                                        "wait contain; a core on which they wait does nothing else");
    finding.advice = format_printable("%s", poller->advice);
    put_finding(inquiry, &finding);
}

void find_pools(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    struct tally pools = {0};
    for (uint32_t i = 1; i < rows->count; i++)
        if (row_is_spinning(&rows->row[i]) && is_of_pool(rows, i))
            tally_add(&pools, (uintptr_t)poller_of(rows, i), i, rows->row[i].exclusive->blocked);
    for (size_t i = 0; i < pools.count; i++)
        if (finding_is_enough(inquiry, pools.item[i].ns * 1e-9))
            put_pool(inquiry, &pools.item[i]);
    tally_free(&pools);
}
