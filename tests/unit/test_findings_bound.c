/* needs: tests/fuzz/fake_symbols.c */
#include "command/findings/rules.h"
#include "command/views/text.h"
#include "tests/unit/findings_program.h"

/* The bound of a finding, by each of its limits (docs/findings.md, "The bound"). The profiles have so many
 * samples that the sampling error is below a thousandth. */

#define WALL_S 4.0

/* Makes a run of 4 s with 4 threads, of which nothing is known yet. */
static int make_run(void **state)
{
    (void)state;
    make_program(THREADS, 0.001);
    made.profile.header.rate = 100000000;
    made.profile.header.end_ns = 1 + (uint64_t)(WALL_S * S);
    made.profile.thread_count = THREADS;
    for (int i = 0; i < THREADS; i++)
        made.threads[i] = (struct profile_thread){.kind = i ? PROFILE_THREAD_WORKER : PROFILE_THREAD_INITIAL,
                                                  .begin_ns = 1,
                                                  .end_ns = made.profile.header.end_ns,
                                                  .delivered = 8000,
                                                  .recorded = 8000,
                                                  .core_source = PROFILE_CORE_SCHEDSTAT};
    return 0;
}

#define WITH_RUN(name) UNIT_TEST_WITH(name, make_run, destroy)

static uint32_t critical_section(void)
{
    return frame(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), KEY(HEAVY));
}

static void assert_gain(const char *rule, double expected_s)
{
    const struct finding *finding = NULL;
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        if (strcmp(program.findings->finding[i].rule, rule) == 0)
            finding = &program.findings->finding[i];
    if (!finding)
        fail_msg("no finding %s", rule);
    if (fabs(finding->gain_s - expected_s) > 0.005)
        fail_msg("%s: %.4f s instead of %.4f s", rule, finding->gain_s, expected_s);
}

/* Four threads on two cores write a file in turn, each for 1 s of the 4 s. */
static void write_in_turn(unsigned cores)
{
    made.profile.header.cores = cores;
    for (int i = 0; i < THREADS; i++) {
        made.threads[i].blocked = 1 * S;
        made.threads[i].lock_wait = 3 * S;
    }
    add_lock(critical_section(), 0x1234, 12);
}

WITH_RUN(waiting_for_a_lock_is_at_most_its_part_of_each_threads_time)
{
    for (unsigned cores = 1; cores <= 4; cores++) {
        made.profile.node_count = 0;
        destroy(NULL);
        make_run(NULL);
        write_in_turn(cores);
        assert_gain("lock-bound", 3);
    }
}

/* For 4 s of the 12 s of waiting, the holder had no core. */
WITH_RUN(waiting_for_a_holder_without_a_core_can_be_saved_as_well)
{
    uint32_t section = critical_section();
    add_lock(section, 0x1234, 8);
    add_lock(add(section, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE), 0x1234, 4);
    for (int i = 0; i < THREADS; i++)
        made.threads[i].lock_wait = 3 * S;
    assert_gain("lock-bound", 3);
    assert_non_null(strstr(program.findings->finding[0].title, ", and 4.00 s for owners without a core"));
}

WITH_RUN(the_longest_threads_own_time_stays)
{
    write_in_turn(4);
    made.threads[2].blocked = 2.5 * S;
    made.threads[2].lock_wait = 1.5 * S;
    assert_gain("lock-bound", 1.5);
}

/* The initial thread waits for the end of three others, each of which writes for 1 s and waits for 2 s. */
WITH_RUN(waiting_for_the_end_of_threads_limits_nothing)
{
    fake_function(FOREIGN_KEY(COSINE), "pthread_join", "", 0, 0);
    uint32_t join = frame(program.main_node, FOREIGN_KEY(COSINE));
    made.nodes[join].metric = (struct profile_sums){.samples = 800, .blocked = 3 * S, .inverse_busy = 1.5 * S};
    made.profile.header.end_ns = 1 + (uint64_t)(3 * S);
    made.threads[0].blocked = 3 * S;
    for (int i = 1; i < THREADS; i++) {
        made.threads[i].blocked = 1 * S;
        made.threads[i].lock_wait = 2 * S;
    }
    add_lock(critical_section(), 0x1234, 6);
    assert_gain("lock-bound", 2);
}

