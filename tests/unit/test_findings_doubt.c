/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/findings_program.h"

#include <errno.h>

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, destroy)

WITH_PROFILE(more_threads_than_cores_are_said)
{
    made.profile.header.cores = 2;
    const struct finding *finding = only("oversubscribed");
    assert_string_equal(finding->title, "4.0 busy threads at a time on 2 cores");
    assert_about(finding->seconds, 20);
    assert_true(finding->row == ROW_NONE && finding->gain_s == 0 && !*finding->place);
}

WITH_PROFILE(losses_are_findings)
{
    made.threads[0].end_ns = (uint64_t)(40 * S);
    made.threads[0].work = 30 * S;
    made.threads[0].dropped_ns = 10 * S;
    made.threads[0].paths_truncated = 1000;
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_string_equal(program.findings->finding[0].rule, "lost");
    assert_about(program.findings->finding[0].seconds, 10);
    assert_string_equal(program.findings->finding[0].title, "20 % of the effort is missing"); /* the rows have 40 s */
    assert_non_null(strstr(program.findings->finding[1].title, "has unknown callers"));
    assert_non_null(strstr(program.findings->finding[1].evidence, "<truncated>"));
    assert_about(program.findings->finding[1].seconds, 5);
}

WITH_PROFILE(losses_count_from_five_per_cent_on)
{
    made.threads[0].end_ns = (uint64_t)(40 * S);
    made.threads[0].work = 37.8 * S;
    made.threads[0].dropped_ns = 2.2 * S;
    assert_about(only("lost")->seconds, 2.2);
}

WITH_PROFILE(what_the_program_paused_for_is_not_missing)
{
    made.threads[0].end_ns = (uint64_t)(80 * S);
    made.threads[0].work = 30 * S;
    made.threads[0].dropped[PROFILE_DROP_PAUSED] = 8000;
    made.threads[0].dropped[PROFILE_DROP_OVERLOAD] = 2000;
    made.threads[0].dropped_ns = 50 * S;
    assert_about(only("lost")->seconds, 10);
}

WITH_PROFILE(of_little_that_was_measured_only_that_is_said)
{
    made.threads[0].timer_failed = 1;
    made.profile.header.timer_error = EAGAIN;
    made.profile.header.timer_limit = 7;
    run(frame(program.main_node, KEY(INIT)), 5, 1, 1, 0);
    const struct finding *finding = only("unmeasured");
    assert_non_null(strstr(finding->evidence, "the limit on pending signals, 7 for all"));
    char *text = summary();
    assert_non_null(strstr(text, "pending signals"));
    assert_null(strstr(text, "Look first at"));
    assert_null(strstr(text, "other threads idled"));
}

WITH_PROFILE(more_threads_than_can_be_measured_are_no_lack_of_room_in_a_file)
{
    made.profile.header.threads_untracked = 1000;
    made.profile.header.untracked_ns = (uint64_t)(900 * S);
    run(frame(program.main_node, KEY(INIT)), 5, 1, 1, 0);
    assert_non_null(strstr(only("unmeasured")->evidence, "more threads existed at a time than blame can measure"));
    char *text = summary();
    assert_non_null(strstr(text, "Use fewer threads"));
    assert_null(strstr(text, "--out"));
}

WITH_PROFILE(time_without_a_busy_thread_is_said)
{
    made.profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    assert_string_equal(only("nobody-busy")->title, "2.50 s with no thread busy");
}

WITH_PROFILE(time_that_the_program_paused_for_is_none_without_a_busy_thread)
{
    made.profile.header.end_ns = 1 + (uint64_t)(18.5 * S);
    made.profile.header.paused_ns = (uint64_t)(6 * S);
    assert_string_equal(only("nobody-busy")->title, "2.50 s with no thread busy");
}

/* Half of the threads were there, for 4 s: for half of these nobody is busy in what has inverse_busy. */
WITH_PROFILE(nor_is_what_it_was_stopped_for)
{
    made.profile.header.end_ns = 1 + (uint64_t)(16.5 * S);
    made.profile.stopped_ns = 4 * S;
    made.nodes[add(0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_STOPPED)].metric =
        (struct profile_sums){.blocked = 8 * S, .inverse_busy = 2 * S};
    assert_string_equal(only("nobody-busy")->title, "2.50 s with no thread busy");
}

WITH_PROFILE(time_without_a_busy_thread_of_a_job_is_that_of_its_ranks)
{
    struct profile_rank ranks[] = {{.threads_max = THREADS, .begin_ns = 1, .end_ns = 1 + (uint64_t)(9 * S)},
                                   {.state = PROFILE_RANK_MISSING},
                                   {.threads_max = THREADS, .begin_ns = 1, .end_ns = 1 + (uint64_t)(3 * S)}};
    made.profile.header.end_ns = 1 + (uint64_t)(9 * S);
    made.profile.header.merged = 2;
    made.profile.ranks = ranks;
    made.profile.rank_count = 3;
    assert_string_equal(only("nobody-busy")->title, "1.00 s with no thread busy");
    ranks[2].threads_max = 2; /* of it there is less in inverse_busy than it was busy for */
    gather();
    assert_int_equal(program.findings->count, 0);
}

