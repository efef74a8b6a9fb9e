/* needs: tests/fuzz/fake_symbols.c */
/* Findings about constructs: which construct is named if several are slow, and once each. */
#include "tests/unit/findings_program.h"

#define WITH_CONSTRUCTS(name) UNIT_TEST_WITH(name, start, destroy)

enum { INIT_LOCK = 40, FLUSH, TEST_LOCK, UNSET_LOCK, LOOP };

static int start(void **state)
{
    make(state);
    name(INIT_LOCK, "omp_init_lock", 0, SYMBOL_PROCEDURE);
    name(TEST_LOCK, "omp_test_nest_lock", 0, SYMBOL_PROCEDURE);
    name(UNSET_LOCK, "omp_unset_nest_lock", 0, SYMBOL_PROCEDURE);
    name(FLUSH, "__kmpc_flush", 0, SYMBOL_PROCEDURE);
    return 0;
}

static uint32_t runtime(uint32_t parent, int entry)
{
    return add(parent, PROFILE_NODE_RUNTIME, KEY(entry));
}

static void assert_advice(const struct finding *finding, const char *words)
{
    if (!strstr(finding->advice, words))
        fail_msg("the advice lacks \"%s\": %s", words, finding->advice);
}

static void assert_title(const struct finding *finding, const char *begin)
{
    if (strncmp(finding->title, begin, strlen(begin)) != 0)
        fail_msg("the title does not begin with \"%s\": %s", begin, finding->title);
}

static uint32_t task(void)
{
    return frame(frame(program.main_node, KEY(SOLVE)), KEY(TASK));
}

WITH_CONSTRUCTS(tasks_with_more_overhead_than_work_are_too_small_although_threads_wait_for_them)
{
    uint32_t node = task();
    run(runtime(node, TASK_ALLOC), 3, THREADS, THREADS, 0);
    run(node, 1, 1, THREADS, PROFILE_PLACE_TASKWAIT);
    assert_title(only("fine"), "tasks are too small");
    assert_advice(only("fine"), "cut-off");
}

WITH_CONSTRUCTS(tasks_with_more_work_than_overhead_are_told_with_their_idleness)
{
    uint32_t node = task();
    run(runtime(node, TASK_ALLOC), 3, THREADS, THREADS, 0);
    run(node, 4, THREADS, THREADS, 0);
    run(node, 2, 1, THREADS, PROFILE_PLACE_TASKWAIT);
    only("both");
}

WITH_CONSTRUCTS(idleness_beside_tasks_is_kept_if_it_exceeds_the_overhead)
{
    uint32_t node = task();
    run(runtime(node, TASK_ALLOC), 1, THREADS, THREADS, 0);
    run(node, 3, 1, THREADS, PROFILE_PLACE_TASKWAIT);
    gather();
    assert_string_not_equal(program.findings->finding[0].rule, "fine");
}

/* The place of such waits is unknown. */
WITH_CONSTRUCTS(locks_are_not_named_where_there_are_none)
{
    uint32_t node = task();
    run(node, 4, THREADS, THREADS, 0);
    made.nodes[node].metric.inverse_busy += 2 * S;
    made.nodes[node].metric.work += 2 * S;
    made.nodes[node].metric.shared_idle += 2 * (THREADS - 1) * S;
    const struct finding *found = only("task-starved");
    assert_null(strstr(found->evidence, "locks"));
    assert_non_null(strstr(found->evidence, "of unknown kind"));
    made.nodes[node].metric.lock_wait = S;
    gather();
    assert_non_null(strstr(program.findings->finding[0].evidence, "beside threads that wait for locks"));
}

WITH_CONSTRUCTS(the_end_of_a_region_with_tasks_is_where_threads_look_for_tasks)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    run(frame(solve, KEY(TASK)), 2, THREADS, THREADS, 0);
    run(runtime(solve, FORK), 3, THREADS, THREADS, 0);
    assert_title(only("fine"), "tasks are too small");
}

