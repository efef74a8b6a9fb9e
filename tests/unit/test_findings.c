/* needs: cct/profile_read.c cct/profile_merge.c cct/profile_killed.c cct/pair_map.c cct/index_map.c
 * cct/profile_format.c report/rows.c report/tail_calls.c report/rows_order.c report/rows_metric.c
 * report/measure.c report/strings.c report/format.c report/locks.c report/waits.c report/conservation.c
 * report/write_csv.c report/rows_filter.c report/source_*.c report/view*.c report/summary.c
 * report/findings*.c tests/fuzz/fake_symbols.c */
#include <math.h>

#include "report/findings.h"
#include "report/output.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/unit.h"

#define S          1e9
#define THREADS    4
#define MOST_NODES 600
#define FRAME(k, n, l)                                                                                       \
    {                                                                                                        \
        .construct = (k), .name = (n), .host_name = "", .file = "/s/p.c", .line = (l), .at_file = "/s/p.c",  \
        .at_line = (l) + 1, .task_name = ""                                                                  \
    }

enum { MAIN = 1, SOLVE, INIT, REGION, HEAVY, TASK, FORK, TASK_ALLOC, ALLOCATOR };
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
};

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
    uint32_t i = (uint32_t)made->profile.node_count++;
    made->nodes[i] = (struct merged_node){.parent = parent, .kind = kind, .key = key};
    return i;
}

/* `seconds` in which `busy` threads of a team of `team` ran this code, all the others waiting in `place`. */
static void run(struct made *made, uint32_t node, double seconds, double busy, double team, int place)
{
    struct profile_metric *metric = &made->nodes[node].metric;
    metric->samples += (uint64_t)(seconds * busy * 200);
    if (made->nodes[node].kind == PROFILE_NODE_RUNTIME)
        metric->overhead += seconds * busy * S;
    else
        metric->work += seconds * busy * S;
    metric->inverse_busy += seconds * S;
    metric->shared_idle += seconds * (team - busy) * S;
    if (team > busy) {
        uint32_t waiters = add(made, node, PROFILE_NODE_WAITERS, PROFILE_PLACE_KEY(place, KEY(REGION)));
        made->nodes[waiters].metric.shared_idle = seconds * (team - busy) * S;
    }
}

/* A program of main, which has run 10 s on all threads in a region of its own, balanced. */
static int make(void **state)
{
    struct made *made = calloc(1, sizeof *made);
    for (int place = MAIN; place <= ALLOCATOR; place++)
        fake_symbols_set(KEY(place), frames[place], 1);
    made->profile = (struct profile){
        .nodes = made->nodes, .node_count = 1, .threads = made->thread, .thread_count = 1, .text = ""};
    made->profile.header = (struct profile_header){.threads_max = THREADS,
                                                   .cores = THREADS,
                                                   .finished = 1,
                                                   .rate = 200,
                                                   .regions = 50,
                                                   .start_ns = 1,
                                                   .end_ns = 1};
    made->thread[0] = (struct profile_thread){.kind = 1, .end_ns = 1, .delivered = 8000, .recorded = 8000};
    made->nodes[0].kind = PROFILE_NODE_ROOT;
    made->main_node = add(made, 0, PROFILE_NODE_FRAME, KEY(MAIN));
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, PROFILE_KEY(1, 0x9000)), 10, THREADS, THREADS,
        0);
    *state = made;
    return 0;
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

static const struct finding *only(const struct made *made, const char *rule)
{
    if (made->findings->count != 1)
        fail_msg("%zu findings instead of %s; the first is %s", made->findings->count, rule,
                 made->findings->count ? made->findings->finding[0].rule : "none");
    assert_string_equal(made->findings->finding[0].rule, rule);
    return &made->findings->finding[0];
}

static void assert_about(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * fabs(expected) + 1e-9)
        fail_msg("%.9f instead of %.9f", value, expected);
}

static uint32_t region_below(struct made *made, uint32_t parent)
{
    return add(made, add(made, parent, PROFILE_NODE_FRAME, KEY(SOLVE)), PROFILE_NODE_FRAME, KEY(REGION));
}

