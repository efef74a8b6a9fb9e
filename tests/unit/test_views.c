/* needs: tests/fuzz/fake_symbols.c tests/fuzz/profile_builder.c */
#include "tests/unit/unit.h"

#include "report/rows/label.h"
#include "report/rows/rows.h"
#include "report/text/format.h"
#include "report/views/arrange.h"
#include "report/views/folded.h"
#include "report/views/summary.h"
#include "report/views/text.h"
#include "tests/fuzz/fake_symbols.h"
#include "tests/unit/merged_tree.h"

#define S 1e9

/* main calls f in line 10, f calls itself in line 20 and g in line 21; the address says where in the
 * function. */
enum { MAIN_10 = 1, F_20, F_21, F_25, G_30 };
#define KEY(place) PROFILE_KEY(1, 0x2000 + (place))
#define FRAME(n, l, al)                                                                                      \
    {                                                                                                        \
        .name = n, .host_name = "", .file = "/s/v.c", .line = l, .at_file = "/s/v.c", .at_line = al,         \
        .task_name = ""                                                                                      \
    }

static const struct symbol_frame frames[][1] = {[MAIN_10] = {FRAME("main", 9, 10)},
                                                [F_20] = {FRAME("f", 19, 20)},
                                                [F_21] = {FRAME("f", 19, 21)},
                                                [F_25] = {FRAME("f", 19, 25)},
                                                [G_30] = {FRAME("g", 29, 30)}};

struct made {
    struct profile profile;
    struct merged_node nodes[16];
    struct profile_thread thread[1];
    struct symbols *symbols;
    struct rows *rows;
};

static uint32_t add(struct made *made, uint32_t parent, uint64_t key, double work_s)
{
    return merged_add_work(&made->profile, parent, key, work_s);
}

/* main > f (1 s) > f (2 s) > g (4 s), and main > f > g (8 s). */
static int make(void **state)
{
    struct made *made = calloc(1, sizeof *made);
    for (int place = MAIN_10; place <= G_30; place++)
        fake_symbols_set(KEY(place), frames[place], 1);
    made->profile = (struct profile){.nodes = made->nodes,
                                     .node_count = 1,
                                     .threads = made->thread,
                                     .thread_count = 1,
                                     .text = "command\0./v"};
    made->profile.text_bytes = sizeof "command\0./v";
    made->profile.header = (struct profile_header){.threads_max = 2, .cores = 2, .finished = 1, .rate = 200};
    made->thread[0] = (struct profile_thread){.kind = 1, .end_ns = (uint64_t)(15 * S), .work = 15 * S};
    made->nodes[0].kind = PROFILE_NODE_ROOT;
    uint32_t main_10 = add(made, 0, KEY(MAIN_10), 0);
    add(made, main_10, KEY(F_25), 1);
    uint32_t f_20 = add(made, main_10, KEY(F_20), 0);
    add(made, f_20, KEY(F_25), 2);
    uint32_t inner = add(made, f_20, KEY(F_21), 0);
    add(made, inner, KEY(G_30), 4);
    uint32_t outer = add(made, main_10, KEY(F_21), 0);
    add(made, outer, KEY(G_30), 8);
    made->symbols = symbols_open(NULL, 0);
    made->rows = rows_build(&made->profile, made->symbols);
    *state = made;
    return made->rows ? 0 : -1;
}

