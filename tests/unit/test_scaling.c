/* needs: tests/fuzz/fake_symbols.c */
/* Runs of 1, 2 and 4 threads with made thread time: what is lost, by whom, from where on. */
#include "tests/unit/made_runs.h"

#include <math.h>

#include "compare/scaling_html.h"
#include "compare/scaling_view.h"
#include "report/text/memory.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static struct scaling *scaling;

static int forget_scaling(void **state)
{
    scaling_free(scaling);
    scaling = NULL;
    return forget(state);
}

#define SCALED(name) UNIT_TEST_WITH(name, NULL, forget_scaling)

/* Rows of that work; made runs have two threads, so each is blamed for as much idleness. */
#define RUN(even, grows) ADD(7, {0, ROW_PROCEDURE, "even", "app", "a.c", 1, even}, {0, ROW_PROCEDURE, "grows", "app", "a.c", 9, grows})

static struct scaling *scale(const double *p, bool weak)
{
    return scaling = scaling_new(compare(made.runs), p, weak);
}

static struct scaling_row row_named(const char *name)
{
    size_t count;
    struct scaling_row *rows = scaling_rows(scaling, &count), found = {0};
    for (size_t i = 0; i < count; i++)
        if (strcmp(scaling->comparison->context[rows[i].context].canonical, name) == 0)
            found = rows[i];
    assert_true(found.context != 0);
    free(rows);
    return found;
}

SCALED(what_is_lost_is_the_sum_of_what_grows)
{
    RUN(4, 1);
    RUN(4, 2);
    RUN(4, 6);
    scale((double[]){1, 2, 4}, false);
    double of_one = scaling->point[0].effort_s, of_four = scaling->point[2].effort_s;
    assert_int_equal(scaling->count, 3);
    NEAR(of_one, 2 * 5);
    NEAR(of_four, 2 * 10);
    NEAR(scaling->point[2].ideal_s, of_one);
    NEAR(row_named("even").lost, 0);
    NEAR(row_named("grows").lost, 0.5);
    assert_true(row_named("even").first_p == 0);
    NEAR(scaling_inclusive(scaling, 0, 2, METRIC_WORK), 10);
    NEAR(scaling_effort(scaling, row_named("grows").context, 2, METRIC_WORK), 6);
}

SCALED(statements_count_once_in_their_function)
{
    const struct given one[] = {{0, ROW_PROCEDURE, "f", "app", "a.c", 1, 0}, {1, ROW_STATEMENT, "a.c:2", "app", "a.c", 2, 1}},
                       two[] = {{0, ROW_PROCEDURE, "f", "app", "a.c", 1, 0}, {1, ROW_STATEMENT, "a.c:2", "app", "a.c", 2, 4}};
    size_t count;
    add_run(7, one, 2);
    add_run(7, two, 2);
    scale((double[]){1, 2}, false);
    struct scaling_row *rows = scaling_rows(scaling, &count);
    assert_int_equal(count, 1);
    NEAR(rows[0].lost, 0.75);
    free(rows);
}

SCALED(what_grew_most_is_named)
{
    made.no_core_s = 0.5;
    RUN(4, 1);
    made.no_core_s = 6;
    RUN(4, 2);
    scale((double[]){1, 2}, false);
    assert_int_equal(row_named("grows").metric, METRIC_NO_CORE);
    assert_int_equal(row_named("even").metric, METRIC_NO_CORE);
}

SCALED(rows_come_by_what_they_lost)
{
    size_t count;
    RUN(4, 1);
    RUN(5, 3);
    scale((double[]){1, 2}, false);
    struct scaling_row *rows = scaling_rows(scaling, &count);
    assert_true(count >= 2 && rows[0].lost > rows[1].lost && rows[1].lost > 0);
    assert_string_equal(scaling->comparison->context[rows[0].context].canonical, "grows");
    free(rows);
    assert_false(scaling->modelled);
}

SCALED(with_twice_as_much_to_do_as_many_seconds_more_are_none_lost)
{
    RUN(4, 1);
    RUN(8, 2);
    RUN(16, 8);
    scale((double[]){1, 2, 4}, true);
    NEAR(row_named("even").lost, 0);
    NEAR(row_named("grows").lost, 4. / 24);
    NEAR(scaling->point[2].ideal_s, 4 * scaling->point[0].effort_s);
    NEAR(scaling->point[2].efficiency, 1); /* of the wall time: a second each */
    NEAR(scaling->point[2].speed_up, 4);
}

SCALED(runs_with_the_same_number_are_one_point_by_their_median)
{
    RUN(4, 9);
    RUN(4, 1);
    RUN(4, 2);
    RUN(4, 3);
    scale((double[]){2, 1, 1, 1}, false);
    assert_int_equal(scaling->count, 2);
    assert_true(scaling->point[0].p == 1 && scaling->point[0].runs == 3 && scaling->point[1].runs == 1);
    NEAR(scaling_effort(scaling, row_named("grows").context, 0, METRIC_WORK), 2);
    NEAR(scaling->point[1].speed_up, 1);
    NEAR(scaling->point[1].efficiency, 0.5);
}

SCALED(a_context_costs_from_where_on_it_does_at_all_higher_numbers)
{
    RUN(400, 50);
    RUN(400, 120);
    RUN(400, 50);
    RUN(400, 150);
    RUN(400, 250);
    scale((double[]){1, 2, 4, 8, 16}, false);
    assert_true(row_named("grows").first_p == 8);
    assert_int_equal(row_named("grows").metric, METRIC_WORK);
    assert_true(scaling->modelled);
}

/* As text and page; malloc'ed. */
static char *said(size_t top)
{
    const struct scaling_style style = {.by = "threads", .top = top, .columns = 250};
    char *text;
    FILE *out = memory_stream(&text);
    scaling_text(out, scaling, &style);
    scaling_html(out, scaling, &style, "made");
    memory_stream_close(out);
    return text;
}

SCALED(events_are_not_called_seconds)
{
    static char text[] = "sample\0perf::PAGE-FAULTS@10";
    static const char *const events[] = {"events more of thread time", "events at 1", "Thread time, events", "events of thread time more", ">events at 1"};
    static const char *const seconds[] = {"wall time", " s more", "  s at 1", "Thread time, s", " s of thread time", ">s at 1", " s work"};
    RUN(4, 1);
    RUN(4, 6);
    RUN(4, 16);
    for (size_t run = 0; run < made.runs; run++) {
        made.profile[run].text = text;
        made.profile[run].text_bytes = sizeof text;
    }
    scale((double[]){1, 2, 4}, false);
    char *all = said(10);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (!strstr(all, events[i]))
            fail_msg("not said: %s", events[i]);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        if (strstr(all, seconds[i]))
            fail_msg("said: %s", seconds[i]);
    free(all);
}

SCALED(that_it_scales_is_not_said_because_no_rows_were_asked_for)
{
    RUN(4, 1);
    RUN(4, 2);
    scale((double[]){1, 2}, false);
    char *all = said(0);
    assert_null(strstr(all, "it scales"));
    free(all);
}

SCALED(that_it_scales_is_said_where_nothing_grows)
{
    RUN(4, 1);
    RUN(4, 1);
    scale((double[]){1, 2}, false);
    char *all = said(10);
    assert_non_null(strstr(all, "Nothing grows: it scales.\n"));
    assert_non_null(strstr(all, "<p>Nothing grows: it scales.</p>"));
    free(all);
}

UNIT_MAIN(NULL, NULL)
