#include "command/views/arrange.h"
#include "tests/unit/random_rows.h"

#include "command/rows/filter.h"

#define TREES 300

/* Whether an instance was called as a row of the bottom-up view says. */
static bool called_so(const struct rows *rows, uint32_t instance, const struct rows *view, uint32_t row)
{
    uint32_t way[64], count = 0;
    for (uint32_t at = row; at != 0; at = view->row[at].parent)
        way[count++] = at;
    if (!is_code(rows, instance) || rows->row[instance].function != view->row[way[--count]].function)
        return false;
    while (count-- > 0) {
        uint32_t caller = rows->row[instance].parent;
        if (!is_code(rows, caller) || rows->row[caller].function != view->row[way[count]].function ||
            rows->row[instance].call_line != view->row[way[count]].call_line)
            return false;
        instance = caller;
    }
    return true;
}

/* What none of the callers shares: of instances that nobody calls. */
static double uncalled(const struct rows *rows, const struct rows *view, uint32_t row, const bool *marked)
{
    uint32_t level = view->row[row].depth;
    double sum = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        sum += marked[i] && rows->row[i].depth == level ? own(rows, i) : 0;
    return sum;
}

static void check_callers(const struct rows *rows, const struct rows *view)
{
    bool *marked = calloc(rows->count, sizeof *marked);
    double functions_sum = rows->row[0].exclusive->work;
    for (uint32_t row = 1; row < view->count; row++) {
        double callers = 0;
        for (uint32_t i = 0; i < rows->count; i++)
            marked[i] = called_so(rows, i, view, row);
        struct naive_sum due = naive_sum(rows, marked);
        assert_true(view->row[row].exclusive->work == due.exclusive);
        assert_true(view->row[row].inclusive->work == due.inclusive);
        for (uint32_t child = row + 1; child < view->row[row].end; child = view->row[child].end)
            callers += view->row[child].exclusive->work;
        assert_true(callers + uncalled(rows, view, row, marked) == view->row[row].exclusive->work);
        functions_sum += view->row[row].depth == 1 ? view->row[row].exclusive->work : 0;
    }
    assert_true(functions_sum == total_of(rows));
    free(marked);
}

UNIT_TEST(bottom_up_is_what_counting_paths_gives)
{
    size_t recursive = 0;
    for (uint64_t tree = 1; tree <= TREES; tree++) {
        seed = tree * 0x9e3779b97f4a7c15;
        struct rows *rows = random_rows(40);
        struct rows *view = view_bottom_up(rows, METRIC_WORK, 0, UINT32_MAX);
        check_callers(rows, view);
        for (uint32_t i = 1; i < rows->count; i++)
            recursive += is_code(rows, i) && rows->row[rows->row[i].parent].function == rows->row[i].function;
        rows_free(view);
        rows_free(rows);
    }
    assert_true(recursive > TREES); /* or the trees test nothing */
}

/* Which row of the first level of a flat view a row of the tree belongs to. */
static bool belongs(const struct rows *rows, uint32_t instance, const struct row *group, enum flat_by by)
{
    const struct row *row = &rows->row[instance];
    if (!is_code(rows, instance))
        return false;
    if (by == FLAT_FUNCTION)
        return row->function == group->function;
    if (by == FLAT_FILE)
        return strcmp(*row->label->file ? row->label->file : "<no source file>", group->label->name) == 0;
    if (by == FLAT_MODULE)
        return strcmp(*row->label->module ? row->label->module : "<no module>", group->label->name) == 0;
    uint32_t at = instance;
    while (at && rows->row[at].kind != ROW_PARALLEL && rows->row[at].kind != ROW_RUNTIME)
        at = rows->row[at].parent;
    return strcmp(at ? rows->row[at].label->name : "<outside constructs>", group->label->name) == 0;
}

static void check_flat(const struct rows *rows, enum flat_by by)
{
    struct rows *view = view_flat(rows, by, METRIC_WORK);
    bool *marked = calloc(rows->count, sizeof *marked);
    double sum = rows->row[0].exclusive->work;
    for (uint32_t row = 1; row < view->count; row = view->row[row].end) {
        double functions_sum = 0;
        for (uint32_t i = 0; i < rows->count; i++)
            marked[i] = belongs(rows, i, &view->row[row], by);
        struct naive_sum due = naive_sum(rows, marked);
        assert_true(view->row[row].exclusive->work == due.exclusive);
        assert_true(view->row[row].inclusive->work == due.inclusive);
        for (uint32_t child = row + 1; child < view->row[row].end; child = view->row[child].end)
            if (view->row[child].kind != ROW_STATEMENT)
                functions_sum += view->row[child].exclusive->work;
        if (by != FLAT_FUNCTION)
            assert_true(functions_sum == due.exclusive);
        sum += due.exclusive;
    }
    assert_true(sum == total_of(rows));
    free(marked);
    rows_free(view);
}

UNIT_TEST(flat_groups_are_what_counting_rows_gives)
{
    for (uint64_t tree = 1; tree <= TREES; tree++) {
        seed = tree * 0x9e3779b97f4a7c15;
        struct rows *rows = random_rows(40);
        for (int by = FLAT_FUNCTION; by <= FLAT_CONSTRUCT; by++)
            check_flat(rows, (enum flat_by)by);
        rows_free(rows);
    }
}

static void cut(struct rows *view, bool by_exclusive, uint32_t depth, double least)
{
    bool *visible = calloc(view->count, sizeof *visible);
    rows_mark_shares(view, METRIC_WORK, by_exclusive, least, visible);
    rows_keep(view, visible);
    rows_limit_depth(view, depth);
    free(visible);
    for (uint32_t i = 1; i < view->count; i++) {
        const struct row *row = &view->row[i], *parent = &view->row[row->parent];
        assert_true(row->parent < i && row->depth == parent->depth + 1 && row->depth <= depth);
        assert_true(i < parent->end && row->end <= parent->end && row->end > i);
    }
}

UNIT_TEST(folded_stacks_add_up_however_much_is_cut)
{
    for (uint64_t tree = 1; tree <= TREES; tree++) {
        seed = tree * 0x9e3779b97f4a7c15;
        struct rows *rows = random_rows(60);
        uint32_t depth = 1 + pick(5);
        double least = pick(20), total = total_of(rows);
        struct rows *views[6] = {view_bottom_up(rows, METRIC_WORK, 0.01 * least * total / S, depth)};
        for (int by = FLAT_FUNCTION; by <= FLAT_CONSTRUCT; by++)
            views[1 + by] = view_flat(rows, (enum flat_by)by, METRIC_WORK);
        views[5] = rows;
        for (int v = 0; v < 6; v++) {
            assert_true(folded_total(views[v]) == total);
            cut(views[v], v < 5, depth, least);
            assert_true(folded_total(views[v]) == total);
        }
        for (int v = 0; v < 6; v++)
            rows_free(views[v]);
    }
}

UNIT_MAIN(NULL, NULL)
