#include "tests/unit/unit.h"

#include "command/compare/names.h"

static void assert_canonical(enum row_kind kind, const char *name, const char *expected)
{
    char *canonical = canonical_name(kind, name);
    assert_string_equal(canonical, expected);
    free(canonical);
}

UNIT_TEST(what_compilers_number_is_left_out)
{
    assert_canonical(ROW_PROCEDURE, "main", "main");
    assert_canonical(ROW_PROCEDURE, "solve.isra.0", "solve");
    assert_canonical(ROW_PROCEDURE, "solve.part.12.cold", "solve");
    assert_canonical(ROW_PROCEDURE, "solve.llvm.1234567", "solve");
    assert_canonical(ROW_PROCEDURE, "solve(int) [clone .constprop.3]", "solve");
    assert_canonical(ROW_PROCEDURE, "solve.coldness", "solve.coldness");
    assert_canonical(ROW_PROCEDURE, ".part.1", ".part.1");
    assert_canonical(ROW_PROCEDURE, "f({unnamed type#2})", "f");
    assert_canonical(ROW_PROCEDURE, "apply<S::{unnamed type#2}>()", "apply<S::{unnamed type}>");
}

UNIT_TEST(lambdas_of_all_compilers_are_one)
{
    assert_canonical(ROW_PROCEDURE, "apply<run()::{lambda(int)#1}>(run()::{lambda(int)#1})", "apply<run()::{lambda}>");
    assert_canonical(ROW_PROCEDURE, "apply<run()::$_12>(run()::$_12)", "apply<run()::{lambda}>");
    assert_canonical(ROW_INLINED, "apply<run()::<lambda(int)> >", "apply<run()::{lambda}>");
    assert_canonical(ROW_PROCEDURE, "run()::$_0::operator()(int) const", "run::operator()");
    assert_canonical(ROW_PROCEDURE, "run()::{lambda(int)#3}::operator()(int) const", "run::operator()");
    assert_canonical(ROW_INLINED, "run::operator()", "run::operator()");
    assert_canonical(ROW_INLINED, "run::operator() [lambda a.cc:17]", "run::operator()");
}

UNIT_TEST(parameters_are_left_out_and_operators_are_not)
{
    assert_canonical(ROW_PROCEDURE, "work_for(char const*, double)", "work_for");
    assert_canonical(ROW_PROCEDURE, "S::get() const", "S::get");
    assert_canonical(ROW_PROCEDURE, "(anonymous namespace)::f(int (*)(int))", "(anonymous namespace)::f");
    assert_canonical(ROW_PROCEDURE, "S::operator()(int)", "S::operator()");
    assert_canonical(ROW_PROCEDURE, "operator<<(std::ostream&, S const&)", "operator<<");
    assert_canonical(ROW_PROCEDURE, "S::operator->() const", "S::operator->");
    assert_canonical(ROW_PROCEDURE, "call<std::function<void (int)> >(int)", "call<std::function<void (int)>>");
    assert_canonical(ROW_PROCEDURE, "f(int", "f(int");
    assert_canonical(ROW_PROCEDURE, "<lambda(", "<lambda(");
    assert_canonical(ROW_PROCEDURE, "", "");
}

UNIT_TEST(constructs_lose_their_place)
{
    assert_canonical(ROW_PARALLEL, "relax [parallel amg.c:123]", "relax [parallel]");
    assert_canonical(ROW_TASK, "fib(int) [task fib.cc:17]", "fib [task]");
    assert_canonical(ROW_PARALLEL, "[parallel amg.c:123]", "[parallel]");
    assert_canonical(ROW_PROCEDURE, "odd [parallel amg.c:123]", "odd [parallel amg.c:123]");
    assert_int_equal(canonical_host_bytes("relax [parallel]"), 5);
    assert_int_equal(canonical_host_bytes("[parallel]"), 0);
    assert_int_equal(canonical_host_bytes("run::operator()"), 3);
    assert_int_equal(canonical_host_bytes("run"), 0);
}

