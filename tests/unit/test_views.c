/* needs: tests/fuzz/fake_symbols.c tests/fuzz/profile_builder.c */
#include "command/rows/label.h"
#include "command/rows/make.h"
#include "command/text/format.h"
#include "command/views/arrange.h"
#include "command/export/export.h"
#include "command/views/summary.h"
#include "command/views/text.h"
#include "tests/unit/made_profile.h"

/* main calls f in line 10, f calls itself in line 20 and g in line 21; the address says where in the
 * function. */
enum { MAIN_10 = 1, F_20, F_21, F_25, G_30 };
#define KEY(place) PROFILE_KEY(1, 0x2000 + (place))

/* main > f (1 s) > f (2 s) > g (4 s), and main > f > g (8 s). */
static int make(void **state)
{
    made_start(state);
    made.threads[0].end_ns = (uint64_t)(15 * S);
    made.threads[0].work = 15 * S;
    fake_function(KEY(MAIN_10), "main", "/s/v.c", 9, 10);
    fake_function(KEY(F_20), "f", "/s/v.c", 19, 20);
    fake_function(KEY(F_21), "f", "/s/v.c", 19, 21);
    fake_function(KEY(F_25), "f", "/s/v.c", 19, 25);
    fake_function(KEY(G_30), "g", "/s/v.c", 29, 30);
    uint32_t main_10 = made_work(0, KEY(MAIN_10), 0), f_20 = made_work(main_10, KEY(F_20), 0);
    made_work(main_10, KEY(F_25), 1);
    made_work(f_20, KEY(F_25), 2);
    made_work(made_work(f_20, KEY(F_21), 0), KEY(G_30), 4);
    made_work(made_work(main_10, KEY(F_21), 0), KEY(G_30), 8);
    made_tables();
    return 0;
}

static uint32_t child(const struct rows *rows, uint32_t parent, const char *name, int call_line)
{
    for (uint32_t i = parent + 1; i < rows->row[parent].end; i = rows->row[i].end)
        if (strcmp(rows->row[i].label->name, name) == 0 && rows->row[i].call_line == call_line)
            return i;
    fail_msg("no row %s called in line %d", name, call_line);
    return 0;
}

static void assert_seconds(const struct rows *rows, uint32_t row, double inclusive, double exclusive)
{
    assert_true(rows->row[row].inclusive->work == inclusive * S);
    assert_true(rows->row[row].exclusive->work == exclusive * S);
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, made_finish)

WITH_PROFILE(bottom_up_counts_recursion_once)
{
    struct rows *view = view_bottom_up(made.tables.rows, METRIC_WORK, 0, UINT32_MAX);
    uint32_t f = child(view, 0, "f", 0), g = child(view, 0, "g", 0), main_row = child(view, 0, "main", 0);
    assert_seconds(view, f, 15, 3); /* the inner f is part of the outer one's inclusive cost */
    assert_seconds(view, g, 12, 12);
    assert_seconds(view, main_row, 15, 0);
    assert_seconds(view, child(view, f, "f", 20), 6, 2);
    assert_seconds(view, child(view, f, "main", 10), 15, 1);
    uint32_t caller = child(view, g, "f", 21);
    assert_seconds(view, caller, 12, 12);
    assert_seconds(view, child(view, caller, "main", 10), 8, 8);
    assert_seconds(view, child(view, caller, "f", 20), 4, 4);
    rows_free(view);
}

WITH_PROFILE(bottom_up_follows_no_callers_of_what_will_be_cut)
{
    struct rows *view = view_bottom_up(made.tables.rows, METRIC_WORK, 5, UINT32_MAX);
    uint32_t f = child(view, 0, "f", 0);
    assert_int_equal(view->row[f].end, f + 1);
    assert_true(view->row[child(view, 0, "g", 0)].end > child(view, 0, "g", 0) + 1);
    rows_free(view);
}

WITH_PROFILE(flat_has_functions_and_their_lines)
{
    struct rows *view = view_flat(made.tables.rows, FLAT_FUNCTION, METRIC_WORK);
    uint32_t f = child(view, 0, "f", 0);
    assert_seconds(view, f, 15, 3);
    assert_seconds(view, child(view, f, "v.c:25", 0), 3, 3);
    assert_seconds(view, 1, 12, 12); /* g: the largest of its own comes first */
    rows_free(view);
}

static char *print(struct rows *rows, struct view_style style)
{
    FILE *out = made_out();
    view_text(out, &made.profile, rows, &style);
    fclose(out);
    return made_text;
}