WITH_RUN(work_takes_its_time_on_the_cores)
{
    write_in_turn(2);
    for (int i = 0; i < THREADS; i++) {
        made.threads[i].blocked = 0;
        made.threads[i].work = 1 * S;
    }
    assert_gain("lock-bound", 2); /* 4 s of work on two cores */
    made.profile.header.cores = 1;
    gather();
    for (size_t i = 0; i < program.findings->count; i++)
        assert_string_not_equal(program.findings->finding[i].rule, "lock-bound");
}

/* Threads 0 and 1 work for 4 s and 3.9 s. Half a second of this is serial code, which other threads can take
 * over, whichever of the two executes it: at best, 3.7 s of each are left. */
WITH_RUN(only_the_findings_own_code_can_be_divided)
{
    run(frame(program.main_node, KEY(INIT)), 0.5, 1, 1, 0);
    made.threads[0].work = 4 * S;
    assert_gain("serial", 0.5 * 0.75);
    made.threads[1].work = 3.9 * S;
    assert_gain("serial", 0.3);
    made.threads[2].work = made.threads[3].work = 3.5 * S;
    assert_gain("serial", WALL_S - 14.9 / 4);
}

/* Without their cores, threads take longer; a repair shortens this as well. */
WITH_RUN(waiting_beside_code_without_a_core_can_be_saved_as_well)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    run(init, 1, 1, 1, 0);
    assert_gain("serial", 0.75);
    uint32_t node = add(init, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[node].metric = (struct profile_sums){.samples = 200, .no_core = S, .inverse_busy = S};
    assert_gain("serial", 1.5);
}

WITH_RUN(waiting_for_a_sleeping_thread_can_be_saved_without_cores)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    made.profile.header.cores = 2;
    run(init, 2, 1, 1, 0);
    assert_gain("serial", 1); /* two cores do 2 s of work in 1 s */
    made.nodes[init].metric.blocked = 0.9 * S;
    made.nodes[init].metric.work = 1.1 * S;
    assert_gain("serial", 1.1 / 2 + 0.9 * 3 / 4);
}

/* The advice is to sleep less, too. */
WITH_RUN(a_sleep_that_others_wait_for_may_be_gone)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    run(init, 2, 1, 1, 0);
    made.nodes[init].metric.blocked = 2 * S;
    made.nodes[init].metric.work = 0;
    assert_gain("serial", 2);
    destroy(NULL);
    make_run(NULL);
    uint32_t section = critical_section();
    run(section, 2, 1, THREADS, PROFILE_PLACE_BARRIER);
    made.nodes[section].metric.blocked = 2 * S;
    made.nodes[section].metric.blocked_idle = 2 * (THREADS - 1) * S;
    made.nodes[section].metric.work = 0;
    assert_gain("coarse", 2);
}

WITH_RUN(no_bound_is_as_long_as_the_run)
{
    uint32_t tasks = add(frame(program.main_node, KEY(SOLVE)), PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC));
    run(tasks, 3, THREADS, THREADS, 0);
    for (int i = 0; i < THREADS; i++) {
        made.threads[i].overhead = 3 * S;
        made.threads[i].work = 1 * S;
    }
    assert_gain("fine", 3);
}

WITH_RUN(overhead_that_slept_frees_no_core)
{
    struct inquiry inquiry = {.profile = &made.profile, .threads = 4, .cores = 2, .floors.runtime_s = INFINITY};
    assert_true(fabs(bound_of(&inquiry, &(struct relief){.spent_s = 4}) - 2) < 1e-6);
    inquiry.floors.runtime_s = 0.4;
    assert_true(fabs(bound_of(&inquiry, &(struct relief){.spent_s = 4}) - 1) < 1e-6);
    assert_true(fabs(bound_of(&inquiry, &(struct relief){.spent_s = 0.4, .slowed_s = 3.6}) - 2) < 1e-6);
    assert_true(fabs(bound_of(&inquiry, &(struct relief){.spent_s = 4, .not_runtime = true}) - 2) < 1e-6);
}

/* Each thread waits for the lock for 0.5 s, and takes and releases it for 1 s: in the code that has it, in the region that
 * calls this code, or elsewhere. */