UNIT_TEST(libraries_lose_their_version)
{
    const char *const cases[][2] = {
        {"libm.so.6", "libm.so"}, {"libq.so.1.22.3", "libq.so"}, {"app", "app"}, {"a.so.old", "a.so.old"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *module = canonical_module(cases[i][0]);
        assert_string_equal(module, cases[i][1]);
        free(module);
    }
}

static void assert_aligned(size_t n, const int *a, size_t m, const int *b, const size_t *expected)
{
    struct source_line from[8] = {0}, to[8] = {0};
    size_t match[8];
    for (size_t i = 0; i < n; i++)
        from[i] = (struct source_line){"a.c", a[i]};
    for (size_t i = 0; i < m; i++)
        to[i] = (struct source_line){"a.c", b[i]};
    align_source_lines(from, n, to, m, match);
    for (size_t i = 0; i < m; i++)
        assert_int_equal(match[i], expected[i]);
}

UNIT_TEST(equally_many_places_are_matched_in_order)
{
    assert_aligned(3, (int[]){10, 20, 30}, 3, (int[]){20, 30, 90}, (size_t[]){0, 1, 2});
}

UNIT_TEST(an_added_place_is_nobodys_and_order_is_kept)
{
    assert_aligned(2, (int[]){10, 20}, 3, (int[]){11, 15, 22}, (size_t[]){0, ALIGN_NONE, 1});
    assert_aligned(3, (int[]){10, 15, 20}, 2, (int[]){11, 19}, (size_t[]){0, 2});
    assert_aligned(1, (int[]){7}, 3, (int[]){2, 3, 10}, (size_t[]){ALIGN_NONE, ALIGN_NONE, 0});
    assert_aligned(0, NULL, 2, (int[]){1, 2}, (size_t[]){ALIGN_NONE, ALIGN_NONE});
    assert_aligned(2, (int[]){1, 2}, 0, NULL, NULL);
}

UNIT_TEST(another_file_is_farther_than_any_line)
{
    const struct source_line a[] = {{"b.c", 5}}, b[] = {{"a.c", 5}, {"b.c", 900}};
    size_t match[2];
    align_source_lines(a, 1, b, 2, match);
    assert_int_equal(match[0], ALIGN_NONE);
    assert_int_equal(match[1], 0);
}

/* Against all ways to choose. */
static double least_distance(const int *a, size_t n, const int *b, size_t m)
{
    double least = 1e9;
    for (unsigned chosen = 0; chosen < 1u << m; chosen++) {
        double sum = 0;
        size_t i = 0;
        if ((size_t)__builtin_popcount(chosen) != n)
            continue;
        for (size_t j = 0; j < m; j++)
            if (chosen >> j & 1)
                sum += abs(a[i++] - b[j]);
        least = sum < least ? sum : least;
    }
    return least;
}

UNIT_TEST(the_sum_of_distances_is_the_least)
{
    uint64_t seed = 88172645463325252u;
    for (int trial = 0; trial < 500; trial++) {
        int line[2][8];
        struct source_line place[2][8];
        size_t n = unit_random(&seed) % 4 + 1, m = n + unit_random(&seed) % 4, count[2] = {n, m}, match[8];
        for (int side = 0; side < 2; side++)
            for (size_t i = 0, at = 0; i < count[side]; i++) {
                at += unit_random(&seed) % 20 + 1;
                line[side][i] = (int)at;
                place[side][i] = (struct source_line){"a.c", (int)at};
            }
        align_source_lines(place[0], n, place[1], m, match);
        double sum = 0;
        size_t matched = 0;
        for (size_t j = 0; j < m; j++)
            if (match[j] != ALIGN_NONE) {
                assert_int_equal(match[j], matched);
                matched++;
                sum += abs(line[0][match[j]] - line[1][j]);
            }
        assert_int_equal(matched, n);
        if (n < m)
            assert_true(sum == least_distance(line[0], n, line[1], m));
    }
}

UNIT_MAIN(NULL, NULL)