WITH_CONSTRUCTS(code_that_creates_tasks_is_named_before_threads_that_look_for_some)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), node = task();
    run(node, 2, THREADS, THREADS, 0);
    run(runtime(solve, FORK), 3, THREADS, THREADS, 0);
    run(runtime(node, TASK_ALLOC), 1, THREADS, THREADS, 0);
    run(runtime(frame(program.main_node, KEY(INIT)), TASK_ALLOC), 0.5, THREADS, THREADS, 0);
    assert_has(only("fine")->place, "solve [task");
}

static void create_tasks(uint64_t threads, uint64_t samples)
{
    uint32_t node = task();
    run(node, 2, THREADS, THREADS, 0);
    uint32_t creation = runtime(node, TASK_ALLOC);
    run(creation, 3, THREADS, THREADS, 0);
    made.nodes[creation].threads = threads;
    made.nodes[creation].metric.samples = samples;
    gather();
    assert_string_equal(program.findings->finding[0].rule, "fine");
}

WITH_CONSTRUCTS(one_thread_that_creates_all_tasks_is_named)
{
    create_tasks(1 << 2, 100);
    assert_advice(&program.findings->finding[0], "taskloop, or let all threads");
}

WITH_CONSTRUCTS(several_threads_that_create_tasks_are_not_one)
{
    create_tasks(3, 100);
    assert_null(strstr(program.findings->finding[0].advice, "One thread"));
}

WITH_CONSTRUCTS(few_samples_do_not_tell_whether_one_thread_creates_all_tasks)
{
    create_tasks(1, 19);
    assert_null(strstr(program.findings->finding[0].advice, "One thread"));
}

/* A region that does less than starting it takes; its loop costs time as well. */
static void make_tiny_regions(uint64_t regions)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), region = frame(solve, KEY(REGION));
    made.profile.header.regions = regions;
    run(runtime(solve, FORK), 3, THREADS, THREADS, 0);
    run(runtime(region, DISPATCH), 2, THREADS, THREADS, 0);
    run(region, 0.5, THREADS, THREADS, 0);
}

WITH_CONSTRUCTS(the_loop_in_a_tiny_region_is_no_finding_of_its_own)
{
    make_tiny_regions(1000 * 1000);
    assert_title(only("fine"), "parallel regions are too small");
    assert_about(program.findings->finding[0].seconds, 5 * THREADS);
}

WITH_CONSTRUCTS(the_loop_in_a_long_region_is)
{
    make_tiny_regions(50);
    gather();
    assert_int_equal(program.findings->count, 2);
}

static void check_title_with(uint64_t regions, const char *title)
{
    made.profile.header.regions = regions;
    gather();
    assert_title(&program.findings->finding[0], title);
}

WITH_CONSTRUCTS(locks_are_polled_if_testing_them_takes_far_longer_than_releasing_them)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    run(runtime(region, TEST_LOCK), 3, THREADS, THREADS, 0);
    run(runtime(region, UNSET_LOCK), 2, THREADS, THREADS, 0);
    assert_title(only("fine"), "locks are taken too often");
    run(runtime(region, TEST_LOCK), 6, THREADS, THREADS, 0);
    assert_title(only("fine"), "threads poll locks that others hold");
    assert_advice(only("fine"), "Do less while holding the lock");
}

WITH_CONSTRUCTS(regions_are_small_only_if_there_are_many)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    run(runtime(solve, FORK), 3, THREADS, THREADS, 0);
    uint32_t region = frame(solve, KEY(REGION));
    run(region, 3, THREADS, THREADS, 0);
    check_title_with(0, "starting and ending parallel regions takes long");
    check_title_with(1000, "starting and ending parallel regions takes long");
    check_title_with(20 * 1000, "parallel regions are too small");
    run(region, 20, THREADS, THREADS, 0);
    check_title_with(20 * 1000, "starting and ending parallel regions takes long");
}

WITH_CONSTRUCTS(time_with_no_thread_busy_belongs_to_tiny_regions)
{
    make_tiny_regions(10 * 1000 * 1000);
    made.profile.header.end_ns = 1 + (uint64_t)(20 * S);
    const struct finding *found = only("fine");
    assert_non_null(strstr(found->title, "us of work in each of 10000000 regions"));
    assert_about(found->seconds, 5 * THREADS + (20 - 15.5) * THREADS);
}

