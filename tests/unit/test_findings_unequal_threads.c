/* needs: tests/fuzz/fake_symbols.c */
/* Findings about threads outside OpenMP that have unequal work, or wait for a bottleneck. */
#include "tests/unit/findings_program.h"

enum { JOIN = 40, BARRIER_WAIT, CONDITION_WAIT, CREATE, START };

static void assert_in(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("no \"%s\" in \"%s\"", words, text);
}

static void assert_no_finding(void)
{
    gather();
    assert_int_equal(program.findings->count, 0);
}

/* main() makes three threads of HEAVY, which work so long, and waits for their ends. */
static void make_threads(double first_s, double second_s, double third_s)
{
    const double work[] = {0, first_s, second_s, third_s};
    make_program(THREADS, 0.001);
    for (uint32_t i = 0; i < made.profile.node_count; i++)
        made.nodes[i].threads = 0;
    fake_function(FOREIGN_KEY(JOIN), "pthread_join", "", 0, 0);
    uint32_t join = frame(program.main_node, FOREIGN_KEY(JOIN));
    uint32_t begins = frame(0, KEY(HEAVY)), node = frame(begins, KEY(INIT));
    double all_s = first_s + second_s + third_s, most_s = fmax(first_s, fmax(second_s, third_s));
    made.nodes[join].metric = (struct profile_sums){.samples = 800, .blocked = most_s * S, .inverse_busy = 0.1 * S};
    made.nodes[node].metric = (struct profile_sums){.samples = 1600, .work = all_s * S, .inverse_busy = most_s * S};
    made.nodes[node].threads = 2 + 4 + 8;
    made.profile.header.environment = 1; /* no team: idle threads are not counted */
    made.profile.header.regions = 0;
    made.profile.header.end_ns = 1 + (uint64_t)(most_s * S);
    made.profile.header.rate = 100000000; /* no sampling error */
    made.profile.thread_count = THREADS;
    made.threads[0].blocked = most_s * S;
    made.threads[0].core_source = PROFILE_CORE_SCHEDSTAT;
    for (uint64_t i = 1; i < THREADS; i++)
        made.threads[i] = (struct profile_thread){.kind = PROFILE_THREAD_OTHER,
                                                  .tree = i,
                                                  .begin_ns = i,
                                                  .end_ns = (uint64_t)(work[i] * S),
                                                  .core_source = PROFILE_CORE_SCHEDSTAT,
                                                  .delivered = 800,
                                                  .recorded = 800,
                                                  .work = work[i] * S};
    static struct merged_wake wake;
    wake = (struct merged_wake){.waiter = join, .waker = node, .wake = PROFILE_WAKE_END, .ns = most_s * S};
    made.profile.wakes = &wake;
    made.profile.wake_count = 1;
}

UNIT_TEST_WITH(threads_with_unequal_work_are_a_finding, NULL, destroy)
{
    make_threads(5, 2, 2);
    const struct finding *finding = only("unequal-threads");
    assert_string_equal(finding->title,
                        "threads of heavy have unequal work: the longest 5.00 s, the others on average 2.00 s");
    assert_in(finding->place, "init  p.c:3");
    assert_in(finding->evidence, "ended 6.00 thread-seconds before the longest one");
    assert_about(finding->seconds, 6);
    assert_in(finding->advice, "shared counter");
    assert_about(finding->gain_s, 2); /* 9 s on three threads */
}

/* main() makes so many threads, one after the other. */
static const struct finding *make_many_threads(size_t count, double create_s)
{
    static struct profile_thread many[201];
    make_threads(0.3, 0.3, 0.3);
    fake_function(FOREIGN_KEY(CREATE), "__pthread_create_2_1", "", 0, 0);
    fake_function(FOREIGN_KEY(START), "start_thread", "", 0, 0);
    made_work(program.main_node, FOREIGN_KEY(CREATE), create_s);
    made_work(0, FOREIGN_KEY(START), 0.05);
    made.profile.header.end_ns = 1 + (uint64_t)(0.5 * S);
    made.threads[0].work = create_s * S;
    many[0] = made.threads[0];
    for (size_t i = 1; i <= count; i++) {
        many[i] = made.threads[1];
        many[i].work = 0.95 * S / (double)count;
    }
    made.profile.threads = many;
    made.profile.thread_count = count + 1;
    return gather();
}

