#include "tests/unit/random_rows.h"

#include "command/rows/filter.h"

#define TREES     400
#define MOST_PATH 4096

static const char *const expressions[] = {"^f0$", "f[0-2]", "x\\.c$", "parallel|kmpc", "y.c:2", "p4|f3", "nothing"};
#define EXPRESSIONS (sizeof expressions / sizeof *expressions)

static bool matches(const regex_t *expression, const struct rows *rows, uint32_t row)
{
    const struct row_label *label = rows->row[row].label;
    return row && expression &&
           (regexec(expression, label->name, 0, NULL, 0) == 0 ||
            (*label->file && regexec(expression, label->file, 0, NULL, 0) == 0));
}

static bool on_focus(const struct rows_filter *filter, const struct rows *rows, uint32_t row)
{
    bool found = !filter->focus;
    for (uint32_t at = row; at != ROW_NONE && !found; at = rows->row[at].parent)
        found = matches(filter->focus, rows, at);
    return found;
}

/* The way to a row over those that are not hidden, innermost first, with the lines that they are called in.
 */
static void put_path(char *path, const struct rows *rows, const regex_t *hide, uint32_t row)
{
    size_t used = 0;
    *path = '\0';
    while (row) {
        const struct row *at = &rows->row[row];
        uint32_t above = at->parent;
        int line = at->call_line;
        if (matches(hide, rows, row)) {
            row = above;
            continue;
        }
        for (; above && matches(hide, rows, above); above = rows->row[above].parent)
            line = rows->row[above].call_line;
        used += (size_t)snprintf(path + used, MOST_PATH - used, "%u.%u@%d<", at->function, at->kind, line);
        row = above;
    }
}

/* What the filter must leave of a row that is shown. */
static double due_exclusive(const struct rows *rows, const struct rows_filter *filter, const char *path)
{
    char other[MOST_PATH];
    double sum = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        put_path(other, rows, filter->hide, i);
        if (strcmp(path, other) != 0)
            continue;
        double lines = 0;
        for (uint32_t child = i + 1; child < rows->row[i].end; child = rows->row[child].end)
            if (rows->row[child].kind == ROW_STATEMENT && on_focus(filter, rows, child))
                lines += own(rows, child);
        sum += on_focus(filter, rows, i) ? own(rows, i) : lines;
    }
    return sum;
}

static void check_sums(const struct rows *view)
{
    double total = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct row *row = &view->row[i];
        double below = 0;
        for (uint32_t child = i + 1; child < row->end; child = view->row[child].end)
            below += is_code(view, child) ? view->row[child].inclusive->work : 0;
        assert_true(row->inclusive->work == row->exclusive->work + below);
        total += row->kind == ROW_STATEMENT ? 0 : row->exclusive->work;
    }
    assert_true(total == total_of(view));
}

static void check_filter(const struct rows *rows, const struct rows_filter *filter)
{
    char path[MOST_PATH];
    struct rows *view = rows_filter(rows, filter);
    double due_total = 0;
    assert_non_null(view);
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->row[i].kind == ROW_STATEMENT)
            continue;
        assert_false(matches(filter->hide, view, i));
        put_path(path, view, NULL, i);
        assert_true(own(view, i) == due_exclusive(rows, filter, path));
    }
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT && on_focus(filter, rows, i))
            due_total += own(rows, i);
        else if (rows->row[i].kind == ROW_STATEMENT && on_focus(filter, rows, i) &&
                 !on_focus(filter, rows, rows->row[i].parent))
            due_total += own(rows, i);
    assert_true(total_of(view) == due_total);
    for (uint32_t i = 0; i < rows->node_count; i++)
        assert_true((view->node_row[i] != ROW_NONE) == on_focus(filter, rows, i));
    assert_true(rows_whole(view) == rows->row[0].inclusive);
    check_sums(view);
    rows_free(view);
}

/* As if each row were a node of the profile. */
static void number_nodes(struct rows *rows)
{
    rows->node_count = rows->count;
    rows->node_row = malloc(rows->count * sizeof *rows->node_row);
    for (uint32_t i = 0; i < rows->count; i++)
        rows->node_row[i] = i;
}

UNIT_TEST(what_is_left_is_what_counting_paths_gives)
{
    regex_t compiled[EXPRESSIONS];
    for (size_t e = 0; e < EXPRESSIONS; e++)
        assert_int_equal(regcomp(&compiled[e], expressions[e], REG_EXTENDED | REG_NOSUB), 0);
    for (uint64_t tree = 1; tree <= TREES; tree++) {
        seed = tree * 0x9e3779b97f4a7c15;
        struct rows *rows = random_rows(40);
        number_nodes(rows);
        unsigned focus = pick(EXPRESSIONS + 3), hide = pick(EXPRESSIONS + 3);
        struct rows_filter filter = {.focus = focus < EXPRESSIONS ? &compiled[focus] : NULL,
                                     .hide = hide < EXPRESSIONS ? &compiled[hide] : NULL};
        check_filter(rows, &filter);
        rows_free(rows);
    }
    for (size_t e = 0; e < EXPRESSIONS; e++)
        regfree(&compiled[e]);
}

/* Where all functions of a file have lines, they have so afterwards: a hidden callee costs the line of its
 * call. */
UNIT_TEST(what_hidden_callees_cost_is_at_the_lines_of_their_calls)
{
    regex_t hide;
    assert_int_equal(regcomp(&hide, "^(f3|f6|p4.*|__.*)$", REG_EXTENDED | REG_NOSUB), 0);
    struct rows_filter filter = {.hide = &hide};
    for (uint64_t tree = 1; tree <= TREES; tree++) {
        seed = tree * 0x9e3779b97f4a7c15;
        struct rows *rows = random_rows(40), *view = rows_filter(rows, &filter);
        assert_true(total_of(view) == total_of(rows));
        for (uint32_t i = 1; i < view->count; i++) {
            double at_lines = 0;
            for (uint32_t child = i + 1; child < view->row[i].end; child = view->row[child].end)
                at_lines += is_code(view, child) ? 0 : own(view, child);
            if (is_code(view, i))
                assert_true(own(view, i) == at_lines);
        }
        rows_free(view);
        rows_free(rows);
    }
    regfree(&hide);
}

/* f0 calls f3 in line 12, f3 calls f6 in line 34: both hidden. */
UNIT_TEST(the_line_is_that_of_the_outermost_hidden_call)
{
    regex_t hide;
    assert_int_equal(regcomp(&hide, "^(f3|f6)$", REG_EXTENDED | REG_NOSUB), 0);
    struct rows_filter filter = {.hide = &hide};
    static const int function[] = {0, 3, 6}, line[] = {0, 12, 34};
    struct rows *rows = calloc(1, sizeof *rows);
    rows->threads = rows->cores = 2;
    rows->strings = strings_new();
    uint32_t row = rows_append(rows, ROW_NONE, ROW_ROOT);
    for (int i = 0; i < 3; i++) {
        row = rows_append(rows, row, ROW_PROCEDURE);
        rows->row[row].function = (uint32_t)function[i];
        rows->row[row].label = &functions[function[i]];
        rows->row[row].call_line = line[i];
    }
    add_cost(rows, row);
    rows_sum(rows);
    rows_order(rows, METRIC_EFFORT, false);
    struct rows *view = rows_filter(rows, &filter);
    assert_int_equal(view->count, 3);
    assert_string_equal(view->row[2].label->name, "x.c:12");
    assert_true(own(view, 2) == total_of(rows));
    rows_free(view);
    rows_free(rows);
    regfree(&hide);
}

UNIT_MAIN(NULL, NULL)
