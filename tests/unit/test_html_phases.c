/* needs: tests/fuzz/fake_symbols.c */
#include <jansson.h>

#include "html/html.h"
#include "report/rows/rows.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/merged_tree.h"
#include "tests/unit/unit.h"

#define S      1e9
#define MS     1e6
#define MOST   10000
#define KERNEL PROFILE_KEY(1, 0x3000)

enum { STEP = 1, PACK, CHECK, NAMES = CHECK };

static struct {
    struct profile profile;
    struct merged_node nodes[3 * MOST];
    struct merged_probe probes[MOST + 10];
    struct merged_counters counters[2];
    struct profile_thread thread;
    struct profile_name names[NAMES];
    struct symbols *symbols;
    struct rows *rows;
    struct phase_table *phases;
    char *page;
    json_t *data;
} made;

static void probe(uint32_t node, uint64_t calls, double each_ns)
{
    double sum = (double)calls * each_ns;
    made.probes[made.profile.probe_count++] =
        (struct merged_probe){.node = node,
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
    uint32_t step = merged_add(&made.profile, 0, PROFILE_NODE_PHASE, STEP, (struct profile_metric){0});
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = merged_add(&made.profile, step, PROFILE_NODE_INSTANCE, i, (struct profile_metric){0});
        merged_add_work(&made.profile, node, KERNEL, 2e-3);
        probe(node, 1, duration_ns(i));
    }
    if (others)
        probe(merged_add(&made.profile, step, PROFILE_NODE_INSTANCE, PROFILE_INSTANCE_REST,
                         (struct profile_metric){0}),
              1000, 3 * MS);
}

static int start(void **state)
{
    (void)state;
    static const struct symbol_frame frame[] = {{.name = "kernel",
                                                 .host_name = "",
                                                 .file = "/s/a.c",
                                                 .line = 20,
                                                 .at_file = "/s/a.c",
                                                 .at_line = 22,
                                                 .task_name = ""}};
    memset(&made, 0, sizeof made);
    fake_symbols_set(KERNEL, frame, 1);
    made.profile = (struct profile){.nodes = made.nodes,
                                    .node_count = 1,
                                    .threads = &made.thread,
                                    .thread_count = 1,
                                    .names = made.names,
                                    .name_count = NAMES,
                                    .probes = made.probes,
                                    .counters = made.counters};
    made.profile.header = (struct profile_header){
        .threads_max = 2, .cores = 2, .finished = 1, .rate = 200, .end_ns = (uint64_t)(60 * S)};
    made.thread = (struct profile_thread){.kind = 1, .tree = 1, .end_ns = (uint64_t)(60 * S)};
    made.nodes[0].kind = PROFILE_NODE_ROOT;
    strcpy(made.names[STEP - 1].text, "step");
    strcpy(made.names[PACK - 1].text, "pack");
    strcpy(made.names[CHECK - 1].text, "check");
    made.symbols = symbols_open(NULL, 0);
    return made.symbols ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    json_decref(made.data);
    free(made.page);
    phases_free(made.phases);
    rows_free(made.rows);
    symbols_close(made.symbols);
    fake_symbols_clear();
    return 0;
}

static void make_page(double least_percent)
{
    static const char begin[] = "id=\"blame-data\">";
    size_t bytes;
    json_error_t error;
    struct html_options options = {.no_source = true, .least_percent = least_percent};
    struct html_result result;
    made.rows = rows_build(&made.profile, made.symbols);
    struct lock_table *locks = locks_gather(&made.profile, made.rows, made.symbols);
    struct wait_table *waits = waits_gather(&made.profile, made.rows, locks, made.symbols);
    made.phases = phases_any(&made.profile) ? phases_gather(&made.profile, made.rows) : NULL;
    struct html_input input = {
        .profile = &made.profile, .rows = made.rows, .locks = locks, .waits = waits, .phases = made.phases};
    FILE *out = open_memstream(&made.page, &bytes);
    assert_true(html_write(out, &input, &options, &result));
    assert_int_equal(fclose(out), 0);
    waits_free(waits);
    locks_free(locks);
    char *data = strstr(made.page, begin) + strlen(begin), *end = strstr(data, "</script>");
    made.data = json_loadb(data, (size_t)(end - data), 0, &error);
    if (!made.data)
        fail_msg("%s at %d", error.text, error.position);
}

