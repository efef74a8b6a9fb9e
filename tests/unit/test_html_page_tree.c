#include <math.h>

#include "command/html/page_tree.h"
#include "command/rows/make.h"
#include "tests/unit/unit.h"

static const struct row_label label = {.name = "f", .module = "m", .file = "a.c", .line = 3};

/* A random tree with statements, in the order that writers want. */
static struct rows *random_rows(uint64_t *random, size_t count)
{
    struct rows *rows = calloc(1, sizeof *rows);
    rows->threads = 3;
    rows->cores = 2;
    assert_int_equal(rows_append(rows, ROW_NONE, ROW_ROOT), 0);
    for (size_t i = 1; i < count; i++) {
        uint32_t parent;
        do
            parent = (uint32_t)(unit_random(random) % rows->count);
        while (rows->row[parent].kind == ROW_STATEMENT);
        bool statement = parent && unit_random(random) % 4 == 0;
        uint32_t row = rows_append(rows, parent, statement ? ROW_STATEMENT : ROW_PROCEDURE);
        rows->row[row].label = &label;
        rows->row[row].function = (uint32_t)(unit_random(random) % 20);
        struct profile_sums *sums = rows_alloc(rows, sizeof *sums);
        sums->samples = unit_random(random) % 100000;
        sums->work = (double)(unit_random(random) % 100000);
        sums->overhead = unit_random(random) % 8 ? 0 : (double)(unit_random(random) % 100000);
        sums->inverse_busy = sums->work + sums->overhead;
        sums->lock_wait_here = (double)(unit_random(random) % 100000);
        rows_add_exclusive(rows, &rows->row[row], sums);
    }
    rows_sum(rows);
    rows_order(rows, METRIC_EFFORT, false);
    return rows;
}

static void assert_near(double left, double right)
{
    assert_true(fabs(left - right) <= 1e-9 * (fabs(left) + fabs(right)) + 1e-9);
}

static void assert_same_metric(const struct profile_sums *left, const struct profile_sums *right)
{
    assert_int_equal(left->samples, right->samples);
    assert_near(left->work, right->work);
    assert_near(left->overhead, right->overhead);
    assert_near(left->inverse_busy, right->inverse_busy);
    assert_near(left->lock_wait_here, right->lock_wait_here);
}

/* Every row's inclusive value is its own and its calls'; its statements are its own, where it has any. */
static void assert_sums(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        struct profile_sums calls = *row->exclusive, lines = {0};
        bool has_lines = false;
        for (uint32_t child = i + 1; child < row->end; child = rows->row[child].end) {
            assert_int_equal(rows->row[child].parent, i);
            assert_int_equal(rows->row[child].depth, row->depth + 1);
            bool line = rows->row[child].kind == ROW_STATEMENT;
            has_lines |= line;
            profile_sums_add(line ? &lines : &calls, rows->row[child].inclusive);
        }
        assert_same_metric(&calls, row->inclusive);
        if (has_lines) /* the tests' functions have cost of no line, too */
            assert_true(lines.work <= row->exclusive->work + 1e-9);
    }
}

static double most_share(const struct rows *rows, const struct profile_sums *sums)
{
    static const enum metric metrics[] = {METRIC_IDLENESS, METRIC_WORK, METRIC_OVERHEAD, METRIC_LOCK_WAIT_HERE,
                                          METRIC_SAMPLES};
    double most = 0;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        double total = metric_value(rows, rows->row[0].inclusive, metrics[i]);
        double share = total > 0 ? 100 * metric_value(rows, sums, metrics[i]) / total : 0;
        most = share > most ? share : most;
    }
    return most;
}

/* Sums of the statements below a function stay, too. */
static struct profile_sums lines_of(const struct rows *rows, uint32_t row)
{
    struct profile_sums sum = {0};
    for (uint32_t child = row + 1; child < rows->row[row].end; child = rows->row[child].end)
        if (rows->row[child].kind == ROW_STATEMENT)
            profile_sums_add(&sum, rows->row[child].exclusive);
    return sum;
}