WITH_RUN(calls_that_take_a_lock_go_with_the_waiting_for_it_and_the_other_way_round)
{
    fake_function(KEY(COSINE + 1), "omp_set_lock", "", 0, 0);
    for (int where = 0; where < 3; where++) {
        uint32_t section = critical_section();
        const uint32_t caller[] = {section, frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)),
                                   program.main_node};
        add_lock(section, 0x1234, 2);
        run(frame(program.main_node, KEY(OTHER_REGION)), 2.5, THREADS, THREADS, 0);
        run(add(caller[where], PROFILE_NODE_RUNTIME, KEY(COSINE + 1)), 1, THREADS, THREADS, 0);
        for (int i = 0; i < THREADS; i++) {
            made.threads[i].lock_wait = 0.5 * S;
            made.threads[i].overhead = 1 * S;
            made.threads[i].work = 2.5 * S;
        }
        assert_gain("lock-bound", where == 2 ? 0.5 : 1.5);
        assert_gain("fine", where == 0 ? 1.5 : 1);
        destroy(NULL);
        make_run(NULL);
        fake_function(KEY(COSINE + 1), "omp_set_lock", "", 0, 0);
    }
}

/* The lock passes from thread to thread for 2 s, and its holders work for 4 s: for half of this they may wait for data. */
WITH_RUN(data_that_moves_between_caches_with_the_lock_goes_with_the_waiting)
{
    uint32_t section = critical_section();
    run(section, 1, THREADS, THREADS, 0);
    add_lock(section, 0x1234, 1);
    add_lock(add(section, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF), 0x1234, 2);
    for (int i = 0; i < THREADS; i++) {
        made.threads[i].lock_wait = 0.75 * S;
        made.threads[i].work = 1 * S;
    }
    assert_gain("lock-bound", 0.75 + 0.5);
}

/* Without a core, threads wait for 1 s each between pieces that are too small. Those that are large enough keep it. */
WITH_RUN(waking_up_without_a_core_goes_with_tiny_pieces)
{
    for (int large = 0; large < 2; large++) {
        uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
        uint32_t work = frame(region, KEY(HEAVY)), late = add(work, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
        run(add(region, PROFILE_NODE_RUNTIME, KEY(DISPATCH)), 1, THREADS, THREADS, 0);
        run(work, large ? 1.5 : 0.5, THREADS, THREADS, 0);
        run(frame(program.main_node, KEY(OTHER_REGION)), large ? 0.5 : 1.5, THREADS, THREADS, 0);
        made.nodes[late].metric = (struct profile_sums){.samples = 800, .no_core = THREADS * S, .inverse_busy = 1 * S};
        for (int i = 0; i < THREADS; i++) {
            made.threads[i].overhead = 1 * S;
            made.threads[i].work = 2 * S;
        }
        assert_gain("fine", large ? 1.25 : 2.25); /* with a quarter second of the work */
        destroy(NULL);
        make_run(NULL);
    }
}

static void all_threads(double work_s, double overhead_s)
{
    for (int i = 0; i < THREADS; i++) {
        made.threads[i].work = work_s * S;
        made.threads[i].overhead = overhead_s * S;
    }
}

/* Without the calls, work between them takes less time: by a quarter of the calls' time, or all of it. */
WITH_RUN(calls_of_the_runtime_slow_the_work_of_the_same_code)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    uint32_t other = frame(program.main_node, KEY(OTHER_REGION));
    run(add(region, PROFILE_NODE_RUNTIME, KEY(DISPATCH)), 2, THREADS, THREADS, 0);
    all_threads(2, 2);
    run(other, 2, THREADS, THREADS, 0);
    assert_gain("fine", 2);
    run(region, 0.2, THREADS, THREADS, 0);
    assert_gain("fine", 2.2);
    run(region, 1.8, THREADS, THREADS, 0);
    assert_gain("fine", 2.5);
}

/* Threads wait at barriers, too: without barriers, only the longest sum of a thread's work counts. Larger chunks do not
 * shorten this waiting by more than the time of the calls. */
WITH_RUN(waiting_at_barriers_goes_with_them)
{
    for (int loop = 0; loop < 2; loop++) {
        uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
        run(add(region, PROFILE_NODE_RUNTIME, KEY(loop ? DISPATCH : BARRIER)), 0.3, THREADS, THREADS, 0);
        run(region, 3.699, 1, THREADS, PROFILE_PLACE_BARRIER);
        all_threads(0.9, 0.3);
        assert_gain("fine", loop ? 1.2 * 1.25 : 3.699 * 3 / 4 + 0.3 * 1.25);
        made.threads[0].work = 2.7 * S;
        assert_gain("fine", loop ? 1.5 : 4 - (2.7 + 0.3 - 1.2 * 1.25));
        destroy(NULL);
        make_run(NULL);
    }
}

