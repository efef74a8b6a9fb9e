/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/made_runs.h"

#include <math.h>

#include "command/compare/comparable.h"
#include "command/compare/compare.h"
#include "command/compare/diff_view.h"
#include "command/compare/limits.h"
#include "command/compare/stat_view.h"
#include "command/rows/error.h"

/* Exclusive work of the n-th context with that canonical name, by run. */
static void assert_work(const struct comparison *comparison, const char *name, int nth, double before, double after)
{
    for (uint32_t i = 0; i < comparison->count; i++)
        if (strcmp(comparison->context[i].canonical, name) == 0 && nth-- == 0) {
            assert_true(comparison_value(comparison, 0, i, METRIC_WORK, false) == before);
            assert_true(comparison_value(comparison, 1, i, METRIC_WORK, false) == after);
            assert_int_equal(comparison->context[i].found[SIDE_BASE], before > 0);
            assert_int_equal(comparison->context[i].found[SIDE_NEW], after > 0);
            return;
        }
    fail_msg("no such context: %s", name);
}

#define REGION(line, work) {1, ROW_PARALLEL, "f [parallel a.c:" #line "]", "app", "a.c", line, work}
#define FUNCTION_F(line)   {0, ROW_PROCEDURE, "f", "app", "a.c", line, 0}

COMPARED(regions_of_one_build_are_matched_by_their_lines)
{
    ADD(7, FUNCTION_F(10), REGION(20, 1), REGION(30, 2));
    ADD(7, FUNCTION_F(10), REGION(30, 5), REGION(40, 6));
    struct comparison *comparison = compare(1);
    assert_int_equal(comparison->count, 5);
    assert_work(comparison, "f [parallel]", 0, 1, 0);
    assert_work(comparison, "f [parallel]", 1, 2, 5);
    assert_work(comparison, "f [parallel]", 2, 0, 6);
}

COMPARED(regions_of_two_builds_are_matched_in_order)
{
    ADD(7, FUNCTION_F(10), REGION(20, 1), REGION(30, 2));
    ADD(8, FUNCTION_F(10), REGION(30, 5), REGION(40, 6));
    struct comparison *comparison = compare(1);
    assert_int_equal(comparison->count, 4);
    assert_work(comparison, "f [parallel]", 0, 1, 5);
    assert_work(comparison, "f [parallel]", 1, 2, 6);
}

COMPARED(an_added_region_is_new_and_lines_count_from_the_function)
{
    ADD(7, FUNCTION_F(10), REGION(20, 1), REGION(30, 2));
    ADD(8, FUNCTION_F(100), REGION(110, 5), REGION(114, 9), REGION(122, 6));
    struct comparison *comparison = compare(1);
    assert_work(comparison, "f [parallel]", 0, 1, 5);
    assert_work(comparison, "f [parallel]", 1, 2, 6);
    assert_work(comparison, "f [parallel]", 2, 0, 9);
}

COMPARED(the_function_around_need_not_be_in_every_run)
{
    for (uint8_t other = 7; other <= 8; other++) {
        ADD(7, FUNCTION_F(10), {0, ROW_TASK, "f [task a.c:20]", "app", "a.c", 20, 1},
            {0, ROW_TASK, "f [task a.c:30]", "app", "a.c", 30, 2});
        ADD(other, {0, ROW_TASK, "f [task a.c:30]", "app", "a.c", 30, 4});
        struct comparison *comparison = compare(1);
        assert_work(comparison, "f [task]", 0, 1, 0);
        assert_work(comparison, "f [task]", 1, 2, 4);
        forget(NULL);
    }
}

COMPARED(functions_of_one_name_are_told_apart_by_their_files)
{
    ADD(7, {0, ROW_PROCEDURE, "init", "app", "/old/a.c", 50, 1}, {0, ROW_PROCEDURE, "init", "app", "/old/b.c", 5, 2});
    ADD(8, {0, ROW_INLINED, "init", "app", "/new/b.c", 51, 4});
    struct comparison *comparison = compare(1);
    assert_work(comparison, "init", 0, 1, 0);
    assert_work(comparison, "init", 1, 2, 4);
}

