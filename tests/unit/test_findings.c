/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/findings_program.h"

static uint32_t region_below(uint32_t parent)
{
    return frame(frame(parent, KEY(SOLVE)), KEY(REGION));
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, destroy)

WITH_PROFILE(balanced_programs_have_no_finding)
{
    run(region_below(program.main_node), 5, THREADS, THREADS, 0);
    gather();
    assert_int_equal(program.findings->count, 0);
}

WITH_PROFILE(serial_code_is_bounded_by_amdahls_law)
{
    run(frame(program.main_node, KEY(INIT)), 2, 1, 1, 0);
    const struct finding *finding = only("serial");
    assert_about(finding->seconds, 2 * (THREADS - 1));
    assert_bound(finding, 2 - 2.0 / THREADS);
    assert_about(finding->share, 100 * 6.0 / 48);
    assert_string_equal(finding->place, "init  p.c:31  < main");
    assert_non_null(strstr(finding->title, "2.00 s of serial code"));
    assert_int_equal(finding->metric, METRIC_IDLENESS);
}

/* In libm, which calls back once: 1.2 s there, 0.3 s of its caller's own, 0.5 s of what it called back. */
WITH_PROFILE(foreign_code_counts_for_the_line_that_calls_it)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    uint32_t cosine = frame(init, FOREIGN_KEY(COSINE));
    run(init, 0.3, 1, 1, 0);
    run(cosine, 1.2, 1, 1, 0);
    run(frame(cosine, KEY(HEAVY)), 0.5, 1, 1, 0);
    const struct finding *finding = only("serial");
    assert_about(finding->seconds, 2 * (THREADS - 1));
    assert_string_equal(finding->place, "init  p.c:31 (in cos, libomp)  < main");
    /* Threads idle for longer beside the start of a region, which is no serial code. */
    uint32_t start = add(init, PROFILE_NODE_RUNTIME, KEY(FORK));
    run(start, 3, 1, 1, 0);
    gather();
    assert_string_equal(found("serial")->place, "init  p.c:31  < main");
}

WITH_PROFILE(in_a_shared_environment_serial_code_is_nobodys_fault)
{
    made.profile.header.environment = 1;
    run(frame(program.main_node, KEY(INIT)), 5, 1, 1, 0);
    gather();
    assert_int_equal(program.findings->count, 0);
}

/* 2 s in 100 functions of 20 ms, each of which also calls the allocator for 10 ms. */
WITH_PROFILE(small_serial_pieces_add_up_and_one_function_in_many_contexts_is_named)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    for (uint64_t i = 0; i < 100; i++) {
        uint32_t small = frame(solve, OTHER(i));
        run(small, 0.02, 1, 1, 0);
        run(frame(small, KEY(ALLOCATOR)), 0.015, 1, 1, 0);
    }
    gather();
    assert_int_equal(program.findings->count, 2);
    const struct finding *pieces = &program.findings->finding[0], *one = &program.findings->finding[1];
    assert_bound(pieces, 2 * 0.75);
    assert_int_equal(strncmp(pieces->place, "solve  ", 7), 0);
    assert_non_null(strstr(pieces->title, "in small pieces"));
    assert_bound(one, 1.5 * 0.75);
    assert_int_equal(strncmp(one->place, "allocate  p.c:71", 16), 0);
    assert_non_null(strstr(one->evidence, "in 100 calling contexts"));
}

WITH_PROFILE(a_region_is_judged_by_how_many_threads_were_busy)
{
    uint32_t region = region_below(program.main_node);
    uint32_t heavy = frame(region, KEY(HEAVY));
    run(region, 4, THREADS, THREADS, 0);
    run(heavy, 2, 2, THREADS, PROFILE_PLACE_WORKSHARE);
    const struct finding *finding = only("imbalance");
    assert_about(finding->seconds, 4);
    assert_bound(finding, 1);
    assert_string_equal(finding->title, "unequal work in solve [parallel p.c:40]: 3.3 of 4 threads busy");
    assert_int_equal(strncmp(finding->place, "heavy  p.c:51", 13), 0);
    assert_non_null(strstr(finding->evidence, "solve [parallel p.c:40]"));
    assert_non_null(strstr(finding->evidence, "ends of loops"));
}