/* By a path of keys; numbers are places. */
static json_t *at(json_t *json, const char *path)
{
    char *copy = strdup(path), *rest = copy;
    for (char *key; (key = strsep(&rest, "/"));)
        json =
            json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10)) : json_object_get(json, key);
    free(copy);
    return json;
}

static int64_t number(const char *path)
{
    json_t *value = at(made.data, path);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static const char *row_name(int64_t row)
{
    json_t *name = json_array_get(at(made.data, "rows/name"), (size_t)row);
    return json_string_value(json_array_get(at(made.data, "strings"), (size_t)json_integer_value(name)));
}

static int64_t sum(json_t *column)
{
    int64_t total = 0;
    for (size_t i = 0; i < json_array_size(column); i++)
        total += json_integer_value(json_array_get(column, i));
    return total;
}

static void a_short_series_has_each_execution(void **state)
{
    (void)state;
    add_steps(40, false);
    make_page(0);
    assert_int_equal(json_array_size(at(made.data, "phases/phases")), 2);
    assert_int_equal(number("phases/phases/0/row"), 0);
    assert_true(json_is_null(at(made.data, "phases/phases/0/series")));
    assert_string_equal(row_name(number("phases/phases/1/row")), "phase step");
    assert_int_equal(number("phases/phases/1/executions"), 40);
    assert_int_equal(number("phases/phases/1/instances"), 40);
    assert_int_equal(number("phases/phases/1/seconds"), 120000);
    assert_int_equal(number("phases/phases/1/work"), 80000);
    assert_true(json_is_null(at(made.data, "phases/phases/1/others")));
    json_t *series = at(made.data, "phases/phases/1/series");
    assert_int_equal(json_array_size(at(series, "first")), 40);
    for (int64_t i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "step [%lld]", (long long)i);
        assert_int_equal(json_integer_value(json_array_get(at(series, "first"), (size_t)i)), i);
        assert_int_equal(json_integer_value(json_array_get(at(series, "last"), (size_t)i)), i);
        assert_int_equal(json_integer_value(json_array_get(at(series, "seconds"), (size_t)i)),
                         1000 * (1 + i % 5));
        assert_int_equal(json_integer_value(json_array_get(at(series, "work"), (size_t)i)), 2000);
        assert_string_equal(row_name(json_integer_value(json_array_get(at(series, "row"), (size_t)i))), name);
    }
}

static void a_long_series_is_bounded_and_keeps_least_most_and_sums(void **state)
{
    (void)state;
    double seconds = 0;
    add_steps(MOST, true);
    for (uint32_t i = 0; i < MOST; i++)
        seconds += duration_ns(i);
    make_page(0);
    json_t *series = at(made.data, "phases/phases/1/series");
    size_t points = json_array_size(at(series, "first"));
    assert_int_equal(points, HTML_SERIES_POINTS);
    assert_int_equal(sum(at(series, "instances")), MOST);
    assert_int_equal(sum(at(series, "seconds")), (int64_t)(seconds / 1000));
    assert_int_equal(sum(at(series, "work")), 2000 * MOST);
    int64_t least = INT64_MAX, next = 0;
    size_t most = 0;
    for (size_t i = 0; i < points; i++) {
        int64_t min = json_integer_value(json_array_get(at(series, "min"), i));
        least = min < least ? min : least;
        if (json_integer_value(json_array_get(at(series, "max"), i)) >
            json_integer_value(json_array_get(at(series, "max"), most)))
            most = i;
        assert_int_equal(json_integer_value(json_array_get(at(series, "first"), i)), next);
        next = json_integer_value(json_array_get(at(series, "last"), i)) + 1;
    }
    assert_int_equal(next, MOST);
    assert_int_equal(least, 1);
    assert_int_equal(json_integer_value(json_array_get(at(series, "max"), most)), 1000000);
    assert_int_equal(json_integer_value(json_array_get(at(series, "slowest"), most)), 7777);
    assert_string_equal(row_name(json_integer_value(json_array_get(at(series, "row"), most))), "step [7777]");
    assert_int_equal(number("phases/phases/1/others/executions"), 1000);
    assert_int_equal(number("phases/phases/1/others/mean"), 3000);
    assert_int_equal(number("phases/phases/1/executions"), MOST + 1000);
}

