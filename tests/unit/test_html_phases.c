/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/html_page.h"

#define MS     1e6
#define MOST   10000
#define KERNEL PROFILE_KEY(1, 0x3000)

enum { STEP = 1, PACK, CHECK, NAMES = CHECK };

static void probe(uint32_t node, uint64_t calls, double each_ns)
{
    double sum = (double)calls * each_ns;
    made.probes[made.profile.probe_count++] = (struct merged_probe){.node = node,
                                                                    .tree = 1,
                                                                    .probe = {.calls = calls,
                                                                              .inclusive_ns = sum,
                                                                              .exclusive_ns = sum / 4,
                                                                              .shortest_ns = each_ns / 2,
                                                                              .longest_ns = each_ns * 2,
                                                                              .sum_of_squares = sum * each_ns}};
}

/* Execution 7777 takes a second, 4321 a microsecond, the others 1 to 5 ms; each has 2 ms of work. */
static double duration_ns(uint32_t number)
{
    return number == 7777 ? S : number == 4321 ? 1000 : (1 + number % 5) * MS;
}

static void add_steps(uint32_t count, bool others)
{
    uint32_t step = made_add(0, PROFILE_NODE_PHASE, STEP, (struct profile_sums){0});
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = made_add(step, PROFILE_NODE_INSTANCE, i, (struct profile_sums){0});
        made_work(node, KERNEL, 2e-3);
        probe(node, 1, duration_ns(i));
    }
    if (others)
        probe(made_add(step, PROFILE_NODE_INSTANCE, PROFILE_INSTANCE_REST, (struct profile_sums){0}), 1000, 3 * MS);
}

static int start(void **state)
{
    made_start(state);
    fake_function(KERNEL, "kernel", "/s/a.c", 20, 22);
    made.profile.name_count = NAMES;
    made.profile.header.end_ns = made.threads[0].end_ns = (uint64_t)(60 * S);
    strcpy(made.names[STEP - 1].text, "step");
    strcpy(made.names[PACK - 1].text, "pack");
    strcpy(made.names[CHECK - 1].text, "check");
    return 0;
}

static void make_all(double least_percent)
{
    make_page((struct html_options){.no_source = true, .least_percent = least_percent});
}

/* Of the series of the first phase. */
static int64_t point(const char *column, size_t index)
{
    json_t *points = at(at(page.data, "phases/phases/1/series"), column);
    return json_integer_value(json_array_get(points, index));
}

static int64_t sum(json_t *column)
{
    int64_t total = 0;
    for (size_t i = 0; i < json_array_size(column); i++)
        total += json_integer_value(json_array_get(column, i));
    return total;
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, start, forget_page)

WITH_PROFILE(a_short_series_has_each_execution)
{
    add_steps(40, false);
    make_all(0);
    assert_int_equal(count("phases/phases"), 2);
    assert_int_equal(number("phases/phases/0/row"), 0);
    assert_true(json_is_null(at(page.data, "phases/phases/0/series")));
    assert_string_equal(row_name(number("phases/phases/1/row")), "phase step");
    assert_int_equal(number("phases/phases/1/executions"), 40);
    assert_int_equal(number("phases/phases/1/instances"), 40);
    assert_int_equal(number("phases/phases/1/seconds"), 120000);
    assert_int_equal(number("phases/phases/1/work"), 80000);
    assert_true(json_is_null(at(page.data, "phases/phases/1/others")));
    json_t *series = at(page.data, "phases/phases/1/series");
    assert_int_equal(json_array_size(at(series, "first")), 40);
    for (int64_t i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "step [%lld]", (long long)i);
        assert_int_equal(point("first", i), i);
        assert_int_equal(point("last", i), i);
        assert_int_equal(point("seconds", i), 1000 * (1 + i % 5));
        assert_int_equal(point("work", i), 2000);
        assert_string_equal(row_name(point("row", i)), name);
    }
}

WITH_PROFILE(a_long_series_is_bounded_and_keeps_least_most_and_sums)
{
    double seconds = 0;
    add_steps(MOST, true);
    for (uint32_t i = 0; i < MOST; i++)
        seconds += duration_ns(i);
    make_all(0);
    json_t *series = at(page.data, "phases/phases/1/series");
    size_t points = json_array_size(at(series, "first"));
    assert_int_equal(points, HTML_SERIES_POINTS);
    assert_int_equal(sum(at(series, "instances")), MOST);
    assert_int_equal(sum(at(series, "seconds")), (int64_t)(seconds / 1000));
    assert_int_equal(sum(at(series, "work")), 2000 * MOST);
    int64_t least = INT64_MAX, next = 0;
    size_t most = 0;
    for (size_t i = 0; i < points; i++) {
        int64_t min = point("min", i);
        least = min < least ? min : least;
        if (point("max", i) > point("max", most))
            most = i;
        assert_int_equal(point("first", i), next);
        next = point("last", i) + 1;
    }
    assert_int_equal(next, MOST);
    assert_int_equal(least, 1);
    assert_int_equal(point("max", most), 1000000);
    assert_int_equal(point("slowest", most), 7777);
    assert_string_equal(row_name(point("row", most)), "step [7777]");
    assert_int_equal(number("phases/phases/1/others/executions"), 1000);
    assert_int_equal(number("phases/phases/1/others/mean"), 3000);
    assert_int_equal(number("phases/phases/1/executions"), MOST + 1000);
}