WITH_PROFILE(a_region_with_one_busy_thread_is_too_coarse)
{
    run(region_below(program.main_node), 2, 1, THREADS, PROFILE_PLACE_REGION_END);
    assert_bound(only("coarse"), 1.5);
}

WITH_PROFILE(contexts_of_one_region_are_one_finding)
{
    for (uint64_t i = 0; i < 40; i++) {
        uint32_t caller = frame(program.main_node, OTHER(i));
        run(region_below(caller), 0.05, 2, THREADS, PROFILE_PLACE_BARRIER);
    }
    const struct finding *finding = only("imbalance");
    assert_about(finding->seconds, 4);
    assert_non_null(strstr(finding->evidence, "in 40 calling contexts"));
}

WITH_PROFILE(waiting_for_the_last_task_is_no_imbalance)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    run(frame(solve, KEY(TASK)), 2, 1, THREADS, PROFILE_PLACE_REGION_END);
    assert_bound(only("task-starved"), 1.5);
}

/* Tasks of one region are one finding; its title names the construct of its place. */
WITH_PROFILE(the_title_names_the_task_that_the_place_is_in)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    name(COSINE + 2, "fill [task p.c:6]", 6, SYMBOL_TASK);
    run(frame(solve, KEY(COSINE + 2)), 3, THREADS, THREADS, PROFILE_PLACE_REGION_END);
    run(frame(frame(solve, KEY(TASK)), KEY(HEAVY)), 2, 1, THREADS, PROFILE_PLACE_REGION_END);
    const struct finding *finding = only("task-starved");
    assert_has(finding->title, "too few tasks in solve [task p.c:60]:");
    assert_has(finding->place, "heavy  p.c:51  < solve [task p.c:60]");
    assert_string_equal(finding->evidence,
                        "threads waited at the end of the region for solve [task p.c:60] and 1 other");
}

WITH_PROFILE(a_region_of_two_threads_is_a_small_team)
{
    run(region_below(program.main_node), 4, 2, 2, 0);
    const struct finding *finding = only("narrow");
    assert_bound(finding, 2);
    assert_string_equal(finding->title, "small team: on average 2.0 of 4 threads take part");
}

WITH_PROFILE(overhead_is_told_by_construct)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    run(add(solve, PROFILE_NODE_RUNTIME, KEY(FORK)), 1, THREADS, THREADS, 0);
    run(add(solve, PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC)), 2, THREADS, THREADS, 0);
    gather();
    assert_int_equal(program.findings->count, 2);
    const struct finding *tasks = &program.findings->finding[0], *regions = &program.findings->finding[1];
    assert_string_equal(tasks->rule, "fine");
    assert_string_equal(tasks->title, "tasks are too small: 15 % of the effort is overhead");
    assert_bound(tasks, 2);
    assert_int_equal(tasks->metric, METRIC_OVERHEAD);
    assert_non_null(strstr(regions->evidence, "80000.0 us for each of 50 regions"));
}

WITH_PROFILE(where_the_runtime_waits_and_does_not_tell_no_region_is_too_small)
{
    uint32_t fork = add(frame(program.main_node, KEY(SOLVE)), PROFILE_NODE_RUNTIME, KEY(FORK));
    run(add(fork, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNTOLD_WAIT), 1, THREADS, THREADS, 0);
    assert_string_equal(only("fine")->title,
                        "starting and ending parallel regions takes long: 9 % of the effort is overhead");
}

WITH_PROFILE(idleness_and_overhead_together_are_one_finding)
{
    uint32_t region = region_below(program.main_node);
    run(region, 3, 2, THREADS, PROFILE_PLACE_BARRIER);
    run(add(region, PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC)), 1, THREADS, THREADS, 0);
    assert_bound(only("both"), 6.0 / 4 + 1.25 * 4.0 / 4);
}