static void balanced_programs_have_no_finding(void **state)
{
    struct made *made = *state;
    run(made, region_below(made, made->main_node), 5, THREADS, THREADS, 0);
    gather(made);
    assert_int_equal(made->findings->count, 0);
}

static void serial_code_is_bounded_by_amdahls_law(void **state)
{
    struct made *made = *state;
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT)), 2, 1, 1, 0);
    gather(made);
    const struct finding *finding = only(made, "serial");
    assert_about(finding->seconds, 2 * (THREADS - 1));
    assert_about(finding->gain_s, 2 - 2.0 / THREADS);
    assert_about(finding->share, 100 * 6.0 / 48);
    assert_string_equal(finding->place, "init  p.c:31  < main");
    assert_non_null(strstr(finding->title, "2.00 s of serial code"));
    assert_int_equal(finding->measure, MEASURE_IDLENESS);
}

static void in_a_shared_environment_serial_code_is_nobodys_fault(void **state)
{
    struct made *made = *state;
    made->profile.header.environment = 1;
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT)), 5, 1, 1, 0);
    gather(made);
    assert_int_equal(made->findings->count, 0);
}

/* 2 s in 100 functions of 20 ms, each of which also calls the allocator for 10 ms. */
static void small_serial_pieces_add_up_and_one_function_in_many_contexts_is_named(void **state)
{
    struct made *made = *state;
    uint32_t solve = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(SOLVE));
    for (uint64_t i = 0; i < 100; i++) {
        uint32_t small = add(made, solve, PROFILE_NODE_FRAME, OTHER(i));
        run(made, small, 0.02, 1, 1, 0);
        run(made, add(made, small, PROFILE_NODE_FRAME, KEY(ALLOCATOR)), 0.015, 1, 1, 0);
    }
    gather(made);
    assert_int_equal(made->findings->count, 2);
    const struct finding *pieces = &made->findings->finding[0], *one = &made->findings->finding[1];
    assert_about(pieces->gain_s, 2 * 0.75);
    assert_int_equal(strncmp(pieces->place, "solve  ", 7), 0);
    assert_non_null(strstr(pieces->title, "in small pieces"));
    assert_about(one->gain_s, 1.5 * 0.75);
    assert_int_equal(strncmp(one->place, "allocate  p.c:71", 16), 0);
    assert_non_null(strstr(one->evidence, "in 100 calling contexts"));
}

static void a_region_is_judged_by_how_many_threads_were_busy(void **state)
{
    struct made *made = *state;
    uint32_t region = region_below(made, made->main_node);
    uint32_t heavy = add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY));
    run(made, region, 4, THREADS, THREADS, 0);
    run(made, heavy, 2, 2, THREADS, PROFILE_PLACE_WORKSHARE);
    gather(made);
    const struct finding *finding = only(made, "imbalance");
    assert_about(finding->seconds, 4);
    assert_about(finding->gain_s, 1);
    assert_string_equal(finding->title, "unequal work: 3.3 of 4 threads busy");
    assert_int_equal(strncmp(finding->place, "heavy  p.c:51", 13), 0);
    assert_non_null(strstr(finding->evidence, "solve [parallel p.c:40]"));
    assert_non_null(strstr(finding->evidence, "ends of loops"));
}

static void a_region_with_one_busy_thread_is_too_coarse(void **state)
{
    struct made *made = *state;
    run(made, region_below(made, made->main_node), 2, 1, THREADS, PROFILE_PLACE_REGION_END);
    gather(made);
    assert_about(only(made, "coarse")->gain_s, 1.5);
}

static void contexts_of_one_region_are_one_finding(void **state)
{
    struct made *made = *state;
    for (uint64_t i = 0; i < 40; i++) {
        uint32_t caller = add(made, made->main_node, PROFILE_NODE_FRAME, OTHER(i));
        run(made, region_below(made, caller), 0.05, 2, THREADS, PROFILE_PLACE_BARRIER);
    }
    gather(made);
    const struct finding *finding = only(made, "imbalance");
    assert_about(finding->seconds, 4);
    assert_non_null(strstr(finding->evidence, "in 40 calling contexts"));
}