WITH_PROFILE(exact_times_are_listed_for_the_rows_that_have_them)
{
    add_steps(3, false);
    uint32_t pack = made_add(0, PROFILE_NODE_EVENT, PACK, (struct profile_sums){0});
    made_work(pack, KERNEL, 1);
    probe(pack, 8, S);
    make_all(0);
    json_t *exact = at(page.data, "rows/exact");
    assert_int_equal(json_array_size(at(exact, "row")), 5); /* the phase, its three executions, the event */
    for (size_t i = 0; i < 5; i++) {
        const char *name = row_name(json_integer_value(json_array_get(at(exact, "row"), i)));
        if (strcmp(name, "event pack") == 0) {
            assert_int_equal(json_integer_value(json_array_get(at(exact, "calls"), i)), 8);
            assert_int_equal(json_integer_value(json_array_get(at(exact, "i"), i)), 8000000);
            assert_int_equal(json_integer_value(json_array_get(at(exact, "e"), i)), 2000000);
            return;
        }
    }
    fail_msg("no event");
}

WITH_PROFILE(a_phase_without_row_in_the_page_leads_to_what_is_above)
{
    add_steps(3, false);
    uint32_t check = made_add(0, PROFILE_NODE_PHASE, CHECK, (struct profile_sums){0});
    made_work(check, KERNEL, 1);
    probe(check, 1, S);
    make_all(80); /* the steps are small */
    assert_string_equal(row_name(number("phases/phases/1/row")), "phase check");
    assert_int_equal(number("phases/phases/2/row"), 0);
    assert_int_equal(number("phases/phases/2/series/row/1"), 0);
}

WITH_PROFILE(a_program_without_phases_has_none)
{
    made_work(0, KERNEL, 1);
    make_all(0);
    assert_true(json_is_null(at(page.data, "phases")));
    assert_true(json_is_null(at(page.data, "rows/exact")));
    assert_true(json_is_null(at(page.data, "header/sample")));
    assert_string_equal(text("metrics/1/unit"), "s");
}

/* As samples by overflow have it: a period of ten events is so many "seconds". */
WITH_PROFILE(counters_are_metrics_and_events_are_said)
{
    static char sample[] = "sample\0perf::PAGE-FAULTS@10";
    made.profile.text = sample;
    made.profile.text_bytes = sizeof sample;
    made.profile.header.period_ns = 10000000000;
    made.profile.counter_count = 1;
    made.profile.counter_name[0] = "perf::\"FAULTS\"";
    uint32_t large = made_work(0, KERNEL, 10), small;
    fake_function(KERNEL + 8, "small", "", 0, 0);
    small = made_work(0, KERNEL + 8, 0.01);
    made.counters[0] = (struct merged_counters){.node = large, .counters = {.value = {41}}};
    made.counters[1] = (struct merged_counters){.node = small, .counters = {.value = {5}}};
    made.profile.counters_count = 2;
    make_all(60);
    assert_string_equal(text("metrics/1/unit"), "events");
    assert_string_equal(text("metrics/0/unit"), "");
    assert_string_equal(text("header/sample/event"), "perf::PAGE-FAULTS");
    assert_int_equal(number("header/sample/period"), 10);
    assert_string_equal(text("metrics/8/key"), "perf::\"FAULTS\"");
    assert_true(json_is_true(at(page.data, "metrics/8/counter")));
    json_t *inclusive = at(page.data, "rows/i/perf::\"FAULTS\""), *own = at(page.data, "rows/e/perf::\"FAULTS\"");
    size_t last = json_array_size(inclusive) - 1;
    assert_int_equal(json_integer_value(json_array_get(inclusive, 0)), 46);
    assert_string_equal(row_name((int64_t)last), "(small)");
    assert_int_equal(json_integer_value(json_array_get(inclusive, last)), 5);
    assert_int_equal(json_integer_value(json_array_get(own, last)), 5);
}

UNIT_MAIN(NULL, NULL)