UNIT_TEST_WITH(few_samples_do_not_tell_that_work_is_unequal, NULL, destroy)
{
    make_threads(0.3, 0.2, 0.1);
    only("unequal-threads");
    made.profile.header.rate = 10;
    assert_no_finding();
}

UNIT_TEST_WITH(a_thread_without_a_core_before_its_first_function_begins_in_this, NULL, destroy)
{
    make_threads(5, 2, 2);
    fake_function(FOREIGN_KEY(START), "start_thread", "", 0, 0);
    uint32_t late = add(frame(0, FOREIGN_KEY(START)), PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[late].metric = (struct profile_sums){.samples = 1, .no_core = 0.01 * S};
    made.nodes[late].threads = 2;
    only("unequal-threads");
}

UNIT_TEST_WITH(many_short_threads_are_made_too_often, NULL, destroy)
{
    const struct finding *finding = make_many_threads(200, 0.1);
    assert_int_equal(program.findings->count, 1);
    assert_string_equal(finding->title, "threads are made too often: 200 threads of heavy, 4500 us of work each");
    assert_string_equal(finding->place, "main  p.c:11");
    assert_in(finding->evidence, "takes 750 us of processor time; for 0.40 s, threads made others or waited");
    assert_true(fabs(finding->gain_s - (0.5 - 0.9 / 4)) < 0.001); /* the work on four cores is left */
}

UNIT_TEST_WITH(few_threads_and_threads_that_are_made_quickly_are_not_too_many, NULL, destroy)
{
    for (int few = 0; few < 2; few++) {
        make_many_threads(few ? 99 : 200, few ? 0.1 : 0.001);
        for (size_t i = 0; i < program.findings->count; i++)
            assert_string_not_equal(program.findings->finding[i].rule, "short-threads");
        destroy(NULL);
    }
    make_threads(1, 1, 1);
}

UNIT_TEST_WITH(on_fewer_cores_than_threads_equal_shares_save_less, NULL, destroy)
{
    make_threads(5, 2, 2);
    made.profile.header.cores = 2;
    if (fabs(only("unequal-threads")->gain_s - 0.5) > 0.005) /* 9 s on two cores */
        fail_msg("%f", program.findings->finding[0].gain_s);
}

/* Nor do they have unequal work if the longest one waits in a loop. */
UNIT_TEST_WITH(waiting_in_a_loop_is_no_unequal_work, NULL, destroy)
{
    make_threads(5, 2, 2);
    uint32_t spins = add(made.profile.wakes->waker, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_SPINNING);
    made.nodes[spins].threads = 2;
    made.nodes[spins].metric = (struct profile_sums){.samples = 600, .blocked = 6 * S, .inverse_busy = 3 * S};
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_not_equal(program.findings->finding[i].rule, "unequal-threads");
}

/* They end early because others lacked a core, or to make room for the next, or nobody waits for them. */
UNIT_TEST_WITH(threads_that_end_early_need_not_have_less_work, NULL, destroy)
{
    make_threads(4, 4, 4);
    made.threads[1].end_ns = made.profile.header.end_ns = (uint64_t)(6 * S);
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_not_equal(program.findings->finding[i].rule, "unequal-threads");
    destroy(NULL);
    make_threads(5, 2, 2);
    made.threads[2].begin_ns = made.threads[1].end_ns;
    made.threads[2].end_ns = made.threads[3].begin_ns = made.threads[1].end_ns + (uint64_t)(2 * S);
    made.threads[3].end_ns = made.profile.header.end_ns = made.threads[2].end_ns + (uint64_t)(2 * S);
    made.nodes[made.profile.wakes->waker].metric.inverse_busy = 9 * S;
    assert_no_finding();
    destroy(NULL);
    make_threads(5, 2, 2);
    made.profile.wake_count = 0;
    assert_no_finding();
}

UNIT_TEST_WITH(threads_that_begin_in_different_functions_do_different_work, NULL, destroy)
{
    make_threads(5, 2, 2);
    uint32_t other = frame(0, KEY(SOLVE));
    made.nodes[other].metric = (struct profile_sums){.samples = 800, .work = 4 * S, .inverse_busy = 2 * S};
    made.nodes[other].threads = 4 + 8;
    made.nodes[made.profile.wakes->waker].threads = 2;
    assert_no_finding();
}

/* Each waits at barriers for the one that works for 5 s; nobody works while they all do. */
UNIT_TEST_WITH(threads_that_wait_at_barriers_have_unequal_work, NULL, destroy)
{
    make_threads(5, 2, 2);
    fake_function(FOREIGN_KEY(BARRIER_WAIT), "pthread_barrier_wait", "", 0, 0);
    uint32_t waits = frame(made.profile.wakes->waker, FOREIGN_KEY(BARRIER_WAIT));
    made.nodes[waits].metric = (struct profile_sums){.samples = 1200, .blocked = 6 * S};
    for (int i = 2; i < THREADS; i++) {
        made.threads[i].blocked = 3 * S;
        made.threads[i].end_ns = made.threads[1].end_ns;
    }
    made.profile.wakes->waiter = waits;
    made.profile.wakes->wake = PROFILE_WAKE_BARRIER;
    made.profile.wakes->ns = 6 * S;
    const struct finding *finding = only("unequal-threads");
    assert_string_equal(finding->title, "threads wait 6.00 s at barriers for threads of heavy");
    assert_in(finding->evidence, "work for 2.00 to 5.00 s");
    assert_about(finding->seconds, 6);
    assert_about(finding->gain_s, 2);
    made.profile.header.threads_max = 1; /* linked with a runtime, but without regions: the wait is no second finding */
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_null(strstr(program.findings->finding[i].title, "blocked in pthread_barrier_wait"));
    made.profile.header.threads_max = THREADS;
    uint32_t slow = frame(0, KEY(SOLVE)); /* what the others wait for begins in another function */
    made.nodes[slow].metric = (struct profile_sums){.samples = 1000, .work = 5 * S, .inverse_busy = 5 * S};
    made.nodes[made.profile.wakes->waker].metric = (struct profile_sums){.samples = 800, .work = 4 * S};
    made.nodes[slow].threads = 2;
    made.nodes[made.profile.wakes->waker].threads = 4 + 8;
    made.profile.wakes->waker = slow;
    finding = only("unequal-threads");
    assert_string_equal(finding->title, "threads wait 6.00 s at barriers for threads of solve");
    assert_in(finding->evidence, "work for 2.00 to 5.00 s");
    assert_about(finding->gain_s, 2);
    made.profile.wakes->ns = 0.1 * S;
    assert_no_finding();
}

/* std::barrier sleeps in a futex. Threads that pass tasks to each other do, too, but not in one function. */
UNIT_TEST_WITH(a_function_of_a_library_that_waits_and_wakes_is_a_barrier, NULL, destroy)
{
    make_threads(5, 2, 2);
    fake_function(FOREIGN_KEY(BARRIER_WAIT), "std::barrier<>::arrive_and_wait()", "", 0, 0);
    fake_function(FOREIGN_KEY(CONDITION_WAIT), "arrive", "", 0, 0);
    uint32_t waits = frame(made.profile.wakes->waker, FOREIGN_KEY(BARRIER_WAIT));
    made.nodes[waits].metric = (struct profile_sums){.samples = 1200, .blocked = 6 * S};
    for (int i = 2; i < THREADS; i++) {
        made.threads[i].blocked = 3 * S;
        made.threads[i].end_ns = made.threads[1].end_ns;
    }
    made.profile.wakes->waiter = waits;
    made.profile.wakes->waker = frame(frame(0, KEY(HEAVY)), FOREIGN_KEY(CONDITION_WAIT));
    made.profile.wakes->wake = PROFILE_WAKE_FUTEX;
    made.profile.wakes->ns = 6 * S;
    assert_no_finding();
    made.profile.wakes->waker = waits;
    assert_string_equal(only("unequal-threads")->title, "threads wait 6.00 s at barriers for threads of heavy");
}

/* A barrier that the program has made of a condition variable. A function that passes tasks on, and the one in which threads
 * begin, wait and wake for many reasons. */
UNIT_TEST_WITH(a_function_in_which_threads_wait_and_wake_is_named, NULL, destroy)
{
    make_threads(5, 2, 2);
    fake_function(FOREIGN_KEY(CONDITION_WAIT), "pthread_cond_wait", "", 0, 0);
    fake_function(FOREIGN_KEY(BARRIER_WAIT), "pthread_cond_broadcast", "", 0, 0);
    uint32_t begins = frame(0, KEY(HEAVY)), meets = frame(begins, KEY(SOLVE));
    uint32_t waits[] = {frame(begins, FOREIGN_KEY(CONDITION_WAIT)), frame(meets, FOREIGN_KEY(CONDITION_WAIT))};
    uint32_t wakes[] = {frame(begins, FOREIGN_KEY(BARRIER_WAIT)), frame(meets, FOREIGN_KEY(BARRIER_WAIT))};
    for (int i = 2; i < THREADS; i++) {
        made.threads[i].blocked = 3 * S;
        made.threads[i].end_ns = made.threads[1].end_ns;
    }
    made.profile.wakes->wake = PROFILE_WAKE_CONDITION;
    made.profile.wakes->ns = 6 * S;
    for (int i = 0; i < 2; i++) {
        made.profile.wakes->waiter = waits[i];
        made.profile.wakes->waker = wakes[i];
        made.nodes[waits[i]].metric = (struct profile_sums){.samples = 1200, .blocked = 6 * S};
        gather();
        assert_int_equal(program.findings->count, i);
        made.nodes[waits[i]].metric = (struct profile_sums){0};
    }
    assert_string_equal(program.findings->finding->title, "threads wait 6.00 s in solve for threads of heavy");
    made.profile.wakes->waker = wakes[0];
    assert_no_finding();
}

/* As with std::async(...).get() in a loop. */
UNIT_TEST_WITH(threads_that_run_one_after_the_other_are_a_finding, NULL, destroy)
{
    make_threads(3, 2, 2);
    for (int i = 2; i < THREADS; i++) {
        made.threads[i].begin_ns = made.threads[i - 1].end_ns;
        made.threads[i].end_ns = made.threads[i].begin_ns + (uint64_t)(2 * S);
    }
    made.profile.header.end_ns = made.threads[3].end_ns;
    made.nodes[made.profile.wakes->waker].metric.inverse_busy = made.profile.wakes->ns = 7 * S;
    const struct finding *finding = only("one-by-one");
    assert_string_equal(finding->title, "3 threads of heavy run one after the other");
    assert_in(finding->place, "main");
    assert_in(finding->advice, "in a second loop");
    assert_about(finding->seconds, 7);
    assert_about(finding->gain_s, 7 * (1 - 1.0 / 3));
    made.profile.wakes->ns = 1 * S; /* main has something else to do */
    assert_no_finding();
}

/* But not if another thread, whose end nobody waits for meanwhile, lives at the same time. */
UNIT_TEST_WITH(threads_with_company_do_not_run_one_after_the_other, NULL, destroy)
{
    make_threads(3, 2, 2);
    made.threads[2].begin_ns = made.threads[1].end_ns;
    made.threads[2].end_ns = made.profile.header.end_ns = made.threads[2].begin_ns + (uint64_t)(2 * S);
    made.threads[3].end_ns = made.threads[2].end_ns;
    made.nodes[made.profile.wakes->waker].threads = 2 + 4;
    made.nodes[made.profile.wakes->waker].metric.work = made.profile.wakes->ns = 5 * S;
    uint32_t other = frame(0, KEY(SOLVE));
    made.nodes[other].metric = (struct profile_sums){.samples = 800, .work = 5 * S, .inverse_busy = 2 * S};
    made.nodes[other].threads = 8;
    assert_no_finding();
    made.threads[3].end_ns = made.threads[3].begin_ns + (uint64_t)S;
    only("one-by-one");
}

/* ---- code that runs alone ---- */

/* main() works for 3 s beside nobody, on four cores, and then three threads do. */
static uint32_t make_alone(void)
{
    make_threads(4, 4, 4);
    uint32_t node = frame(frame(program.main_node, KEY(SOLVE)), OTHER(1));
    made.nodes[node].metric =
        (struct profile_sums){.samples = 600, .work = 3 * S, .core_idle = 9 * S, .inverse_busy = 3 * S};
    made.nodes[node].threads = 1;
    made.threads[0].work = 3 * S;
    made.profile.header.without_team = 1;
    made.profile.header.cores = 4;
    made.profile.header.end_ns = 1 + (uint64_t)(7 * S);
    return node;
}

static void assert_none_serial(void)
{
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_not_equal(program.findings->finding[i].rule, "serial");
}

UNIT_TEST_WITH(code_of_the_first_thread_beside_idle_cores_is_serial, NULL, destroy)
{
    uint32_t node = make_alone();
    const struct finding *finding = only("serial");
    assert_string_equal(finding->title, "3.00 s of serial code");
    assert_about(finding->seconds, 3);
    assert_about(finding->gain_s, 3 * 0.75);
    made.nodes[node].metric.lock_wait = 9 * S; /* the others wait for its lock */
    assert_none_serial();
}

/* On many cores, many are idle beside code that does not run alone. */
UNIT_TEST_WITH(code_beside_which_others_work_is_no_serial_code, NULL, destroy)
{
    uint32_t node = make_alone();
    made.profile.header.cores = 16;
    for (int running = 4; running > 1; running /= 2) {
        made.nodes[node].metric.core_idle = 3 * S * (16 - running) / running;
        assert_none_serial();
    }
    made.nodes[node].metric.core_idle = 3 * S * 15;
    only("serial");
}

UNIT_TEST_WITH(code_that_others_execute_as_well_is_no_serial_code, NULL, destroy)
{
    uint32_t node = make_alone();
    uint32_t part = frame(program.main_node, KEY(HEAVY)); /* in which the other threads begin */
    made.nodes[part].metric = made.nodes[node].metric;
    made.nodes[part].threads = 1;
    made.nodes[node].metric = (struct profile_sums){0};
    const struct finding *finding = only("unequal-threads");
    assert_string_equal(finding->title, "the first thread is alone in heavy for 3.00 s");
    assert_in(finding->advice, "equal shares");
}

/* Nor is there any in a program whose other threads hardly work. */
UNIT_TEST_WITH(a_serial_program_has_no_serial_code, NULL, destroy)
{
    make_alone();
    for (int i = 1; i < THREADS; i++)
        made.threads[i].work = 0.1 * S;
    assert_no_finding();
}

/* ---- bottlenecks ---- */

/* A pipeline of three threads, begun in SOLVE, HEAVY and INIT. Each works so long in 5 s, and waits for the rest of the
 * time for the thread of another one. */
static void make_pipeline(const double work_s[3], const int waits_for[3])
{
    static const int begin[] = {SOLVE, HEAVY, INIT};
    static struct merged_wake wakes[3];
    uint32_t works[3], waits[3];
    make_threads(5, 5, 5);
    made.nodes[made.profile.wakes->waker].metric = (struct profile_sums){0};
    made.nodes[made.profile.wakes->waker].threads = 0;
    made.profile.wake_count = 0;
    made.profile.wakes = wakes;
    fake_function(FOREIGN_KEY(CONDITION_WAIT), "pthread_cond_wait", "", 0, 0);
    for (int i = 0; i < 3; i++) {
        works[i] = frame(0, KEY(begin[i]));
        waits[i] = frame(works[i], FOREIGN_KEY(CONDITION_WAIT));
        made.nodes[works[i]].metric =
            (struct profile_sums){.samples = 800, .work = work_s[i] * S, .inverse_busy = work_s[i] * S};
        made.nodes[waits[i]].metric = (struct profile_sums){.samples = 800, .blocked = (5 - work_s[i]) * S};
        made.nodes[works[i]].threads = made.nodes[waits[i]].threads = 2ull << i;
        made.threads[i + 1].work = work_s[i] * S;
        made.threads[i + 1].blocked = (5 - work_s[i]) * S;
    }
    for (int i = 0; i < 3; i++)
        if (waits_for[i] >= 0)
            wakes[made.profile.wake_count++] = (struct merged_wake){.waiter = waits[i],
                                                                    .waker = works[waits_for[i]],
                                                                    .wake = PROFILE_WAKE_CONDITION,
                                                                    .ns = (5 - work_s[i]) * S};
}

UNIT_TEST_WITH(the_slow_stage_of_a_pipeline_is_a_finding, NULL, destroy)
{
    make_pipeline((const double[]){1, 5, 1}, (const int[]){1, -1, 1});
    const struct finding *finding = only("bottleneck");
    assert_string_equal(finding->title, "threads wait 8.00 s for the thread of heavy");
    assert_in(finding->place, "heavy  p.c:51"); /* the line that works; none of its lines is blocked */
    assert_in(finding->evidence,
              "waits for others for only 0 % of its time; most of the waiting is in pthread_cond_wait");
    assert_about(finding->seconds, 8);
    assert_about(finding->gain_s, 5 - 7.0 / 4); /* 7 s of work on four cores */
    made.profile.header.threads_max = 1;        /* linked with a runtime, but without regions */
    gather();
    assert_about(found("bottleneck")->gain_s, 5 - 7.0 / 4);
}

/* Where it spins before it sleeps, it waits for the same thread. */
UNIT_TEST_WITH(spinning_before_a_wait_for_a_slow_stage_is_no_other_finding, NULL, destroy)
{
    make_pipeline((const double[]){1, 5, 1}, (const int[]){1, -1, 1});
    uint32_t spins = add(frame(0, KEY(SOLVE)), PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_SPINNING);
    made.nodes[spins].metric = (struct profile_sums){.samples = 600, .blocked = 3 * S};
    made.nodes[spins].threads = 2;
    only("bottleneck");
    made.profile.wake_count = 0;
    gather();
    assert_in(found("spin")->title, "spin-waiting on a flag in solve");
}

/* As std::barrier does, whose code is in a header. */
UNIT_TEST_WITH(a_library_that_spins_is_named, NULL, destroy)
{
    make_threads(5, 5, 5);
    fake_function(OTHER(7), "std::barrier::arrive_and_wait", "/usr/include/c++/12/barrier", 5, 6);
    fake_function(OTHER(7), "solve", "/s/p.c", 20, 21);
    uint32_t spins = add(frame(0, OTHER(7)), PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_SPINNING);
    made.nodes[spins].metric = (struct profile_sums){.samples = 600, .blocked = 3 * S};
    made.nodes[spins].threads = 2;
    gather();
    assert_in(found("spin")->title, "spin-waiting in std::barrier::arrive_and_wait, called by solve: ");
}

/* The last stage waits for the second only because this one waits for the first. */
UNIT_TEST_WITH(a_stage_that_waits_passes_the_blame_on, NULL, destroy)
{
    make_pipeline((const double[]){5, 1, 1}, (const int[]){-1, 0, 1});
    const struct finding *finding = only("bottleneck");
    assert_string_equal(finding->title, "threads wait 8.00 s for the thread of solve");
    assert_about(finding->seconds, 8);
}

UNIT_TEST_WITH(stages_that_wait_for_each_other_have_no_bottleneck, NULL, destroy)
{
    make_pipeline((const double[]){3, 3, 1}, (const int[]){1, 0, 1});
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_equal(program.findings->finding[i].rule, "blocked");
    destroy(NULL);
    make_pipeline((const double[]){1, 5, 1}, (const int[]){1, -1, 1});
    for (size_t i = 0; i < made.profile.wake_count; i++)
        made.profile.wakes[i].wake = PROFILE_WAKE_END;
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_not_equal(program.findings->finding[i].rule, "bottleneck");
}

UNIT_MAIN(NULL, NULL)