WITH_PROFILE(that_waiting_threads_had_no_core_is_said)
{
    made.profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    made.threads[0].idle = 9 * S;
    made.threads[0].idle_no_core = 8 * S;
    const char *title = only("nobody-busy")->title;
    assert_string_equal(strchr(title, ';'), "; waiting threads had no core for 89 % of their time");
    assert_non_null(strstr(program.findings->finding[0].evidence, "a wait counts as idleness, also without a core"));
}

WITH_PROFILE(waiting_in_mpi_without_a_core_is_waiting)
{
    made.profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    made.threads[0].idle = 2 * S;
    made.threads[0].mpi_wait = 7 * S;
    made.threads[0].idle_no_core = 8 * S;
    const char *title = only("nobody-busy")->title;
    assert_string_equal(strchr(title, ';'), "; waiting threads had no core for 89 % of their time");
}

WITH_PROFILE(what_samples_cost_a_blocked_thread_is_no_waiting_without_a_core)
{
    made.profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    made.threads[0].blocked = 9 * S;
    made.threads[0].idle = 0.3 * S;
    made.threads[0].idle_no_core = 3.84 * S;
    assert_null(strchr(only("nobody-busy")->title, ';'));
}

/* As many threads as cores: waiting for a core is others' doing, and explains that nobody was busy. */
WITH_PROFILE(cores_that_others_took_explain_what_looks_strange)
{
    made.profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    made.profile.header.cores = made.profile.header.threads_max;
    made.threads[0].no_core_ns = 4.3 * S;
    made.threads[0].work = 40 * S;
    made.threads[0].end_ns = 42 * S;
    const struct finding *finding = only("cores-taken");
    assert_string_equal(finding->title, "other processes took the cores for 4.30 s of thread time");
    char *text = summary();
    assert_non_null(strstr(text, finding->title));
    assert_null(strstr(text, "do not add up"));
    assert_null(strstr(text, "no thread busy"));
}

WITH_PROFILE(few_samples_say_nothing_but_that)
{
    run(frame(program.main_node, KEY(INIT)), 5, 1, 1, 0);
    made.threads[0].delivered = 19;
    assert_string_equal(only("short")->title, "the run was too short for findings: 19 samples");
    assert_non_null(strstr(only("short")->evidence, "findings need at least 20 samples, and 100 to be complete"));
    made.threads[0].delivered = 20;
    only("serial");
}

WITH_PROFILE(a_short_run_without_findings_says_that_it_is_short)
{
    made.threads[0].delivered = 99;
    assert_string_equal(only("short")->title, "the run was too short for findings: 99 samples");
    made.threads[0].delivered = 100;
    gather();
    assert_int_equal(program.findings->count, 0);
}

/* 8 % of 0.9 s: three sampling periods' worth at one thread. The same share of 100 times as much is one. */
WITH_PROFILE(a_finding_that_sampling_can_have_made_says_so)
{
    uint32_t work = program.main_node + 1;
    made.nodes[work].metric = (struct profile_sums){.work = 3.3 * S, .inverse_busy = 0.825 * S};
    uint32_t init = frame(program.main_node, KEY(INIT));
    run(init, 0.1, 1, 1, 0);
    made.profile.header.rate = 20; /* there may be no serial code at all */
    gather();
    assert_int_equal(program.findings->count, 0);
    made.profile.header.rate = 40;
    const struct finding *finding = only("serial");
    assert_string_equal(finding->title, "perhaps (few samples): 0.10 s of serial code");
    assert_non_null(strstr(finding->evidence, "with so large an error, the share may be below 5 %"));
    made.profile.header.rate = 2000;
    finding = only("serial");
    assert_string_equal(finding->title, "0.10 s of serial code");
    assert_null(strstr(finding->evidence, "may be below"));
    assert_true(finding->error > 0 && finding->error < 0.05);
}

WITH_PROFILE(an_empty_profile_is_short)
{
    made.profile.node_count = 1;
    made.profile.thread_count = 0;
    assert_string_equal(only("short")->title, "the run was too short for findings: 0 samples");
}

WITH_PROFILE(the_summary_shows_at_most_three)
{
    for (int place = 0; place < 5; place++)
        run(frame(program.main_node, OTHER(place)), 2, 1, 1, 0);
    gather();
    assert_int_equal(program.findings->count, 5);
    char *text = summary();
    int count = 0;
    for (const char *at = text; (at = strstr(at, "s of serial code:")); at++)
        count++;
    assert_int_equal(count, 3);
}

WITH_PROFILE(where_contexts_are_tiny_the_summary_shows_functions)
{
    for (uint64_t i = 0; i < 500; i++) {
        uint32_t caller = frame(program.main_node, OTHER(i));
        if (made.profile.node_count < 600 - 2)
            run(frame(caller, KEY(ALLOCATOR)), 0.01, 1, 1, 0);
        else
            break;
    }
    gather();
    char *text = summary();
    assert_non_null(strstr(text, "While this ran, other threads idled (from all callers; share of the thread time):"));
    assert_non_null(strstr(text, "s  allocate  p.c:70"));
}

UNIT_MAIN(NULL, NULL)