/* f counted 100 and, called by itself, 20; g 3 in the inner f and 5000 in the outer one. */
static struct rows *counted_tables(void)
{
    static const struct merged_counters counted[] = {{3, {{7, 100}}}, {4, {{0, 20}}}, {6, {{0, 3}}}, {8, {{0, 5000}}}};
    memcpy(made.counters, counted, sizeof counted);
    made.profile.counters_count = sizeof counted / sizeof *counted;
    made.profile.counter_name[0] = "perf::A:u";
    made.profile.counter_name[1] = "B\033";
    made.profile.counter_count = 2;
    return made_tables();
}

static void assert_counted(const struct rows *rows, uint32_t row, double inclusive, double exclusive)
{
    enum metric b = (enum metric)(METRIC_COUNTER + 1);
    assert_true(row_value(rows, &rows->row[row], false, b) == inclusive);
    assert_true(row_value(rows, &rows->row[row], true, b) == exclusive);
}

WITH_PROFILE(views_have_counters_as_they_have_metrics)
{
    struct rows *rows = counted_tables(),
                *view = view_bottom_up(rows, (enum metric)(METRIC_COUNTER + 1), 4, UINT32_MAX);
    uint32_t f = child(view, 0, "f", 0), g = child(view, 0, "g", 0);
    assert_int_equal(g, 1); /* the largest count first */
    assert_counted(view, f, 5123, 120);
    assert_counted(view, child(view, f, "f", 20), 23, 20);
    assert_counted(view, child(view, f, "main", 10), 5123, 100);
    assert_counted(view, g, 5003, 5003);
    assert_counted(view, child(view, child(view, g, "f", 21), "main", 10), 5000, 5000);
    rows_free(view);
    view = view_bottom_up(rows, (enum metric)(METRIC_COUNTER + 1), 200, UINT32_MAX);
    f = child(view, 0, "f", 0);
    assert_int_equal(view->row[f].end, f + 1); /* has less than that */
    rows_free(view);
    view = view_flat(rows, FLAT_FUNCTION, METRIC_COUNTER);
    f = child(view, 0, "f", 0);
    assert_int_equal(f, 1);
    assert_counted(view, f, 5123, 120);
    assert_counted(view, child(view, f, "v.c:25", 0), 120, 120);
    assert_true(row_absolute(view, &view->row[f], true, METRIC_COUNTER) == 100);
    rows_free(view);
}

WITH_PROFILE(text_shows_counters_and_says_what_they_are)
{
    struct view_columns columns, none;
    char error[1000];
    struct rows *rows = counted_tables();
    struct view_style style = {.title = "Top-down",
                               .columns = 400,
                               .metric = (enum metric)(METRIC_COUNTER + 1),
                               .least_percent = 1,
                               .errors = true};
    assert_true(view_columns_read(&columns, rows, "B\033,perf::A:u:e,perf::A:u%,work", false, error, sizeof error));
    assert_true(columns.column[1].metric == METRIC_COUNTER && columns.column[1].exclusive);
    assert_true(columns.column[2].percent && !columns.column[2].exclusive);
    style.numbers = &columns;
    rows_order(rows, style.metric, false);
    const char *text = print(rows, style);
    assert_non_null(strstr(text, "percentages of the 5123 B? of all contexts"));
    assert_non_null(strstr(text, "rows below 1.0 % of the B? left out, totalling 23;"));
    assert_non_null(strstr(text, " B? (I) perf::A:u (E) perf::A:u (I) % work (I)      +-\n"));
    assert_non_null(strstr(text, "  5123                         100.0    15.00 "));
    assert_false(view_columns_read(&none, rows, "perf::A:e", false, error, sizeof error));
    assert_non_null(strstr(error, "blame; or a counter of this profile: perf::A:u, B"));
    style.metric = METRIC_WORK;
    assert_non_null(strstr(print(rows, style), "Counters were read at samples."));
    FILE *out = made_out();
    export_folded(out, rows, METRIC_COUNTER);
    fclose(out);
    assert_string_equal(made_text, "main;f 7\n");
}