static void waiting_for_the_last_task_is_no_imbalance(void **state)
{
    struct made *made = *state;
    uint32_t solve = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(SOLVE));
    run(made, add(made, solve, PROFILE_NODE_FRAME, KEY(TASK)), 2, 1, THREADS, PROFILE_PLACE_REGION_END);
    gather(made);
    assert_about(only(made, "task-starved")->gain_s, 1.5);
}

static void a_region_of_two_threads_is_a_small_team(void **state)
{
    struct made *made = *state;
    run(made, region_below(made, made->main_node), 4, 2, 2, 0);
    gather(made);
    const struct finding *finding = only(made, "narrow");
    assert_about(finding->gain_s, 2);
    assert_string_equal(finding->title, "small team: 2.0 of 4 threads");
}

static void overhead_is_told_by_construct(void **state)
{
    struct made *made = *state;
    uint32_t solve = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(SOLVE));
    run(made, add(made, solve, PROFILE_NODE_RUNTIME, KEY(FORK)), 1, THREADS, THREADS, 0);
    run(made, add(made, solve, PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC)), 2, THREADS, THREADS, 0);
    gather(made);
    assert_int_equal(made->findings->count, 2);
    const struct finding *tasks = &made->findings->finding[0], *regions = &made->findings->finding[1];
    assert_string_equal(tasks->rule, "fine");
    assert_string_equal(tasks->title, "tasks are too small: 15 % overhead");
    assert_about(tasks->gain_s, 2);
    assert_int_equal(tasks->measure, MEASURE_OVERHEAD);
    assert_non_null(strstr(regions->evidence, "80000.0 us for each of 50 regions"));
}

static void idleness_and_overhead_together_are_one_finding(void **state)
{
    struct made *made = *state;
    uint32_t region = region_below(made, made->main_node);
    run(made, region, 1, 2, THREADS, PROFILE_PLACE_BARRIER);
    run(made, add(made, region, PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC)), 2, 2, THREADS, PROFILE_PLACE_BARRIER);
    gather(made);
    assert_about(only(made, "both")->gain_s, 6.0 / 4 + 4.0 / 4);
}

static void add_lock(struct made *made, uint32_t node, uint64_t id, double wait_s)
{
    uint32_t lock = add(made, node, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, id));
    made->nodes[lock].metric = (struct profile_metric){.samples = (uint64_t)(wait_s * 200),
                                                       .lock_wait = wait_s * S,
                                                       .lock_wait_here = wait_s * S,
                                                       .inverse_busy = wait_s * S / THREADS};
}

static void a_contended_lock_is_named_and_bounded(void **state)
{
    struct made *made = *state;
    uint32_t region = region_below(made, made->main_node);
    uint32_t heavy = add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY));
    run(made, region, 2, 1, 1, 0); /* one of the four works, three wait */
    made->nodes[region].metric.inverse_busy = 2 * S / THREADS;
    add_lock(made, heavy, 0x1234, 6);
    gather(made);
    const struct finding *finding = only(made, "lock-bound");
    assert_about(finding->seconds, 6);
    assert_about(finding->gain_s, 6.0 / THREADS);
    assert_non_null(strstr(finding->title, "waiting for 0x1234"));
    assert_int_equal(strncmp(finding->place, "heavy", 5), 0);
}

static void nothing_is_worth_more_than_the_whole_run(void **state)
{
    struct made *made = *state;
    uint32_t region = region_below(made, made->main_node);
    made->profile.header.cores = 1;
    made->profile.header.end_ns = 1 + (uint64_t)(11.5 * S);
    add_lock(made, add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY)), 0x1234, 30);
    gather(made);
    bool found = false;
    for (size_t i = 0; i < made->findings->count; i++) {
        const struct finding *finding = &made->findings->finding[i];
        assert_true(finding->gain_s <= 11.5 + 1e-6);
        found |= strcmp(finding->rule, "lock-bound") == 0 && finding->gain_s > 11.4;
    }
    assert_true(found);
}