/* GCC's runtime waits for the team of a region without an event. Half a second of the time with nobody busy is then
 * known to be the wait's without a core, and the finding covers it all the same. */
WITH_CONSTRUCTS(untold_waits_at_the_ends_of_tiny_regions_belong_to_them)
{
    make_tiny_regions(10 * 1000 * 1000);
    made.profile.header.end_ns = 1 + (uint64_t)(20 * S);
    uint32_t fork = runtime(frame(program.main_node, KEY(SOLVE)), FORK);
    uint32_t wait = add(fork, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNTOLD_WAIT);
    run(wait, 1, THREADS, THREADS, 0);
    double with_core_s = only("fine")->gain_s;
    uint32_t lost = add(wait, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[lost].metric = (struct profile_sums){.samples = 100, .no_core = S / 2, .inverse_busy = S / 2};
    gather();
    assert_about(found("fine")->gain_s, with_core_s);
}

/* What could be saved includes the time in which the runtime's code had no core. */
WITH_CONSTRUCTS(overhead_that_often_has_no_core_says_so)
{
    uint32_t flush = runtime(frame(program.main_node, KEY(SOLVE)), FLUSH);
    run(flush, 1, THREADS, THREADS, 0);
    assert_null(strstr(only("fine")->evidence, "no core"));
    made.nodes[add(flush, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE)].metric =
        (struct profile_sums){.samples = 1000, .no_core = 5 * S, .inverse_busy = 2 * S};
    gather();
    assert_non_null(strstr(found("fine")->evidence, "; for another 5.00 s, this code had no core"));
}

WITH_CONSTRUCTS(regions_that_are_few_do_not_explain_time_with_no_thread_busy)
{
    make_tiny_regions(50);
    made.profile.header.end_ns = 1 + (uint64_t)(20 * S);
    gather();
    assert_string_equal(program.findings->finding[0].rule, "fine");
    found("nobody-busy");
}

WITH_CONSTRUCTS(locks_that_are_made_are_not_taken_too_often)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    run(runtime(init, INIT_LOCK), 3, THREADS, THREADS, 0);
    run(init, 1, THREADS, THREADS, 0);
    assert_title(only("fine"), "many locks are made");
    assert_advice(&program.findings->finding[0], "Make fewer locks");
}

/* Code in a loop, which flushes in each pass, for 3 s. */
static void flush_in_loop(bool waits)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    uint32_t loop = frame(region, KEY(LOOP));
    fake_function(KEY(LOOP), "wait_for_flag", "/s/p.c", 80, 81)->waits = waits;
    run(region, 3, THREADS, THREADS, 0);
    run(runtime(loop, FLUSH), 2.5, THREADS, THREADS, 0);
    run(loop, 0.5, THREADS, THREADS, 0);
}

WITH_CONSTRUCTS(a_loop_that_only_another_thread_can_end_spins)
{
    flush_in_loop(true);
    assert_title(only("spin"), "spin-waiting on a flag in wait_for_flag");
    assert_int_equal(lround(program.findings->finding[0].seconds), 3 * THREADS);
}

WITH_CONSTRUCTS(flushes_in_another_loop_are_too_frequent)
{
    flush_in_loop(false);
    assert_title(only("fine"), "flushes are too frequent");
}

/* Of `sections` in a region, one function is the longest, for 4 s; others_s: all threads have other work. */
static void make_sections(double sections_share, double others_s)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), longest = frame(region, KEY(HEAVY));
    uint32_t below = frame(longest, KEY(ALLOCATOR));
    run(below, 4, 1, THREADS, PROFILE_PLACE_WORKSHARE);
    run(region, others_s, THREADS, THREADS, 0);
    for (size_t i = 1; i < made.profile.node_count; i++) {
        struct profile_idle idle = {.shared_idle = made.nodes[i].metric.shared_idle};
        if (made.nodes[i].parent != below || made.nodes[i].kind != PROFILE_NODE_WAITERS)
            continue;
        idle.loops = idle.shared_idle;
        idle.scarcity = idle.shared_idle * THREADS / 3;
        idle.sections = sections_share * idle.shared_idle;
        memcpy(&made.nodes[i].metric, &idle, sizeof idle);
    }
}

