/* needs: tests/fuzz/fake_symbols.c */
#include "report/views/summary.h"
#include "tests/unit/findings_program.h"

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
    assert_int_equal(finding->metric, METRIC_IDLENESS);
}

/* In libm, which calls back once: 1.2 s there, 0.3 s of its caller's own, 0.5 s of what it called back. */
static void foreign_code_counts_for_the_line_that_calls_it(void **state)
{
    struct made *made = *state;
    uint32_t init = add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT));
    uint32_t cosine = add(made, init, PROFILE_NODE_FRAME, FOREIGN_KEY(COSINE));
    run(made, init, 0.3, 1, 1, 0);
    run(made, cosine, 1.2, 1, 1, 0);
    run(made, add(made, cosine, PROFILE_NODE_FRAME, KEY(HEAVY)), 0.5, 1, 1, 0);
    gather(made);
    const struct finding *finding = only(made, "serial");
    assert_about(finding->seconds, 2 * (THREADS - 1));
    assert_string_equal(finding->place, "init  p.c:31 (in cos, libomp)  < main");
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
    assert_int_equal(tasks->metric, METRIC_OVERHEAD);
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

static void a_lock_held_in_foreign_code_is_told_by_the_own_line_and_so_is_its_handoff(void **state)
{
    struct made *made = *state;
    uint32_t heavy = add(made, region_below(made, made->main_node), PROFILE_NODE_FRAME, KEY(HEAVY));
    add_lock(made, add(made, heavy, PROFILE_NODE_FRAME, FOREIGN_KEY(COSINE)), 0x1234, 2);
    add_lock(made, add(made, heavy, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF), 0x1234, 4);
    gather(made);
    const struct finding *finding = only(made, "lock-bound");
    assert_about(finding->seconds, 6);
    assert_int_equal(strncmp(finding->place, "heavy  p.c:51", 13), 0);
    assert_non_null(strstr(finding->evidence, "67 % of it while nobody held the lock"));

    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    report_print_summary(out, &made->profile, &(struct report_tables){made->rows, made->locks, made->waits},
                         "dir");
    fclose(out);
    char *held = strstr(text, "This held locks"), *nobody = strstr(text, "locks that nobody held");
    assert_true(held && nobody && held < nobody);
    assert_true(strstr(held, "2.00 s  heavy  p.c:51 (in cos, libomp)") != NULL);
    assert_true(strstr(nobody, "4.00 s  heavy  p.c:51") != NULL);
    free(text);
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
int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, destroy)
    const struct CMUnitTest tests[] = {
        TEST(balanced_programs_have_no_finding),
        TEST(serial_code_is_bounded_by_amdahls_law),
        TEST(foreign_code_counts_for_the_line_that_calls_it),
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
        TEST(a_lock_held_in_foreign_code_is_told_by_the_own_line_and_so_is_its_handoff),
        TEST(nothing_is_worth_more_than_the_whole_run),
        TEST(many_small_locks_of_one_holder_add_up),
        TEST(locks_and_idleness_count_once_however_many_contexts_hold),
        TEST(time_before_openmp_is_its_own_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