WITH_PROFILE(text_fits_its_columns_and_says_what_it_cut)
{
    struct view_style style = {.title = "Top-down", .metric = METRIC_WORK, .least_percent = 30, .columns = 60};
    char *text = print(made.tables.rows, style);
    assert_non_null(strstr(text, "`-main  v.c:9"));
    assert_non_null(strstr(text, "-21: g  v.c:29"));
    assert_non_null(strstr(text, "below 30.0 % of the work left out, totalling 7.00 s"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(format_columns(line) <= 60);
    style.least_percent = 0;
    style.utf8 = true;
    text = print(made.tables.rows, style);
    assert_non_null(strstr(text, "\xe2\x94\x94\xe2\x94\x80main"));
    assert_null(strstr(text, " cut"));
    style.least_percent = 0.5;
    style.metric = METRIC_LOCK_WAIT;
    text = print(made.tables.rows, style);
    assert_non_null(strstr(text, "No lock wait was measured."));
}

static char *print_threads(size_t columns)
{
    struct view_style style = {.title = "Threads", .columns = columns};
    FILE *out = made_out();
    view_text_threads(out, &made.profile, &style);
    fclose(out);
    return made_text;
}

WITH_PROFILE(threads_of_a_job_have_their_rank)
{
    static struct profile_rank ranks[2] = {{.rank = 4}, {.rank = 7, .process = 1}};
    made_tables();
    assert_null(strstr(print_threads(100), "rank"));
    assert_non_null(strstr(made_text, "Seconds; begin and end"));
    made.profile.ranks = ranks;
    made.profile.rank_count = 2;
    made.threads[0].rank_record = 2;
    assert_non_null(strstr(print_threads(100), "thread    rank  kind      begin     end "));
    assert_non_null(strstr(made_text, "\n     0     7.1  "));
    assert_non_null(strstr(print_threads(80), "Seconds.\n")); /* no begin, and no end */
}

WITH_PROFILE(no_core_and_blocked_have_columns_where_there_is_something_to_say)
{
    struct view_style style = {.title = "Top-down", .metric = METRIC_WORK, .columns = 100};
    made.nodes[1].metric.blocked = 0.001 * S;
    assert_null(strstr(print(made_tables(), style), "blocked"));
    assert_null(strstr(print_threads(80), "blocked"));
    uint32_t no_core =
        made_add(1, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = 6 * S});
    made.nodes[1].metric.blocked = made.threads[0].blocked = 2 * S;
    made.threads[0].no_core = made.nodes[no_core].metric.no_core;
    char *text = print(made_tables(), style);
    assert_non_null(strstr(text, "no core blocked"));
    assert_non_null(strstr(text, "    6.00    2.00"));
    assert_non_null(strstr(text, "<no core>"));
    assert_non_null(strstr(print_threads(80), "idle no core blocked  idle %"));
    assert_non_null(strstr(print_threads(80), "6.00    2.00"));
    assert_non_null(strstr(print_threads(140), "x no core  z blocked"));
}

/* The line of titles. */
static char *print_titles(struct view_style style)
{
    char *line = strstr(print(made.tables.rows, style), "\n    work ");
    assert_non_null(line);
    line[1 + strcspn(line + 1, "\n")] = '\0';
    return line + 1;
}

/* Of each line as much as there is room for, and three numbers always. */
WITH_PROFILE(columns_stand_in_the_order_of_the_time_that_is_in_them)
{
    static const char most[] = "    work     %  itself idleness no core blocked overhead lock wait";
    struct view_style style = {.title = "Top-down", .metric = METRIC_WORK};
    uint32_t no_core =
        made_add(1, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = 6 * S});
    made.nodes[1].metric.blocked = 2 * S; /* and 7 s of idleness */
    made_tables();
    for (style.columns = 40; style.columns < 140; style.columns++) {
        char *titles = print_titles(style);
        assert_true(strlen(titles) >= strlen("    work     %  itself"));
        assert_memory_equal(titles, most, strlen(titles));
    }
    assert_string_equal(print_titles(style), most);
    style.columns = 80;
    assert_string_equal(print_titles(style), "    work     %  itself idleness no core");
    style.errors = true;
    assert_string_equal(print_titles(style), "    work      +-     %  itself      +-");
    style.columns = 100;
    assert_string_equal(print_titles(style), "    work      +-     %  itself      +- idleness      +-");
    style.errors = false;
    style.columns = 80;
    made.nodes[no_core].metric.no_core = 9 * S;
    made_tables();
    assert_string_equal(print_titles(style), "    work     %  itself no core idleness");
}

WITH_PROFILE(folded_stacks_add_up_in_every_view)
{
    struct rows *views[] = {made.tables.rows, view_bottom_up(made.tables.rows, METRIC_WORK, 0, UINT32_MAX),
                            view_flat(made.tables.rows, FLAT_FUNCTION, METRIC_WORK)};
    const char *expected[] = {"main;f;f;g 4000000\n", "g;f;f;main 4000000\n", "g 12000000\n"};
    for (int v = 0; v < 3; v++) {
        FILE *out = made_out();
        export_folded(out, views[v], METRIC_WORK);
        fclose(out);
        assert_non_null(strstr(made_text, expected[v]));
        long long total = 0;
        for (char *line = strtok(made_text, "\n"); line; line = strtok(NULL, "\n"))
            total += atoll(strrchr(line, ' '));
        assert_int_equal(total, 15000000);
    }
    rows_free(views[1]);
    rows_free(views[2]);
}

WITH_PROFILE(a_context_names_its_hottest_line_and_its_callers)
{
    uint32_t main_row = child(made.tables.rows, 0, "main", 0), f = child(made.tables.rows, main_row, "f", 10);
    uint32_t g = child(made.tables.rows, f, "g", 21);
    char *label = row_context_label(made.tables.rows, g, METRIC_WORK, 80, false);
    assert_string_equal(label, "g  v.c:30  < f < main");
    free(label);
    label = row_context_label(made.tables.rows, g, METRIC_WORK, 18, false);
    assert_true(strlen(label) <= 18);
    free(label);
}

