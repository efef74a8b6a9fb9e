/* A program made of merged nodes, for tests of findings. */
#ifndef BLAME_TESTS_UNIT_FINDINGS_PROGRAM_H
#define BLAME_TESTS_UNIT_FINDINGS_PROGRAM_H

#include <math.h>

#include "cct/profile_tree.h"
#include "command/findings/findings.h"
#include "command/views/summary.h"
#include "tests/unit/made_profile.h"

#define THREADS 4

enum {
    MAIN = 1,
    SOLVE,
    INIT,
    REGION,
    HEAVY,
    TASK,
    FORK,
    TASK_ALLOC,
    ALLOCATOR,
    DISPATCH,
    BARRIER,
    OTHER_REGION,
    COSINE
};
#define KEY(place) PROFILE_KEY(1, 0x2000 + (place))
/* Other functions, each with a name of its own and nothing special (tests/fuzz/fake_symbols.c). */
#define OTHER(i) PROFILE_KEY(1, 3ull * 5 * 7 * 11 * 13 * (1 + (uint64_t)(i)) << 8 | 1)

/* Module 2 of the fake symbols: not the program's own. */
#define FOREIGN_KEY(place) PROFILE_KEY(2, 0x2000 + (place))

struct program {
    uint32_t main_node;
    struct findings *findings;
};
static struct program program;

static uint32_t add(uint32_t parent, uint8_t kind, uint64_t key)
{
    return made_add(parent, kind, key, (struct profile_sums){0});
}

static uint32_t frame(uint32_t parent, uint64_t key)
{
    return add(parent, PROFILE_NODE_FRAME, key);
}

/* `seconds` in which `busy` threads of a team of `team` ran this code, all the others waiting in `place`. */
static void run(uint32_t node, double seconds, double busy, double team, int place)
{
    struct profile_sums *sums = &made.nodes[node].metric;
    sums->samples += (uint64_t)(seconds * busy * 200);
    if (made.nodes[node].kind != PROFILE_NODE_FRAME)
        sums->overhead += seconds * busy * S;
    else
        sums->work += seconds * busy * S;
    made.nodes[node].threads |= (1ull << (unsigned)ceil(busy)) - 1;
    sums->inverse_busy += seconds * S;
    sums->shared_idle += seconds * (team - busy) * S;
    if (team > busy) {
        uint32_t waiters = add(node, PROFILE_NODE_WAITERS, PROFILE_PLACE_KEY(place, KEY(REGION)));
        made.nodes[waiters].metric.shared_idle = seconds * (team - busy) * S;
    }
}

/* Other threads waited for a lock for that long while this code held it. */
static inline void add_lock_of(enum profile_lock_kind kind, uint32_t node, uint64_t id, double wait_s)
{
    uint32_t lock = add(node, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(kind, id));
    made.nodes[lock].metric = (struct profile_sums){.samples = (uint64_t)(wait_s * 200),
                                                    .lock_wait = wait_s * S,
                                                    .lock_wait_here = wait_s * S,
                                                    .inverse_busy = wait_s * S / THREADS};
}

static inline void add_lock(uint32_t node, uint64_t id, double wait_s)
{
    add_lock_of(PROFILE_LOCK_LOCK, node, id, wait_s);
}

static void name(int place, const char *name, int line, enum symbol_construct construct)
{
    fake_function(KEY(place), name, "/s/p.c", line, line + 1)->construct = construct;
}

/* A program of main, which has run for some seconds on all threads in a region of its own, balanced. */
static void make_program(unsigned threads, double seconds)
{
    made_start(NULL);
    name(MAIN, "main", 10, SYMBOL_PROCEDURE);
    name(SOLVE, "solve", 20, SYMBOL_PROCEDURE);
    name(INIT, "init", 30, SYMBOL_PROCEDURE);
    name(REGION, "solve [parallel p.c:40]", 40, SYMBOL_PARALLEL);
    name(HEAVY, "heavy", 50, SYMBOL_PROCEDURE);
    name(TASK, "solve [task p.c:60]", 60, SYMBOL_TASK);
    name(FORK, "__kmpc_fork_call", 0, SYMBOL_PROCEDURE);
    name(TASK_ALLOC, "__kmpc_omp_task_alloc", 0, SYMBOL_PROCEDURE);
    name(ALLOCATOR, "allocate", 70, SYMBOL_PROCEDURE);
    name(DISPATCH, "__kmpc_dispatch_next_4", 0, SYMBOL_PROCEDURE);
    name(BARRIER, "__kmpc_barrier", 0, SYMBOL_PROCEDURE);
    name(OTHER_REGION, "main [parallel p.c:90]", 90, SYMBOL_PARALLEL);
    fake_function(FOREIGN_KEY(COSINE), "cos", "", 0, 0);
    made.profile.header = (struct profile_header){.threads_max = threads,
                                                  .cores = threads,
                                                  .finished = 1,
                                                  .rate = 200,
                                                  .regions = 50,
                                                  .start_ns = 1,
                                                  .end_ns = 1};
    made.threads[0] = (struct profile_thread){.kind = 1, .end_ns = 1, .delivered = 8000, .recorded = 8000};
    program.main_node = frame(0, KEY(MAIN));
    run(frame(program.main_node, KEY(OTHER_REGION)), seconds, threads, threads, 0);
}

static inline int make(void **state)
{
    (void)state;
    make_program(THREADS, 10);
    return 0;
}

static int destroy(void **state)
{
    findings_free(program.findings);
    program.findings = NULL;
    return made_finish(state);
}

static const struct finding *gather(void)
{
    made_tables();
    findings_free(program.findings);
    program.findings = findings_gather(&made.profile, made.tables.rows, made.tables.locks, made.tables.waits);
    assert_non_null(program.findings);
    return program.findings->finding;
}

static inline const struct finding *only(const char *rule)
{
    gather();
    if (program.findings->count != 1)
        fail_msg("%zu findings instead of %s; the first is %s", program.findings->count, rule,
                 program.findings->count ? program.findings->finding[0].rule : "none");
    assert_string_equal(program.findings->finding[0].rule, rule);
    return &program.findings->finding[0];
}

/* Returns the finding with this rule among those that gather() found. */
static inline const struct finding *found(const char *rule)
{
    for (size_t i = 0; i < program.findings->count; i++)
        if (strcmp(program.findings->finding[i].rule, rule) == 0)
            return &program.findings->finding[i];
    fail_msg("no finding %s", rule);
    return NULL;
}

static inline char *summary(void)
{
    FILE *out = made_out();
    report_print_summary(out, &made.profile, &made.tables, "blame-p-1");
    fclose(out);
    return made_text;
}

/* The bound contains the sampling error. */
static inline void assert_bound(const struct finding *finding, double expected_s)
{
    if (!(finding->gain_s >= expected_s - 1e-9 && finding->gain_s <= expected_s + finding->error))
        fail_msg("%.9f instead of %.9f (+ %.9f)", finding->gain_s, expected_s, finding->error);
}

static inline void assert_about(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * fabs(expected) + 1e-9)
        fail_msg("%.9f instead of %.9f", value, expected);
}

#endif