WITH_CONSTRUCTS(sections_are_named_with_the_longest_and_their_number)
{
    make_sections(1, 2);
    assert_title(only("coarse"), "sections of unequal length (the longest: heavy) in solve [parallel p.c:40]: ");
    assert_non_null(strstr(program.findings->finding[0].evidence, "beside about 3 sections"));
    assert_null(strstr(program.findings->finding[0].advice, "collapse"));
    destroy(NULL);
    start(NULL);
    make_sections(1, 0); /* all of them may be this call */
    assert_title(only("coarse"), "sections of unequal length in solve [parallel p.c:40]: ");
}

WITH_CONSTRUCTS(loops_of_few_iterations_are_not_sections)
{
    make_sections(0.3, 2);
    assert_title(only("coarse"), "too few pieces in solve [parallel p.c:40]: ");
    assert_advice(&program.findings->finding[0], "collapse");
}

/* Three threads look for tasks at the end of the region while one creates them. */
WITH_CONSTRUCTS(the_only_creator_of_tasks_is_the_cause_if_the_others_look_for_tasks)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), creation = runtime(frame(solve, KEY(REGION)), TASK_ALLOC);
    run(creation, 1, THREADS, THREADS, 0);
    made.nodes[creation].threads = 1;
    run(runtime(solve, FORK), 3, THREADS, THREADS, 0);
    run(frame(solve, KEY(TASK)), 2, THREADS, THREADS, 0);
    assert_title(only("fine"), "one thread creates all tasks, and others look for some: ");
    made.nodes[creation].threads = 3;
    assert_title(only("fine"), "tasks are too small");
}

/* Idleness of the region beside its single construct, and of its tasks. */
WITH_CONSTRUCTS(slow_creation_is_one_finding_with_the_idleness_for_its_tasks)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), region = frame(solve, KEY(REGION));
    run(region, 2, 1, THREADS, PROFILE_PLACE_WORKSHARE);
    for (size_t i = 1; i < made.profile.node_count; i++)
        if (made.nodes[i].parent == region && made.nodes[i].kind == PROFILE_NODE_WAITERS) {
            struct profile_idle idle = {.shared_idle = made.nodes[i].metric.shared_idle};
            idle.single = idle.shared_idle;
            memcpy(&made.nodes[i].metric, &idle, sizeof idle);
        }
    run(frame(solve, KEY(TASK)), 2, 2, THREADS, PROFILE_PLACE_WORKSHARE);
    assert_title(only("task-starved"), "tasks come too slowly");
    assert_about(program.findings->finding[0].seconds, 2 * 3 + 2 * 2);
    assert_advice(&program.findings->finding[0], "taskloop");
}

/* The creator does little but to create them. */
WITH_CONSTRUCTS(tasks_that_are_created_too_slowly_by_the_runtime_are_too_small)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), region = frame(solve, KEY(REGION));
    run(region, 0.5, 1, THREADS, PROFILE_PLACE_WORKSHARE);
    run(runtime(region, TASK_ALLOC), 5, 1, THREADS, PROFILE_PLACE_WORKSHARE);
    run(frame(solve, KEY(TASK)), 2, 2, THREADS, PROFILE_PLACE_WORKSHARE);
    assert_title(only("fine"), "tasks are too small");
}

WITH_CONSTRUCTS(a_region_with_idleness_and_overhead_and_its_tasks_are_one_finding)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), region = frame(solve, KEY(REGION));
    run(region, 2, 1, THREADS, PROFILE_PLACE_WORKSHARE);
    run(runtime(region, BARRIER), 1, THREADS, THREADS, 0);
    run(frame(solve, KEY(TASK)), 2, 2, THREADS, PROFILE_PLACE_WORKSHARE);
    only("both");
}

