/* needs: tests/fuzz/fake_symbols.c */
#include "report/views/summary.h"
#include "tests/unit/findings_program.h"

#include <errno.h>

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

static void of_little_that_was_measured_only_that_is_said(void **state)
{
    struct made *made = *state;
    made->thread[0].timer_failed = 1;
    made->profile.header.timer_error = EAGAIN;
    made->profile.header.timer_limit = 7;
    run(made, add(made, made->main_node, PROFILE_NODE_FRAME, KEY(INIT)), 5, 1, 1, 0);
    gather(made);
    const struct finding *finding = only(made, "unmeasured");
    assert_non_null(strstr(finding->evidence, "the limit on pending signals, 7 for all"));
    char *text = summary_of(made);
    assert_non_null(strstr(text, "pending signals"));
    assert_null(strstr(text, "Look first at"));
    assert_null(strstr(text, "other threads idled"));
    free(text);
}

static void time_without_a_busy_thread_is_said(void **state)
{
    struct made *made = *state;
    made->profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    gather(made);
    assert_string_equal(only(made, "nobody-busy")->title, "2.50 s with no thread busy");
}

/* As many threads as cores: waiting for a core is others' doing, and explains that nobody was busy. */
static void cores_that_others_took_explain_what_looks_strange(void **state)
{
    struct made *made = *state;
    made->profile.header.end_ns = 1 + (uint64_t)(12.5 * S);
    made->profile.header.cores = made->profile.header.threads_max;
    made->thread[0].no_core_ns = 4.3 * S;
    made->thread[0].work = 40 * S;
    made->thread[0].end_ns = 42 * S;
    gather(made);
    const struct finding *finding = only(made, "cores-taken");
    assert_string_equal(finding->title, "other processes took the cores for 4.30 s of thread time");
    char *text = summary_of(made);
    assert_non_null(strstr(text, finding->title));
    assert_null(strstr(text, "books are off"));
    assert_null(strstr(text, "no thread busy"));
    free(text);
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
        TEST(more_threads_than_cores_are_said),
        TEST(losses_are_findings),
        TEST(of_little_that_was_measured_only_that_is_said),
        TEST(losses_count_from_five_per_cent_on),
        TEST(time_without_a_busy_thread_is_said),
        TEST(cores_that_others_took_explain_what_looks_strange),
        TEST(few_samples_say_nothing_but_that),
        TEST(what_sampling_error_can_make_is_no_finding),
        TEST(an_empty_profile_is_short),
        TEST(the_summary_shows_at_most_three),
        TEST(where_contexts_are_tiny_the_summary_shows_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