/* Larger pieces have less of both. */
WITH_PROFILE(idleness_beside_the_overhead_itself_belongs_to_it)
{
    uint32_t region = region_below(program.main_node);
    run(region, 1, THREADS, THREADS, 0);
    run(add(region, PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC)), 3, 2, THREADS, PROFILE_PLACE_BARRIER);
    const struct finding *finding = only("fine");
    assert_has(finding->title, "tasks are too small");
    assert_bound(finding, 6.0 / 4 + 1.25 * 6.0 / 4);
}

/* The code that holds the lock takes much longer in one thread than in the others. */
WITH_PROFILE(waiting_that_exceeds_the_waiting_for_a_lock_has_another_cause)
{
    for (int waited_s = 4; waited_s <= 6; waited_s += 2) {
        uint32_t holder = frame(region_below(program.main_node), KEY(HEAVY));
        run(holder, 2, 1, THREADS, PROFILE_PLACE_BARRIER);
        add_lock(holder, 0x1234, waited_s);
        gather();
        assert_int_equal(program.findings->count, waited_s == 4 ? 2 : 1);
        bool then = strstr(found("lock-bound")->evidence, "; threads then waited 6.00 s for the last ones that got it");
        assert_int_equal(then, waited_s == 6);
        destroy(NULL);
        make(NULL);
    }
}

WITH_PROFILE(a_long_name_of_a_library_is_shown_without_arguments)
{
    enum { COPY = 50 };
    const char *const names[][2] = {
        {"std::vector<double, std::allocator<double> >::vector(std::vector<double> const&)",
         "(in std::vector::vector, libomp)"},
        {"std::istream<char>& std::getline<char, std::char_traits<char> >(int)", "(in std::getline, libomp)"},
        {"lib::(anonymous namespace)::a_function_of_a_library(int)", "(in lib::a_function_of_a_library, libomp)"},
        {"void lib::call<void (int), char>::now(int)::{lambda()#1}", "(in lib::call::now, libomp)"},
        {"std::map<int, std::string>::operator[](unsigned long)", "(in std::map<int, "},
        {"std::ostream::operator<<(int)", "(in std::ostream::operator<<(int), libomp)"}};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        fake_function(FOREIGN_KEY(COPY + i), names[i][0], "", 0, 0);
        run(frame(frame(program.main_node, KEY(INIT)), FOREIGN_KEY(COPY + i)), 10, 1, 1, 0);
        gather();
        assert_has(found("serial")->place, names[i][1]);
        destroy(NULL);
        make(NULL);
    }
}

WITH_PROFILE(locks_of_two_kinds_at_one_address_are_two)
{
    uint32_t region = region_below(program.main_node);
    const enum profile_lock_kind kind[] = {PROFILE_LOCK_LOCK, PROFILE_LOCK_NEST_LOCK};
    for (int i = 0; i < 2; i++) {
        add_lock_of(kind[i], frame(region, KEY(i ? INIT : HEAVY)), 0x1234, 6 - i);
        made.locks[made.profile.lock_count++] = (struct profile_lock){
            .key = PROFILE_LOCK_KEY(kind[i], 0x1234), .sum_ns = S, .longest_ns = (1 + i) * S, .waits = 1};
    }
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_non_null(strstr(program.findings->finding[0].evidence, "the longest wait took 1.0000 s, and heavy"));
    assert_non_null(strstr(program.findings->finding[1].evidence, "the longest wait took 2.0000 s, and init"));
}

WITH_PROFILE(a_contended_lock_is_named_and_bounded)
{
    uint32_t region = region_below(program.main_node);
    uint32_t heavy = frame(region, KEY(HEAVY));
    run(region, 2, 1, 1, 0); /* one of the four works, three wait */
    made.nodes[region].metric.inverse_busy = 2 * S / THREADS;
    add_lock(heavy, 0x1234, 6);
    const struct finding *finding = only("lock-bound");
    assert_about(finding->seconds, 6);
    assert_bound(finding, 6.0 / THREADS);
    assert_non_null(strstr(finding->title, "waiting for lock 0x1234"));
    assert_int_equal(strncmp(finding->place, "heavy", 5), 0);
}