WITH_PROFILE(a_function_that_calls_itself_is_named_once)
{
    uint32_t f = made_work(made_work(1, KEY(F_20), 0), KEY(F_20), 0);
    made_work(made_work(f, KEY(F_21), 0), KEY(G_30), 1);
    made_tables();
    uint32_t main_row = child(made.tables.rows, 0, "main", 0), row = child(made.tables.rows, main_row, "f", 10);
    for (int calls = 0; calls < 2; calls++)
        row = child(made.tables.rows, row, "f", 20);
    uint32_t g = child(made.tables.rows, row, "g", 21);
    const char *labels[] = {"f (recursive)  v.c:20  < main", "g  v.c:30  < f (recursive) < main"};
    for (int i = 0; i < 2; i++) {
        char *label = row_context_label(made.tables.rows, i ? g : row, METRIC_WORK, 80, false);
        assert_string_equal(label, labels[i]);
        free(label);
    }
}

/* A row that alone says nothing of whose it is has its caller, cut if it must be. */
WITH_PROFILE(no_core_names_the_code_that_had_none)
{
    fake_function(KEY(6), "a_function_of_a_very_long_name", "/s/v.c", 40, 41);
    uint32_t function = made_work(1, KEY(6), 0);
    made_add(function, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.no_core = S});
    made_tables();
    uint32_t main_row = child(made.tables.rows, 0, "main", 0);
    uint32_t caller = child(made.tables.rows, main_row, "a_function_of_a_very_long_name", 10);
    uint32_t no_core = child(made.tables.rows, caller, "<no core>", 0);
    char *label = row_context_label(made.tables.rows, no_core, METRIC_IDLENESS, 20, false);
    assert_string_equal(label, "<no core>  < a_...me");
    free(label);
    label = row_context_label(made.tables.rows, no_core, METRIC_IDLENESS, 18, false);
    assert_string_equal(label, "<no core>  < ...");
    free(label);
}

static const char *summary(void)
{
    FILE *out = made_out();
    report_print_summary(out, &made.profile, &made.tables, "blame-v-1");
    fclose(out);
    return made_text;
}

WITH_PROFILE(the_summary_is_short_and_names_what_matters)
{
    const char *text = summary();
    size_t lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_true(lines <= 25);
    assert_non_null(strstr(text, "./v"));
    assert_non_null(strstr(text, "g  v.c:30  < f < main"));
    assert_non_null(strstr(text, "blame report blame-v-1"));
    assert_null(strstr(text, "lost:"));
    made.threads[0].dropped[PROFILE_DROP_NO_MEMORY] = 3;
    text = summary();
    assert_non_null(strstr(text, "lost: 3 of"));
    assert_non_null(strstr(text, "no memory"));
}

/* It is a share of its own. */
WITH_PROFILE(time_without_a_busy_thread_is_named)
{
    assert_null(strstr(summary(), "nobody"));
    double effort = metric_value(made.tables.rows, rows_whole(made.tables.rows), METRIC_EFFORT);
    made.threads[0].idle_nobody_busy = 3 * effort * S;
    char share[60];
    snprintf(share, sizeof share, "  nobody busy %9.2f s  75.0 %%  ", 3 * effort);
    assert_non_null(strstr(summary(), share));
    assert_non_null(
        strstr(print(made.tables.rows, (struct view_style){.title = "Top-down", .metric = METRIC_WORK, .columns = 200}),
               " s of thread time in which no thread was busy"));
    made.threads[0].idle_nobody_busy = 0.005 * effort * S;
    assert_null(strstr(summary(), "nobody"));
}

/* 6 s of waiting, 4 of which were for a core of the lock's owner. */
UNIT_TEST_WITH(lock_wait_for_owners_without_a_core_is_told_apart, made_start, made_finish)
{
    uint32_t section =
        made_add(0, PROFILE_NODE_FRAME, KEY(MAIN_10), (struct profile_sums){.work = 4 * S, .lock_wait = 2 * S});
    made_tables();
    assert_null(strstr(summary(), "of it"));
    made_finish(NULL);
    made_start(NULL);
    section = made_add(0, PROFILE_NODE_FRAME, KEY(MAIN_10), (struct profile_sums){.work = 4 * S, .lock_wait = 2 * S});
    made_add(section, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE, (struct profile_sums){.lock_wait = 4 * S});
    made_tables();
    assert_non_null(strstr(summary(), "  lock wait      6.00 s"));
    assert_non_null(strstr(summary(), "    of it        4.00 s"));
}

UNIT_MAIN(NULL, NULL)