COMPARED(addresses_without_symbols_need_the_same_build)
{
    for (uint8_t other = 7; other <= 9; other++) {
        ADD(other == 9 ? 0 : 7, {0, ROW_PROCEDURE, "app+0x10", "app", "", 0, 1},
            {0, ROW_PROCEDURE, "app+0x20", "app", "", 0, 2});
        ADD(other == 9 ? 0 : other, {0, ROW_PROCEDURE, "app+0x20", "app", "", 0, 4});
        struct comparison *comparison = compare(1);
        if (other == 7) {
            assert_work(comparison, "app+0x10", 0, 1, 0);
            assert_work(comparison, "app+0x20", 0, 2, 4);
        } else
            assert_work(comparison, "app (no symbols)", 0, 3, 4);
        forget(NULL);
    }
}

COMPARED(constructs_of_stripped_programs_need_the_same_build)
{
    for (uint8_t other = 7; other <= 8; other++) {
        ADD(7, {0, ROW_PARALLEL, "[parallel app+0x10]", "app", "", 0, 1},
            {0, ROW_PARALLEL, "go [parallel app+0x20]", "app", "", 0, 2});
        ADD(other, {0, ROW_PARALLEL, "go [parallel app+0x20]", "app", "", 0, 4});
        struct comparison *comparison = compare(1);
        if (other == 7) {
            assert_work(comparison, "[parallel app+0x10]", 0, 1, 0);
            assert_work(comparison, "go [parallel app+0x20]", 0, 2, 4);
        } else
            assert_work(comparison, "app (no symbols)", 0, 3, 4);
        forget(NULL);
    }
}

COMPARED(two_new_runs_of_one_build_do_not_make_the_base_that_build)
{
    ADD(7, {0, ROW_PROCEDURE, "app+0x10", "app", "", 0, 1}, {0, ROW_PROCEDURE, "app+0x20", "app", "", 0, 2});
    ADD(8, {0, ROW_PROCEDURE, "app+0x20", "app", "", 0, 4});
    ADD(8, {0, ROW_PROCEDURE, "app+0x20", "app", "", 0, 4});
    assert_work(compare(1), "app (no symbols)", 0, 3, 4);
}

COMPARED(lines_count_from_their_function)
{
    ADD(7, FUNCTION_F(10), {1, ROW_STATEMENT, "a.c:12", "app", "a.c", 12, 1},
        {1, ROW_STATEMENT, "h.h:3", "app", "h.h", 3, 2});
    ADD(8, FUNCTION_F(60), {1, ROW_STATEMENT, "a.c:62", "app", "a.c", 62, 3},
        {1, ROW_STATEMENT, "h.h:3", "app", "h.h", 3, 4});
    struct comparison *comparison = compare(1);
    assert_work(comparison, "line +2", 0, 1, 3);
    assert_work(comparison, "h.h:3", 0, 2, 4);
}

static enum limit_verdict judge(const struct comparison *comparison, const char *text, double least)
{
    struct limit limit;
    char error[300];
    assert_true(limit_read(&limit, text, error, sizeof error));
    limit_judge(&limit, comparison, least);
    limit_free(&limit);
    return limit.verdict;
}