static int destroy(void **state)
{
    struct made *made = *state;
    rows_free(made->rows);
    symbols_close(made->symbols);
    fake_symbols_clear();
    free(made);
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

static void bottom_up_counts_recursion_once(void **state)
{
    const struct made *made = *state;
    struct rows *view = view_bottom_up(made->rows, METRIC_WORK, 0, UINT32_MAX);
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

static void bottom_up_follows_no_callers_of_what_will_be_cut(void **state)
{
    const struct made *made = *state;
    struct rows *view = view_bottom_up(made->rows, METRIC_WORK, 5, UINT32_MAX);
    uint32_t f = child(view, 0, "f", 0);
    assert_int_equal(view->row[f].end, f + 1);
    assert_true(view->row[child(view, 0, "g", 0)].end > child(view, 0, "g", 0) + 1);
    rows_free(view);
}

static void flat_has_functions_and_their_lines(void **state)
{
    const struct made *made = *state;
    struct rows *view = view_flat(made->rows, FLAT_FUNCTION, METRIC_WORK);
    uint32_t f = child(view, 0, "f", 0);
    assert_seconds(view, f, 15, 3);
    assert_seconds(view, child(view, f, "v.c:25", 0), 3, 3);
    assert_seconds(view, 1, 12, 12); /* g: the largest of its own comes first */
    rows_free(view);
}

static char *print(const struct made *made, struct rows *rows, struct view_style style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(view_text(out, &made->profile, rows, &style));
    fclose(out);
    return text;
}

static void text_fits_its_columns_and_says_what_it_cut(void **state)
{
    const struct made *made = *state;
    struct view_style style = {
        .title = "Top-down", .metric = METRIC_WORK, .least_percent = 30, .columns = 60};
    char *text = print(made, made->rows, style);
    assert_non_null(strstr(text, "`-main  v.c:9"));
    assert_non_null(strstr(text, "-21: g  v.c:29"));
    assert_non_null(strstr(text, "below 30.0 % of the work cut, together 7.00 s"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(format_columns(line) <= 60);
    free(text);
    style.least_percent = 0;
    style.utf8 = true;
    text = print(made, made->rows, style);
    assert_non_null(strstr(text, "\xe2\x94\x94\xe2\x94\x80main"));
    assert_null(strstr(text, " cut"));
    free(text);
    style.least_percent = 0.5;
    style.metric = METRIC_LOCK_WAIT;
    text = print(made, made->rows, style);
    assert_non_null(strstr(text, "No lock wait was measured."));
    free(text);
}

static void folded_stacks_add_up_in_every_view(void **state)
{
    const struct made *made = *state;
    struct rows *views[] = {made->rows, view_bottom_up(made->rows, METRIC_WORK, 0, UINT32_MAX),
                            view_flat(made->rows, FLAT_FUNCTION, METRIC_WORK)};
    const char *expected[] = {"main;f;f;g 4000000\n", "g;f;f;main 4000000\n", "g 12000000\n"};
    for (int v = 0; v < 3; v++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_true(view_folded(out, views[v], METRIC_WORK));
        fclose(out);
        assert_non_null(strstr(text, expected[v]));
        long long total = 0;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            total += atoll(strrchr(line, ' '));
        assert_int_equal(total, 15000000);
        free(text);
    }
    rows_free(views[1]);
    rows_free(views[2]);
}

static void a_context_names_its_hottest_line_and_its_callers(void **state)
{
    const struct made *made = *state;
    uint32_t main_row = child(made->rows, 0, "main", 0), f = child(made->rows, main_row, "f", 10);
    uint32_t g = child(made->rows, f, "g", 21);
    char *label = view_context_label(made->rows, g, METRIC_WORK, 80, false);
    assert_string_equal(label, "g  v.c:30  < f < main");
    free(label);
    label = view_context_label(made->rows, g, METRIC_WORK, 18, false);
    assert_true(strlen(label) <= 18);
    free(label);
}

static void the_summary_is_short_and_names_what_matters(void **state)
{
    struct made *made = *state;
    char *text = NULL;
    size_t size = 0, lines = 0;
    struct report_tables tables = report_tables_make(&made->profile, made->symbols);
    FILE *out = open_memstream(&text, &size);
    report_print_summary(out, &made->profile, &tables, "blame-v-1");
    fclose(out);
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_true(lines <= 25);
    assert_non_null(strstr(text, "./v"));
    assert_non_null(strstr(text, "g  v.c:30  < f < main"));
    assert_non_null(strstr(text, "blame report blame-v-1"));
    assert_null(strstr(text, "lost:"));
    free(text);
    made->thread[0].dropped[PROFILE_DROP_NO_MEMORY] = 3;
    out = open_memstream(&text, &size);
    report_print_summary(out, &made->profile, &tables, "blame-v-1");
    fclose(out);
    assert_non_null(strstr(text, "lost: 3 of"));
    assert_non_null(strstr(text, "no memory"));
    free(text);
    report_tables_free(&tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bottom_up_counts_recursion_once, make, destroy),
        cmocka_unit_test_setup_teardown(bottom_up_follows_no_callers_of_what_will_be_cut, make, destroy),
        cmocka_unit_test_setup_teardown(flat_has_functions_and_their_lines, make, destroy),
        cmocka_unit_test_setup_teardown(text_fits_its_columns_and_says_what_it_cut, make, destroy),
        cmocka_unit_test_setup_teardown(folded_stacks_add_up_in_every_view, make, destroy),
        cmocka_unit_test_setup_teardown(a_context_names_its_hottest_line_and_its_callers, make, destroy),
        cmocka_unit_test_setup_teardown(the_summary_is_short_and_names_what_matters, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