static void many_small_locks_of_one_holder_add_up(void **state)
{
    struct made *made = *state;
    uint32_t heavy = add(made, region_below(made, made->main_node), PROFILE_NODE_FRAME, KEY(HEAVY));
    for (uint64_t i = 0; i < 100; i++)
        add_lock(made, heavy, 0x1000 + 64 * i, 0.06);
    gather(made);
    assert_non_null(strstr(only(made, "lock-bound")->title, "waiting for 100 locks"));
}

/* Two callers of the holder are two contexts of each lock; the idleness of their region bounds the gain once.
 */
static void locks_and_idleness_count_once_however_many_contexts_hold(void **state)
{
    struct made *made = *state;
    uint32_t region = region_below(made, made->main_node);
    uint32_t heavy = add(made, region, PROFILE_NODE_FRAME, KEY(HEAVY));
    uint32_t again =
        add(made, add(made, region, PROFILE_NODE_FRAME, OTHER(1)), PROFILE_NODE_FRAME, KEY(HEAVY));
    run(made, region, 0.2, 1, THREADS, 1);
    for (uint64_t i = 0; i < 50; i++) {
        add_lock(made, heavy, 0x1000 + 64 * i, 0.06);
        add_lock(made, again, 0x1000 + 64 * i, 0.06);
    }
    gather(made);
    const struct finding *finding = only(made, "lock-bound");
    assert_non_null(strstr(finding->title, "waiting for 50 locks"));
    assert_about(finding->gain_s, 6.0 / THREADS + 0.6 / THREADS);
}

static void time_before_openmp_is_its_own_rule(void **state)
{
    struct made *made = *state;
    made->profile.header.before_start_ns = (uint64_t)(3 * S);
    gather(made);
    assert_about(only(made, "start-up")->gain_s, 3 * 0.75);
}

static void more_threads_than_cores_are_said(void **state)
{
    struct made *made = *state;
    made->profile.header.cores = 2;
    gather(made);
    const struct finding *finding = only(made, "oversubscribed");
    assert_string_equal(finding->title, "4.0 busy threads at a time on 2 cores");
    assert_about(finding->seconds, 20);
    assert_true(finding->row == ROW_NONE && finding->gain_s == 0 && !*finding->place);
}

static void losses_are_findings(void **state)
{
    struct made *made = *state;
    made->thread[0].end_ns = (uint64_t)(40 * S);
    made->thread[0].work = 30 * S;
    made->thread[0].dropped_ns = 10 * S;
    made->thread[0].paths_truncated = 1000;
    gather(made);
    assert_int_equal(made->findings->count, 2);
    assert_string_equal(made->findings->finding[0].rule, "lost");
    assert_about(made->findings->finding[0].seconds, 10);
    assert_non_null(strstr(made->findings->finding[0].title, "of the time is missing"));
    assert_non_null(strstr(made->findings->finding[1].title, "has no known callers"));
    assert_non_null(strstr(made->findings->finding[1].evidence, "<truncated>"));
    assert_about(made->findings->finding[1].seconds, 5);
}

static void losses_count_from_five_per_cent_on(void **state)
{
    struct made *made = *state;
    made->thread[0].end_ns = (uint64_t)(40 * S);
    made->thread[0].work = 37.8 * S;
    made->thread[0].dropped_ns = 2.2 * S;
    gather(made);
    assert_about(only(made, "lost")->seconds, 2.2);
}

static void time_without_a_busy_thread_is_said(void **state)
{
    struct made *made = *state;
    made->profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    gather(made);
    assert_string_equal(only(made, "nobody-busy")->title, "2.50 s with no thread busy");
}

static void few_samples_say_nothing_but_that(void **state)
{
    struct made *made = *state;
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT)), 5, 1, 1, 0);
    made->thread[0].delivered = 99;
    gather(made);
    assert_string_equal(only(made, "short")->title, "too short to say: 99 samples");
    assert_non_null(strstr(only(made, "short")->evidence, "gave 99 of the 100 samples"));
}