COMPARED(limits_are_about_outermost_matches_beyond_noise)
{
    /* f calls itself; 1,000 samples/s: 4 s are 4,000 samples, off by 63 */
    ADD(7, FUNCTION_F(10), {1, ROW_PROCEDURE, "f", "app", "a.c", 10, 4},
        {0, ROW_PROCEDURE, "g(int)", "app", "a.c", 90, 0.001});
    ADD(8, FUNCTION_F(10), {1, ROW_PROCEDURE, "f", "app", "a.c", 10, 5},
        {0, ROW_PROCEDURE, "g(int)", "app", "a.c", 90, 0.04}, {0, ROW_PROCEDURE, "new", "app", "a.c", 1, 0.03});
    struct comparison *comparison = compare(1);
    assert_int_equal(judge(comparison, "work@^f$=24", 0), LIMIT_WITHIN_NOISE);
    assert_int_equal(judge(comparison, "work@^f$=15", 0), LIMIT_EXCEEDED);
    assert_int_equal(judge(comparison, "work@^f$=25", 0), LIMIT_KEPT);
    assert_int_equal(judge(comparison, "work@^g$=100", 0), LIMIT_EXCEEDED);
    assert_int_equal(judge(comparison, "work@^g$=100", 5), LIMIT_TOO_SMALL);
    assert_int_equal(judge(comparison, "work@new=300", 0), LIMIT_EXCEEDED);
    assert_int_equal(judge(comparison, "work@int=0", 0), LIMIT_NO_CONTEXT);
    assert_int_equal(judge(comparison, "overhead=0", 0), LIMIT_KEPT);
    assert_int_equal(judge(comparison, "wall=0", 0), LIMIT_KEPT);
}

COMPARED(repeated_runs_must_all_be_above_the_limit)
{
    const double work[RUNS] = {1, 1.1, 1.2, 1.3, 1.4, 1.5};
    for (int run = 0; run < RUNS; run++)
        ADD(7, {0, ROW_PROCEDURE, "f", "app", "a.c", 1, work[run]});
    struct comparison *comparison = compare(3);
    struct compare_change change = comparison_change(comparison, 1, METRIC_WORK, false);
    assert_true(change.beyond_noise && fabs(change.before - 1.1) < 1e-9 && fabs(change.after - 1.4) < 1e-9);
    assert_true(fabs(change.low - 0.1) < 1e-9 && fabs(change.high - 0.5) < 1e-9);
    assert_int_equal(judge(comparison, "work=8", 0), LIMIT_EXCEEDED);
    assert_int_equal(judge(comparison, "work=9", 0), LIMIT_WITHIN_NOISE); /* 1.3 of 1.2 */
    assert_int_equal(judge(comparison, "work=28", 0), LIMIT_KEPT);
}

/* Contexts that a run has twelve samples of, and the other none, may be chance; thirteen are not. */
COMPARED(what_was_not_sampled_may_have_been_missed_by_chance)
{
    for (int samples = 12; samples <= 13; samples++) {
        ADD(7, {0, ROW_PROCEDURE, "g", "app", "a.c", 90, 1});
        ADD(7, {0, ROW_PROCEDURE, "g", "app", "a.c", 90, 1},
            {0, ROW_PROCEDURE, "new", "app", "a.c", 1, 0.001 * samples});
        struct comparison *comparison = compare(1);
        assert_int_equal(comparison_change(comparison, 2, METRIC_WORK, false).beyond_noise, samples == 13);
        forget(NULL);
    }
}

COMPARED(a_function_that_calls_itself_counts_once)
{
    struct limit limit;
    char error[300];
    ADD(7, {0, ROW_PROCEDURE, "f", "app", "a.c", 10, 1}, {1, ROW_PROCEDURE, "f", "app", "a.c", 10, 4});
    ADD(7, {0, ROW_PROCEDURE, "f", "app", "a.c", 10, 2}, {1, ROW_PROCEDURE, "f", "app", "a.c", 10, 8});
    struct comparison *comparison = compare(1);
    assert_true(limit_read(&limit, "work@f=1", error, sizeof error));
    limit_judge(&limit, comparison, 0);
    assert_true(fabs(limit.change.before - 5) < 1e-9 && fabs(limit.change.after - 10) < 1e-9);
    limit_free(&limit);
}

#define ITERATION(name, line, work) {1, ROW_PHASE, name, "app", "a.c", line, work}