/* As in a stripped program. */
WITH_PROFILE(a_critical_section_of_which_only_the_address_is_known_is_called_one)
{
    fake_function(OTHER(1), "p+0x1200", "", 0, 0);
    add_lock_of(PROFILE_LOCK_CRITICAL, frame(region_below(program.main_node), OTHER(1)), 0x1234, 6);
    assert_has(only("lock-bound")->title, "6.00 s of waiting for critical 0x1234");
}

WITH_PROFILE(a_lock_held_in_foreign_code_is_told_by_the_own_line_and_so_is_its_handoff)
{
    uint32_t heavy = frame(region_below(program.main_node), KEY(HEAVY));
    add_lock(frame(heavy, FOREIGN_KEY(COSINE)), 0x1234, 2);
    add_lock(add(heavy, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF), 0x1234, 4);
    const struct finding *finding = only("lock-bound");
    assert_about(finding->seconds, 6);
    assert_int_equal(strncmp(finding->place, "heavy  p.c:51", 13), 0);
    assert_non_null(strstr(finding->evidence, "for 67 % of that, nobody held the lock"));

    char *text = summary();
    char *held = strstr(text, "This held locks"), *nobody = strstr(text, "nobody held the lock");
    assert_true(held && nobody && held < nobody);
    assert_true(strstr(held, "2.00 s  heavy  p.c:51 (in cos, libomp)") != NULL);
    assert_true(strstr(nobody, "4.00 s  heavy  p.c:51") != NULL);
}

WITH_PROFILE(many_small_locks_of_one_holder_add_up)
{
    uint32_t heavy = frame(region_below(program.main_node), KEY(HEAVY));
    for (uint64_t i = 0; i < 100; i++)
        add_lock(heavy, 0x1000 + 64 * i, 0.06);
    assert_non_null(strstr(only("lock-bound")->title, "waiting for 100 locks"));
}

/* Two callers of the holder are two contexts of each lock; the idleness of their region bounds the gain once.
 */
WITH_PROFILE(locks_and_idleness_count_once_however_many_contexts_hold)
{
    uint32_t region = region_below(program.main_node);
    uint32_t heavy = frame(region, KEY(HEAVY));
    uint32_t again = frame(frame(region, OTHER(1)), KEY(HEAVY));
    run(region, 0.2, 1, THREADS, 1);
    for (uint64_t i = 0; i < 50; i++) {
        add_lock(heavy, 0x1000 + 64 * i, 0.06);
        add_lock(again, 0x1000 + 64 * i, 0.06);
    }
    const struct finding *finding = only("lock-bound");
    assert_non_null(strstr(finding->title, "waiting for 50 locks"));
    assert_bound(finding, 6.0 / THREADS + 0.6 / THREADS);
}

WITH_PROFILE(time_before_openmp_is_its_own_rule)
{
    made.profile.header.before_start_ns = (uint64_t)(3 * S);
    assert_bound(only("start-up"), 3 * 0.75);
    assert_non_null(strstr(only("start-up")->advice, "Run the program with `blame run`"));
}

WITH_PROFILE(loading_libraries_is_no_finding)
{
    static char text[] = "launcher\0blame run\0runtime\0LLVM";
    destroy(NULL);
    make_program(THREADS, 1);
    made.profile.header.before_start_ns = (uint64_t)(0.09 * S);
    only("start-up"); /* without `blame run`, it may be anything */
    made.profile.text = text;
    made.profile.text_bytes = sizeof text;
    gather();
    assert_int_equal(program.findings->count, 0);
    made.profile.text = NULL;
    made.profile.text_bytes = 0;
}

WITH_PROFILE(who_has_used_blame_run_is_not_told_to)
{
    static char text[] = "launcher\0blame run\0runtime\0LLVM";
    made.profile.header.before_start_ns = (uint64_t)(3 * S);
    made.profile.text = text;
    made.profile.text_bytes = sizeof text;
    assert_null(strstr(only("start-up")->advice, "Run the program with"));
    assert_non_null(strstr(only("start-up")->advice, "`LD_PRELOAD="));
    made.profile.text = NULL;
    made.profile.text_bytes = 0;
}

UNIT_MAIN(NULL, NULL)