static void exact_times_are_listed_for_the_rows_that_have_them(void **state)
{
    (void)state;
    add_steps(3, false);
    uint32_t pack = merged_add(&made.profile, 0, PROFILE_NODE_EVENT, PACK, (struct profile_metric){0});
    merged_add_work(&made.profile, pack, KERNEL, 1);
    probe(pack, 8, S);
    make_page(0);
    json_t *exact = at(made.data, "rows/exact");
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

static void a_phase_without_row_in_the_page_leads_to_what_is_above(void **state)
{
    (void)state;
    add_steps(3, false);
    uint32_t check = merged_add(&made.profile, 0, PROFILE_NODE_PHASE, CHECK, (struct profile_metric){0});
    merged_add_work(&made.profile, check, KERNEL, 1);
    probe(check, 1, S);
    make_page(80); /* the steps are small */
    assert_string_equal(row_name(number("phases/phases/1/row")), "phase check");
    assert_int_equal(number("phases/phases/2/row"), 0);
    assert_int_equal(number("phases/phases/2/series/row/1"), 0);
}

static void a_program_without_phases_has_none(void **state)
{
    (void)state;
    merged_add_work(&made.profile, 0, KERNEL, 1);
    make_page(0);
    assert_true(json_is_null(at(made.data, "phases")));
    assert_true(json_is_null(at(made.data, "rows/exact")));
    assert_true(json_is_null(at(made.data, "header/sample")));
    assert_string_equal(json_string_value(at(made.data, "metrics/1/unit")), "s");
}

/* As samples by overflow have it: a period of ten events is so many "seconds". */
static void counters_are_metrics_and_events_are_said(void **state)
{
    (void)state;
    static char text[] = "sample\0perf::PAGE-FAULTS@10";
    made.profile.text = text;
    made.profile.text_bytes = sizeof text;
    made.profile.header.period_ns = 10000000000;
    made.profile.counter_count = 1;
    made.profile.counter_name[0] = "perf::\"FAULTS\"";
    uint32_t large = merged_add_work(&made.profile, 0, KERNEL, 10), small;
    fake_symbols_set(KERNEL + 8,
                     (const struct symbol_frame[]){
                         {.name = "small", .host_name = "", .file = "", .at_file = "", .task_name = ""}},
                     1);
    small = merged_add_work(&made.profile, 0, KERNEL + 8, 0.01);
    made.counters[0] = (struct merged_counters){.node = large, .counters = {.value = {41}}};
    made.counters[1] = (struct merged_counters){.node = small, .counters = {.value = {5}}};
    made.profile.counters_count = 2;
    make_page(60);
    assert_string_equal(json_string_value(at(made.data, "metrics/1/unit")), "events");
    assert_string_equal(json_string_value(at(made.data, "metrics/0/unit")), "");
    assert_string_equal(json_string_value(at(made.data, "header/sample/event")), "perf::PAGE-FAULTS");
    assert_int_equal(number("header/sample/period"), 10);
    assert_string_equal(json_string_value(at(made.data, "metrics/8/key")), "perf::\"FAULTS\"");
    assert_true(json_is_true(at(made.data, "metrics/8/counter")));
    json_t *inclusive = at(made.data, "rows/i/perf::\"FAULTS\""),
           *own = at(made.data, "rows/e/perf::\"FAULTS\"");
    size_t last = json_array_size(inclusive) - 1;
    assert_int_equal(json_integer_value(json_array_get(inclusive, 0)), 46);
    assert_string_equal(row_name((int64_t)last), "(small)");
    assert_int_equal(json_integer_value(json_array_get(inclusive, last)), 5);
    assert_int_equal(json_integer_value(json_array_get(own, last)), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_short_series_has_each_execution, start, finish),
        cmocka_unit_test_setup_teardown(a_long_series_is_bounded_and_keeps_least_most_and_sums, start,
                                        finish),
        cmocka_unit_test_setup_teardown(exact_times_are_listed_for_the_rows_that_have_them, start, finish),
        cmocka_unit_test_setup_teardown(a_phase_without_row_in_the_page_leads_to_what_is_above, start,
                                        finish),
        cmocka_unit_test_setup_teardown(a_program_without_phases_has_none, start, finish),
        cmocka_unit_test_setup_teardown(counters_are_metrics_and_events_are_said, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
