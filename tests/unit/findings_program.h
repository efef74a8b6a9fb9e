/* A program made of merged nodes, for tests of findings. */
#ifndef BLAME_TESTS_UNIT_FINDINGS_PROGRAM_H
#define BLAME_TESTS_UNIT_FINDINGS_PROGRAM_H

#include <math.h>

#include "report/findings/findings.h"
#include "report/rows/rows.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/merged_tree.h"
#include "tests/unit/unit.h"

#define S          1e9
#define THREADS    4
#define MOST_NODES 600
#define FRAME(k, n, l)                                                                                       \
    {                                                                                                        \
        .construct = (k), .name = (n), .host_name = "", .file = "/s/p.c", .line = (l), .at_file = "/s/p.c",  \
        .at_line = (l) + 1, .task_name = ""                                                                  \
    }

enum { MAIN = 1, SOLVE, INIT, REGION, HEAVY, TASK, FORK, TASK_ALLOC, ALLOCATOR, DISPATCH, BARRIER, OTHER_REGION, COSINE };
#define KEY(place) PROFILE_KEY(1, 0x2000 + (place))
/* Other functions, each with a name of its own and nothing special (tests/fuzz/fake_symbols.c). */
#define OTHER(i) PROFILE_KEY(1, 3ull * 5 * 7 * 11 * 13 * (1 + (uint64_t)(i)) << 8 | 1)

static const struct symbol_frame frames[][1] = {
    [MAIN] = {FRAME(SYMBOL_PROCEDURE, "main", 10)},
    [SOLVE] = {FRAME(SYMBOL_PROCEDURE, "solve", 20)},
    [INIT] = {FRAME(SYMBOL_PROCEDURE, "init", 30)},
    [REGION] = {FRAME(SYMBOL_PARALLEL, "solve [parallel p.c:40]", 40)},
    [HEAVY] = {FRAME(SYMBOL_PROCEDURE, "heavy", 50)},
    [TASK] = {FRAME(SYMBOL_TASK, "solve [task p.c:60]", 60)},
    [FORK] = {FRAME(SYMBOL_PROCEDURE, "__kmpc_fork_call", 0)},
    [TASK_ALLOC] = {FRAME(SYMBOL_PROCEDURE, "__kmpc_omp_task_alloc", 0)},
    [ALLOCATOR] = {FRAME(SYMBOL_PROCEDURE, "allocate", 70)},
    [DISPATCH] = {FRAME(SYMBOL_PROCEDURE, "__kmpc_dispatch_next_4", 0)},
    [BARRIER] = {FRAME(SYMBOL_PROCEDURE, "__kmpc_barrier", 0)},
    [OTHER_REGION] = {FRAME(SYMBOL_PARALLEL, "main [parallel p.c:90]", 90)},
    [COSINE] = {{.name = "cos", .host_name = "", .file = "", .at_file = "", .task_name = ""}},
};

/* Module 2 of the fake symbols: not the program's own. */
#define FOREIGN_KEY(place) PROFILE_KEY(2, 0x2000 + (place))
static struct profile_module modules[] = {
    {.path = "/home/user/app", .flags = PROFILE_MODULE_EXECUTABLE}, {.path = "/usr/lib/libomp.so.5"}};

struct made {
    struct profile profile;
    struct merged_node nodes[MOST_NODES];
    struct profile_thread thread[1];
    struct symbols *symbols;
    struct rows *rows;
    struct lock_table *locks;
    struct wait_table *waits;
    struct findings *findings;
    uint32_t main_node;
};

static uint32_t add(struct made *made, uint32_t parent, uint8_t kind, uint64_t key)
{
    assert_true(made->profile.node_count < MOST_NODES);
    return merged_add(&made->profile, parent, kind, key, (struct profile_metric){0});
}

/* `seconds` in which `busy` threads of a team of `team` ran this code, all the others waiting in `place`. */
static void run(struct made *made, uint32_t node, double seconds, double busy, double team, int place)
{
    struct profile_metric *sums = &made->nodes[node].metric;
    sums->samples += (uint64_t)(seconds * busy * 200);
    if (made->nodes[node].kind == PROFILE_NODE_RUNTIME)
        sums->overhead += seconds * busy * S;
    else
        sums->work += seconds * busy * S;
    made->nodes[node].threads |= (1ull << (unsigned)ceil(busy)) - 1;
    sums->inverse_busy += seconds * S;
    sums->shared_idle += seconds * (team - busy) * S;
    if (team > busy) {
        uint32_t waiters = add(made, node, PROFILE_NODE_WAITERS, PROFILE_PLACE_KEY(place, KEY(REGION)));
        made->nodes[waiters].metric.shared_idle = seconds * (team - busy) * S;
    }
}

/* A program of main, which has run for some seconds on all threads in a region of its own, balanced. */
static int make_program(void **state, unsigned threads, double seconds)
{
    struct made *made = calloc(1, sizeof *made);
    for (int place = MAIN; place < COSINE; place++)
        fake_symbols_set(KEY(place), frames[place], 1);
    fake_symbols_set(FOREIGN_KEY(COSINE), frames[COSINE], 1);
    made->profile = (struct profile){
        .nodes = made->nodes, .node_count = 1, .threads = made->thread, .thread_count = 1, .modules = modules,
        .module_count = 2, .text = ""};
    made->profile.header = (struct profile_header){.threads_max = threads,
                                                   .cores = threads,
                                                   .finished = 1,
                                                   .rate = 200,
                                                   .regions = 50,
                                                   .start_ns = 1,
                                                   .end_ns = 1};
    made->thread[0] = (struct profile_thread){.kind = 1, .end_ns = 1, .delivered = 8000, .recorded = 8000};
    made->nodes[0].kind = PROFILE_NODE_ROOT;
    made->main_node = add(made, 0, PROFILE_NODE_FRAME, KEY(MAIN));
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(OTHER_REGION)), seconds, threads,
        threads, 0);
    *state = made;
    return 0;
}

static inline int make(void **state)
{
    return make_program(state, THREADS, 10);
}

static int destroy(void **state)
{
    struct made *made = *state;
    findings_free(made->findings);
    waits_free(made->waits);
    locks_free(made->locks);
    rows_free(made->rows);
    if (made->symbols)
        symbols_close(made->symbols);
    fake_symbols_clear();
    free(made);
    return 0;
}

static void gather(struct made *made)
{
    made->symbols = symbols_open(NULL, 0);
    made->rows = rows_build(&made->profile, made->symbols);
    made->locks = locks_gather(&made->profile, made->rows, made->symbols);
    made->waits = waits_gather(&made->profile, made->rows, made->locks, made->symbols);
    made->findings = findings_gather(&made->profile, made->rows, made->locks, made->waits);
    assert_non_null(made->findings);
}

static inline const struct finding *only(const struct made *made, const char *rule)
{
    if (made->findings->count != 1)
        fail_msg("%zu findings instead of %s; the first is %s", made->findings->count, rule,
                 made->findings->count ? made->findings->finding[0].rule : "none");
    assert_string_equal(made->findings->finding[0].rule, rule);
    return &made->findings->finding[0];
}

static inline void assert_about(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * fabs(expected) + 1e-9)
        fail_msg("%.9f instead of %.9f", value, expected);
}

#endif