/* At most a millisecond for each region and thread can be the time of the regions' starts and ends. */
WITH_RUN(waiting_at_the_ends_of_regions_goes_with_them_unless_these_are_long)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), region = frame(solve, KEY(REGION));
    run(add(solve, PROFILE_NODE_RUNTIME, KEY(FORK)), 0.4, THREADS, THREADS, 0);
    run(region, 1.6, THREADS, THREADS, 0);
    run(region, 2, 1, THREADS, PROFILE_PLACE_REGION_END);
    all_threads(2.1, 0.4);
    made.profile.header.regions = 100 * 1000;
    assert_gain("fine", 2 * 3 / 4.0 + 0.4 * 1.25);
    made.profile.header.regions = 1000;
    assert_gain("fine", 3 / 4.0 + 0.4 * 1.25);
}

/* The work is more than the calls that start the regions, but less than all that the regions cost. */
WITH_RUN(a_loop_in_a_tiny_region_belongs_to_the_region)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE)), region = frame(solve, KEY(REGION));
    run(add(solve, PROFILE_NODE_RUNTIME, KEY(FORK)), 0.4, 1, 1, 0);
    run(add(region, PROFILE_NODE_RUNTIME, KEY(DISPATCH)), 0.4, THREADS, THREADS, 0);
    run(region, 0.8, THREADS, THREADS, 0);
    all_threads(0.8, 0.5);
    made.profile.header.regions = 1000 * 1000;
    assert_gain("fine", WALL_S - 0.8 + 0.5 * 0.25);
    assert_int_equal(program.findings->count, 1);
}

/* Threads wait for each other, and the time before the first use of OpenMP stays. */
WITH_RUN(time_without_a_busy_thread_goes_with_tiny_pieces_and_the_start_stays)
{
    uint32_t tasks = add(frame(program.main_node, KEY(SOLVE)), PROFILE_NODE_RUNTIME, KEY(TASK_ALLOC));
    run(tasks, 0.5, THREADS, THREADS, 0);
    for (int i = 0; i < THREADS; i++)
        made.threads[i].overhead = 0.5 * S;
    assert_gain("fine", WALL_S);
    made.profile.header.before_start_ns = (uint64_t)(0.5 * S);
    assert_gain("fine", WALL_S - 0.5);
}

/* Samples found a thread busy for 1 s of 4 s; it may have been a little less. */
WITH_RUN(the_sampling_error_widens_the_bound)
{
    write_in_turn(4);
    made.threads[2].blocked = 2.5 * S;
    made.profile.header.rate = 200;
    gather();
    double error_s = 1.96 * sqrt(0.005 * 2.5 * 1.5 / WALL_S);
    assert_true(fabs(program.findings->finding[0].gain_s - 1.5 - error_s) < 0.001);
}

static char *card(void)
{
    struct view_style style = {.title = "Findings", .columns = 140};
    gather();
    FILE *out = made_out();
    view_text_findings(out, &made.profile, program.findings, &style);
    fclose(out);
    char *first = strstr(made_text, "\n 1. "), *second = strstr(first, "\n 2. ");
    if (second)
        *second = '\0';
    return first;
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* The title has the seconds of waiting for a lock, and the share of overhead. */
WITH_RUN(a_card_says_each_number_once)
{
    write_in_turn(4);
    char *text = card();
    assert_has(text, " 1. 12.00 s of waiting for lock 0x1234");
    assert_has(text, " % of the effort of 12.00 thread-seconds (+- 0.00 s); the run could be at most 3.00 s shorter");
    assert_int_equal(times(text, "3.00"), 1);
    destroy(NULL);
    make_run(NULL);
    made.profile.header.end_ns = 1 + (uint64_t)(0.501 * S);
    run(frame(program.main_node, KEY(INIT)), 0.5, 1, 1, 0);
    text = card();
    assert_has(text, " 1. 0.50 s of serial code");
    assert_has(text, "1.50 s (+- 0.00 s) of idleness, 74.9 % of the effort of 2.00 thread-seconds; the run could be at "
                     "most 0.38 s");
    assert_int_equal(times(text, "1.50"), 1);
    assert_int_equal(times(text, "74.9"), 1);
}

UNIT_MAIN(NULL, NULL)