static void assert_page_tree(const struct page_tree *tree, const struct rows *rows)
{
    size_t shown = 0, stand_ins = 0;
    uint32_t functions = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t number = page_tree_number(tree, i), function = rows->row[i].function;
        if (i && rows->row[i].kind != ROW_STATEMENT && function >= functions)
            functions = function + 1;
        bool large = i == 0 || most_share(rows, rows->row[i].inclusive) >= tree->least_percent;
        /* To a hair: shares are kept as floats. */
        double distance = most_share(rows, rows->row[i].inclusive) / tree->least_percent - 1;
        if (i && fabs(distance) > 1e-6)
            assert_int_equal(number != ROW_NONE, large);
        if (number == ROW_NONE) {
            assert_int_not_equal(page_tree_nearest(tree, i), ROW_NONE);
            continue;
        }
        shown++;
        assert_true(tree->shown->row[number].inclusive == rows->row[i].inclusive);
        assert_true(tree->shown->row[number].exclusive == rows->row[i].exclusive);
        assert_int_equal(tree->shown->row[number].kind, rows->row[i].kind);
        struct profile_sums before = lines_of(rows, i), after = lines_of(tree->shown, number);
        assert_same_metric(&before, &after);
    }
    for (uint32_t i = 0; i < tree->shown->count; i++) {
        const struct row *row = &tree->shown->row[i];
        if (strcmp(row->label->name, PAGE_TREE_SMALL) != 0)
            continue;
        stand_ins++;
        assert_int_equal(row->end, i + 1);
        assert_int_equal(row->function, row->kind == ROW_STATEMENT ? ROW_NONE : functions);
    }
    assert_int_equal(shown + stand_ins, tree->shown->count);
    assert_int_equal(shown + tree->left_out, rows->count);
}

UNIT_TEST(merging_keeps_all_sums)
{
    uint64_t random = 88172645463325252ull;
    for (size_t count = 1; count < 3000; count += 1 + count / 3) {
        struct rows *rows = random_rows(&random, count);
        const double percent[] = {0.01, 0.1, 0.5, 3, 100};
        for (size_t p = 0; p < sizeof percent / sizeof *percent; p++) {
            struct page_tree tree;
            page_tree_make(&tree, rows, percent[p], 1);
            assert_sums(tree.shown);
            assert_page_tree(&tree, rows);
            page_tree_free(&tree);
        }
        rows_free(rows);
    }
}

UNIT_TEST(as_few_rows_as_necessary_are_merged)
{
    uint64_t random = 4711;
    struct rows *rows = random_rows(&random, 5000);
    for (size_t most = 3; most < rows->count; most = 2 * most + 1) {
        struct page_tree tree, finer;
        page_tree_make(&tree, rows, -1, most);
        assert_sums(tree.shown);
        assert_page_tree(&tree, rows);
        assert_true(tree.shown->count <= most);
        /* A little more, with what stands for the rest of it, would be too much. */
        page_tree_make(&finer, rows, 0.98 * tree.least_percent, 0);
        assert_true(finer.shown->count + 8 > most);
        page_tree_free(&finer);
        page_tree_free(&tree);
    }
    rows_free(rows);
}

UNIT_TEST(nothing_is_merged_if_all_rows_fit)
{
    uint64_t random = 1;
    struct rows *rows = random_rows(&random, 100);
    struct page_tree tree;
    page_tree_make(&tree, rows, -1, rows->count);
    assert_true(tree.shown == rows);
    assert_int_equal(page_tree_number(&tree, 7), 7);
    page_tree_free(&tree);
    page_tree_make(&tree, rows, 0, 1);
    assert_true(tree.shown == rows);
    page_tree_free(&tree);
    rows_free(rows);
}

UNIT_MAIN(NULL, NULL)