/* 8 % of 0.9 s: three sampling periods' worth at one thread. The same share of 100 times as much is one. */
static void what_sampling_error_can_make_is_no_finding(void **state)
{
    struct made *made = *state;
    uint32_t work = made->main_node + 1;
    made->nodes[work].metric = (struct profile_metric){.work = 3.3 * S, .inverse_busy = 0.825 * S};
    uint32_t init = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT));
    run(made, init, 0.1, 1, 1, 0);
    made->profile.header.rate = 20;
    gather(made);
    assert_int_equal(made->findings->count, 0);
    findings_free(made->findings);
    made->profile.header.rate = 2000;
    made->findings = findings_gather(&made->profile, made->rows, made->locks, made->waits);
    only(made, "serial");
}

static void an_empty_profile_is_short(void **state)
{
    struct made *made = *state;
    made->profile.node_count = 1;
    made->profile.thread_count = 0;
    gather(made);
    assert_string_equal(only(made, "short")->title, "too short to say: 0 samples");
}

static char *summary_of(struct made *made)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct report_tables tables = {made->rows, made->locks, made->waits};
    report_print_summary(out, &made->profile, &tables, "blame-p-1");
    fclose(out);
    return text;
}

static void the_summary_shows_at_most_three(void **state)
{
    struct made *made = *state;
    for (int place = 0; place < 5; place++)
        run(made, add(made, made->main_node, PROFILE_NODE_FRAME, OTHER(place)), 2, 1, 1, 0);
    gather(made);
    assert_int_equal(made->findings->count, 5);
    char *text = summary_of(made);
    int count = 0;
    for (const char *at = text; (at = strstr(at, "s of serial code:")); at++)
        count++;
    assert_int_equal(count, 3);
    free(text);
}

static void where_contexts_are_tiny_the_summary_shows_functions(void **state)
{
    struct made *made = *state;
    for (uint64_t i = 0; i < 500; i++) {
        uint32_t caller = add(made, made->main_node, PROFILE_NODE_FRAME, OTHER(i));
        if (made->profile.node_count < MOST_NODES - 2)
            run(made, add(made, caller, PROFILE_NODE_FRAME, KEY(ALLOCATOR)), 0.01, 1, 1, 0);
        else
            break;
    }
    gather(made);
    char *text = summary_of(made);
    assert_non_null(strstr(text, "While this ran, other threads idled (from all callers):"));
    assert_non_null(strstr(text, "s  allocate  p.c:70"));
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, destroy)
    const struct CMUnitTest tests[] = {
        TEST(balanced_programs_have_no_finding),
        TEST(serial_code_is_bounded_by_amdahls_law),
        TEST(in_a_shared_environment_serial_code_is_nobodys_fault),
        TEST(small_serial_pieces_add_up_and_one_function_in_many_contexts_is_named),
        TEST(a_region_is_judged_by_how_many_threads_were_busy),
        TEST(a_region_with_one_busy_thread_is_too_coarse),
        TEST(contexts_of_one_region_are_one_finding),
        TEST(waiting_for_the_last_task_is_no_imbalance),
        TEST(a_region_of_two_threads_is_a_small_team),
        TEST(overhead_is_told_by_construct),
        TEST(idleness_and_overhead_together_are_one_finding),
        TEST(a_contended_lock_is_named_and_bounded),
        TEST(nothing_is_worth_more_than_the_whole_run),
        TEST(many_small_locks_of_one_holder_add_up),
        TEST(locks_and_idleness_count_once_however_many_contexts_hold),
        TEST(time_before_openmp_is_its_own_rule),
        TEST(more_threads_than_cores_are_said),
        TEST(losses_are_findings),
        TEST(losses_count_from_five_per_cent_on),
        TEST(time_without_a_busy_thread_is_said),
        TEST(few_samples_say_nothing_but_that),
        TEST(what_sampling_error_can_make_is_no_finding),
        TEST(an_empty_profile_is_short),
        TEST(the_summary_shows_at_most_three),
        TEST(where_contexts_are_tiny_the_summary_shows_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