/* The end of a static loop is a barrier. Without it, the loop itself is too small; larger chunks help neither. */
WITH_CONSTRUCTS(static_loops_between_frequent_barriers_are_part_of_them)
{
    enum { STATIC_INIT = 50 };
    fake_function(KEY(STATIC_INIT), "__kmpc_for_static_init_4", "", 0, 0);
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    uint32_t barrier = runtime(region, BARRIER);
    run(runtime(region, STATIC_INIT), 1, THREADS, THREADS, 0);
    run(barrier, 2, THREADS, THREADS, 0);
    assert_title(only("fine"), "barriers are too frequent");
    assert_about(program.findings->finding[0].seconds, 3 * THREADS);
    fake_function(KEY(STATIC_INIT), "__kmpc_dispatch_next_4", "", 0, 0);
    gather();
    assert_about(found("fine")->seconds, 2 * THREADS);
    fake_function(KEY(STATIC_INIT), "__kmpc_for_static_init_4", "", 0, 0);
    made.nodes[barrier].metric = (struct profile_sums){0};
    assert_title(only("fine"), "loops are too small");
    assert_advice(&program.findings->finding[0], "larger chunks do not help");
}

/* Code of a nested region, in which one thread works for 4 s. */
WITH_CONSTRUCTS(a_nested_region_is_named_if_threads_wait_in_it_or_at_its_end)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    uint32_t code = frame(frame(frame(region, KEY(HEAVY)), KEY(OTHER_REGION)), KEY(ALLOCATOR));
    run(code, 4, 1, THREADS, PROFILE_PLACE_BARRIER); /* at a barrier of the outer region */
    struct merged_node *waiters = &made.nodes[made.profile.node_count - 1];
    assert_non_null(strstr(only("coarse")->title, " in solve [parallel p.c:40]: "));
    waiters->key = PROFILE_PLACE_KEY(PROFILE_PLACE_BARRIER, KEY(OTHER_REGION));
    assert_non_null(strstr(only("coarse")->title, " in main [parallel p.c:90]: "));
    waiters->key = PROFILE_PLACE_KEY(PROFILE_PLACE_REGION_END, KEY(HEAVY));
    assert_non_null(strstr(only("coarse")->title, " in main [parallel p.c:90]: "));
    waiters->key = PROFILE_PLACE_KEY(PROFILE_PLACE_REGION_END, KEY(SOLVE));
    assert_non_null(strstr(only("coarse")->title, " in solve [parallel p.c:40]: "));
}

enum { COPY = 50, COPYING_REGION };

/* A call in a line of a region takes 3 s of `busy` threads, for which the others wait, and the rest of the region 1 s.
 * The region's directive is in line 21. */
static uint32_t copy_in_some(const char *function, int line, unsigned busy)
{
    fake_function(KEY(COPYING_REGION), "solve [parallel p.c:21]", "/s/p.c", 21, line)->construct = SYMBOL_PARALLEL;
    fake_function(FOREIGN_KEY(COPY), function, "", 0, 0);
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(COPYING_REGION));
    uint32_t copy = frame(region, FOREIGN_KEY(COPY));
    run(copy, 3, busy, THREADS, PROFILE_PLACE_REGION_END);
    run(region, 1, THREADS, THREADS, 0);
    gather();
    return copy;
}

static void copy_in(const char *function, int line)
{
    copy_in_some(function, line, THREADS);
}

WITH_CONSTRUCTS(copies_in_the_directives_line_are_firstprivate)
{
    copy_in("__memcpy_avx512_unaligned_erms", 21);
    assert_title(only("copies"), "threads copy private variables for 12.00 s");
    assert_non_null(strstr(program.findings->finding[0].evidence, "75 % of the region's work"));
    assert_non_null(strstr(program.findings->finding[0].place, "solve [parallel p.c:21]"));
}