COMPARED(phases_are_matched_by_their_names_alone)
{
    ADD(7, {0, ROW_PHASE, "phase step", "app", "a.c", 10, 1}, ITERATION("step [2]", 10, 2),
        ITERATION("step [17]", 10, 3), ITERATION("event pack (left)", 20, 4), ITERATION("event pack (right)", 20, 5));
    ADD(8, {0, ROW_PHASE, "phase step", "libstep.so", "moved.c", 99, 6}, ITERATION("step [17]", 30, 7),
        ITERATION("step [2]", 30, 8), ITERATION("event pack (right)", 40, 9), ITERATION("event pack+0x2", 40, 10),
        ITERATION("step [18]", 30, 11));
    struct comparison *comparison = compare(1);
    assert_int_equal(comparison->count, 8);
    assert_work(comparison, "phase step", 0, 1, 6);
    assert_work(comparison, "step [2]", 0, 2, 8);
    assert_work(comparison, "step [17]", 0, 3, 7);
    assert_work(comparison, "step [18]", 0, 0, 11);
    assert_work(comparison, "event pack (left)", 0, 4, 0);
    assert_work(comparison, "event pack (right)", 0, 5, 9);
    assert_work(comparison, "event pack+0x2", 0, 0, 10);
}

/* 40 samples before and 50 after: noise is by the period in events, whatever rate the header has. */
COMPARED(events_have_the_noise_of_their_period)
{
    static char text[] = "sample\0perf::PAGE-FAULTS@10";
    ADD(7, {0, ROW_PROCEDURE, "f", "app", "a.c", 10, 400});
    ADD(7, {0, ROW_PROCEDURE, "f", "app", "a.c", 10, 500});
    for (int run = 0; run < 2; run++) {
        made.sums[run][0].samples = run ? 50 : 40;
        made.profile[run].text = text;
        made.profile[run].text_bytes = sizeof text;
        made.profile[run].header.period_ns = 10000000000;
    }
    struct comparison *comparison = compare(1);
    assert_string_equal(comparison_unit(comparison), "events");
    struct compare_change change = comparison_change(comparison, 0, METRIC_WORK, true);
    assert_true(fabs(change.after - change.before - 100) < 1e-6);
    assert_false(change.beyond_noise);
}

COMPARED(arguments_are_compared_however_long_the_programs_path)
{
    struct profile profile[2] = {0};
    const struct profile *profiles[2] = {&profile[0], &profile[1]};
    const char *const names[2] = {"a", "b"};
    char text[2][400], said[2000] = "";
    for (int i = 0; i < 2; i++) {
        memset(text[i], 0, sizeof text[i]);
        strcpy(text[i], "command");
        snprintf(text[i] + 8, sizeof text[i] - 9, "/%0250d/app -n %d", 0, i);
        profile[i].text = text[i];
        profile[i].text_bytes = sizeof text[i];
    }
    FILE *out = fmemopen(said, sizeof said, "w");
    comparable_complain(out, "stat", profiles, names, 2);
    fclose(out);
    assert_string_equal(said, "blame stat: arguments differ: -n 0 in a, -n 1 in b; compare runs of the same "
                              "input\n");
}

COMPARED(jobs_of_more_ranks_are_said_to_be)
{
    struct profile profile[3] = {{.header.merged = 2}, {.header.merged = 4}, {.header.merged = 0}};
    const struct profile *jobs[2] = {&profile[0], &profile[1]}, *alone[2] = {&profile[2], &profile[2]};
    const char *const names[2] = {"a", "b"};
    char said[400] = "";
    FILE *out = fmemopen(said, sizeof said, "w");
    comparable_complain(out, "diff", alone, names, 2);
    assert_int_equal(ftell(out), 0);
    comparable_complain(out, "diff", jobs, names, 2);
    fclose(out);
    assert_string_equal(said, "blame diff: numbers of ranks differ: 2 in a, 4 in b; seconds are sums over ranks, "
                              "so compare percentages instead\n");
}

COMPARED(what_programs_mostly_have_none_of_is_shown_where_a_run_had_some)
{
    ADD(1, {0, ROW_PROCEDURE, "f", "app", "f.c", 1, 10});
    made.no_core_s = 0.001;
    ADD(1, {0, ROW_PROCEDURE, "f", "app", "f.c", 1, 10});
    const struct comparison *comparison = compare(1);
    assert_true(comparison_shows(comparison, METRIC_LOCK_WAIT));
    assert_false(comparison_shows(comparison, METRIC_NO_CORE) || comparison_shows(comparison, METRIC_BLOCKED));
    forget(NULL);
    ADD(1, {0, ROW_PROCEDURE, "f", "app", "f.c", 1, 10});
    made.no_core_s = 2;
    ADD(1, {0, ROW_PROCEDURE, "f", "app", "f.c", 1, 10});
    comparison = compare(1);
    assert_true(comparison_shows(comparison, METRIC_NO_CORE));
    assert_false(comparison_shows(comparison, METRIC_BLOCKED));
}

/* Of time that others' contexts have the share of, too. */
COMPARED(a_run_has_the_errors_that_its_report_states)
{
    made.no_core_s = 3;
    made.elsewhere_s = 4;
    ADD(1, {0, ROW_PROCEDURE, "f", "app", "f.c", 1, 10}, {1, ROW_PSEUDO, "<no core>", "", "", 0, 2});
    struct rows *rows = made.rows[0];
    made.profile[0].header.threads_max = 8;
    rows->error = error_terms_of(&made.profile[0]);
    rows->cores = 2;
    const struct comparison *comparison = compare(1);
    for (uint32_t row = 0; row < 3; row++)
        for (enum metric metric = 0; metric < METRIC_NAMED; metric++)
            for (int inclusive = 0; inclusive < 2; inclusive++) {
                const struct row *of = &rows->row[row];
                double error = metric_error(rows, inclusive ? of->inclusive : of->exclusive, metric);
                double variance =
                    comparison_variance(comparison, 0, metric, comparison_value(comparison, 0, row, metric, inclusive),
                                        comparison_basis(comparison, 0, row, inclusive));
                assert_true(fabs(ERROR_DEVIATIONS * sqrt(variance) - error) < 1e-9);
            }
}

static const char *text_of(const struct comparison *comparison, bool diff)
{
    static char text[4000];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    if (diff)
        diff_text(out, comparison, made.profiles, &(struct diff_style){.metric = -1, .columns = 100, .top = 9});
    else
        stat_text(out, comparison, &(struct stat_style){.metric = METRIC_WORK, .columns = 100, .top = 9});
    fclose(out);
    return text;
}

/* Beside the shares, from a hundredth of a run's effort on. */
COMPARED(time_without_a_busy_thread_has_a_line)
{
    struct profile_thread thread[] = {{.idle_nobody_busy = 1e8}, {.idle_nobody_busy = 30e9}};
    for (size_t run = 0; run < 2; run++) {
        ADD(1, {0, ROW_PROCEDURE, "f", "app", "f.c", 1, 10});
        made.profile[run].threads = &thread[run];
        made.profile[run].thread_count = 1;
    }
    struct comparison *comparison = compare(1);
    struct compare_change change = comparison_nobody_change(comparison);
    assert_true(fabs(change.before - 0.1) < 1e-9 && fabs(change.after - 30) < 1e-9 && change.beyond_noise);
    assert_non_null(
        strstr(text_of(comparison, true),
               "\n  nobody busy            0.100                30.000               +29.900 +29900.0 %\n"));
    assert_non_null(
        strstr(text_of(comparison, false),
               "\n    15.050      0.100     30.000  while no thread was busy (not part of the effort above)\n"));
    comparison_free(comparison);
    thread[0].idle_nobody_busy = 1.9e8;
    thread[1].idle_nobody_busy = 2.1e8; /* of 20 s: f is at work, the other thread idles */
    comparison = compare(1);
    assert_false(comparison_nobody_change(comparison).beyond_noise);
    assert_non_null(strstr(text_of(comparison, true), "\n  nobody busy "));
    comparison_free(comparison);
    thread[1].idle_nobody_busy = 1.9e8;
    comparison = compare(1);
    assert_null(strstr(text_of(comparison, true), "nobody busy"));
    assert_null(strstr(text_of(comparison, false), "nobody busy"));
}

UNIT_MAIN(NULL, NULL)