WITH_CONSTRUCTS(a_copy_constructor_that_the_directives_line_calls_copies)
{
    enum { CONSTRUCTOR = 60, DESTRUCTOR, NEW };
    fake_function(KEY(COPYING_REGION), "solve [parallel p.c:21]", "/s/p.c", 21, 21)->construct = SYMBOL_PARALLEL;
    fake_function(KEY(CONSTRUCTOR), "table::table(table const&)", "/s/p.c", 5, 6);
    fake_function(FOREIGN_KEY(COPY), "memmove", "", 0, 0);
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(COPYING_REGION));
    run(frame(frame(region, KEY(CONSTRUCTOR)), FOREIGN_KEY(COPY)), 3, THREADS, THREADS, 0);
    only("copies");
    /* A copy may consist of allocations, and its end takes time, too. */
    fake_function(FOREIGN_KEY(NEW), "operator new(unsigned long)", "", 0, 0);
    fake_function(KEY(DESTRUCTOR), "table::~table()", "/s/p.c", 7, 8);
    run(frame(frame(region, KEY(CONSTRUCTOR)), FOREIGN_KEY(NEW)), 3, THREADS, THREADS, 0);
    run(frame(region, KEY(DESTRUCTOR)), 2, THREADS, THREADS, 0);
    assert_title(only("copies"), "threads copy private variables for 24.00 s");
    assert_bound(&program.findings->finding[0], 8);
}

WITH_CONSTRUCTS(a_copy_constructor_of_a_template_copies)
{
    copy_in("a::table<b<int>>::table(a::table<b<int>> const&)", 21);
    only("copies");
}

WITH_CONSTRUCTS(another_function_of_one_object_copies_nothing)
{
    copy_in("a::sum::add(a::sum const&)", 21);
    assert_int_equal(program.findings->count, 0);
}

/* As in libc++, where a function __constexpr_memmove calls memmove. */
WITH_CONSTRUCTS(a_copy_inside_a_copy_counts_once)
{
    enum { OUTER = 60 };
    fake_function(KEY(COPYING_REGION), "solve [parallel p.c:21]", "/s/p.c", 21, 21)->construct = SYMBOL_PARALLEL;
    fake_function(KEY(OUTER), "std::__constexpr_memmove(char*, char const*)", "/s/p.c", 5, 6);
    fake_function(FOREIGN_KEY(COPY), "memmove", "", 0, 0);
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(COPYING_REGION));
    run(frame(frame(region, KEY(OUTER)), FOREIGN_KEY(COPY)), 3, THREADS, THREADS, 0);
    assert_title(only("copies"), "threads copy private variables for 12.00 s");
}

WITH_CONSTRUCTS(waiting_for_threads_that_copy_is_no_finding_of_its_own)
{
    uint32_t copy = copy_in_some("__memcpy_avx512_unaligned_erms", 21, 2);
    const struct finding *copies = only("copies");
    assert_bound(copies, 3.0 * 2 / THREADS + 3.0 * 2 / THREADS);
    run(copy, 5, 1, 1, 0); /* while the others have not entered */
    only("copies");
}

WITH_CONSTRUCTS(copies_in_other_lines_are_the_programs_own)
{
    copy_in("__memcpy_avx512_unaligned_erms", 22);
    assert_int_equal(program.findings->count, 0);
}

WITH_CONSTRUCTS(other_calls_in_the_directives_line_are_no_copies)
{
    copy_in("cos", 21);
    assert_int_equal(program.findings->count, 0);
}

static void take_part_late(uint64_t threads)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    run(region, 4, 1, 1, 0);
    run(region, 1, 2, 2, 0);
    made.nodes[region].threads = threads;
    gather();
    assert_string_equal(program.findings->finding[0].rule, "narrow");
}

WITH_CONSTRUCTS(a_team_in_which_all_threads_were_seen_is_not_small)
{
    take_part_late((1 << THREADS) - 1);
    assert_title(&program.findings->finding[0], "threads come late, or not always: on average 1.2 of 4");
    assert_advice(&program.findings->finding[0], "waking up");
}

WITH_CONSTRUCTS(a_team_in_which_a_thread_was_never_seen_is)
{
    take_part_late((1 << (THREADS - 1)) - 1);
    assert_title(&program.findings->finding[0], "small team: on average 1.2 of 4");
}

UNIT_MAIN(NULL, NULL)
