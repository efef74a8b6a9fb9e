/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/unit.h"

#include "report/rows/label.h"
#include "report/rows/rows.h"
#include "tests/fuzz/fake_symbols.h"

#define KEY(vaddr) PROFILE_KEY(1, vaddr)
#define FRAME(n, l, al)                                                                                      \
    {                                                                                                        \
        .name = n, .host_name = "", .file = "/s/a.c", .line = l, .at_file = "/s/a.c", .at_line = al,         \
        .task_name = ""                                                                                      \
    }

/* main calls jumper, which jumps to goal from an inlined function; and forker, which jumps to left or right,
 * which jump to goal. */
static const struct symbol_frame main_1[] = {FRAME("main", 1, 11)}, main_2[] = {FRAME("main", 1, 12)};
static struct symbol_frame jumper[] = {FRAME("helper", 20, 21), FRAME("jumper", 30, 31)};
static const struct symbol_frame forker[] = {FRAME("forker", 40, 41)}, left[] = {FRAME("left", 50, 51)},
                                 right[] = {FRAME("right", 60, 61)}, goal[] = {FRAME("goal", 70, 71)};
static const struct symbol_call main_calls[] = {{.key = KEY(0x101), .target = KEY(0x200), .name = ""},
                                                {.key = KEY(0x102), .target = KEY(0x300), .name = ""}};
static const struct symbol_call jumper_calls[] = {
    {.key = KEY(0x205), .target = KEY(0x600), .name = "", .tail = true}};
static const struct symbol_call forker_calls[] = {
    {.key = KEY(0x305), .target = KEY(0x400), .name = "", .tail = true},
    {.key = KEY(0x306), .target = KEY(0x500), .name = "", .tail = true}};
static const struct symbol_call left_calls[] = {
    {.key = KEY(0x405), .target = KEY(0x600), .name = "", .tail = true}};
static const struct symbol_call right_calls[] = {
    {.key = KEY(0x505), .target = KEY(0x600), .name = "", .tail = true}};

static int set_symbols(void **state)
{
    (void)state;
    jumper[0].inlined = true;
    fake_symbols_clear();
    fake_symbols_set(KEY(0x101), main_1, 1);
    fake_symbols_set(KEY(0x102), main_2, 1);
    fake_symbols_set(KEY(0x205), jumper, 2);
    fake_symbols_set(KEY(0x300), forker, 1);
    fake_symbols_set(KEY(0x400), left, 1);
    fake_symbols_set(KEY(0x500), right, 1);
    fake_symbols_set(KEY(0x601), goal, 1);
    fake_symbols_set_calls(KEY(0x100), KEY(0x1ff), main_calls, 2);
    fake_symbols_set_calls(KEY(0x200), KEY(0x2ff), jumper_calls, 1);
    fake_symbols_set_calls(KEY(0x300), KEY(0x3ff), forker_calls, 2);
    fake_symbols_set_calls(KEY(0x400), KEY(0x4ff), left_calls, 1);
    fake_symbols_set_calls(KEY(0x500), KEY(0x5ff), right_calls, 1);
    fake_symbols_set_calls(KEY(0x600), KEY(0x6ff), NULL, 0);
    return 0;
}

#define SAMPLE                                                                                               \
    {                                                                                                        \
        .samples = 1, .work = 1e9, .inverse_busy = 1e9                                                       \
    }

/* goal() sampled below main's call at `caller`. */
static struct rows *build(struct symbols *symbols, uint64_t caller)
{
    struct merged_node nodes[] = {
        {.kind = PROFILE_NODE_ROOT},
        {.kind = PROFILE_NODE_FRAME, .parent = 0, .key = caller},
        {.kind = PROFILE_NODE_FRAME, .parent = 1, .key = KEY(0x601), .metric = SAMPLE},
    };
    struct profile profile = {.nodes = nodes, .node_count = 3, .header = {.threads_max = 2, .cores = 2}};
    struct rows *rows = rows_build(&profile, symbols);
    assert_non_null(rows);
    for (size_t i = 0; i < rows->count; i++) {
        assert_true(rows->row[i].inclusive->work == 1e9);
        bool own = rows->row[i].kind == ROW_STATEMENT || strcmp(rows->row[i].label->name, "goal") == 0;
        assert_true(rows->row[i].exclusive->work == (own ? 1e9 : 0));
    }
    return rows;
}

static void check_row(const struct rows *rows, uint32_t i, enum row_kind kind, const char *name,
                      int call_line, const char *label)
{
    assert_true(i < rows->count);
    assert_int_equal(rows->row[i].kind, kind);
    assert_string_equal(rows->row[i].label->name, name);
    assert_int_equal(rows->row[i].call_line, call_line);
    char *found = view_row_label(rows, i);
    assert_string_equal(found, label);
    free(found);
}

static void a_unique_chain_is_rows_that_are_marked(void **state)
{
    (void)state;
    struct symbols *symbols = symbols_open(NULL, 0);
    struct rows *rows = build(symbols, KEY(0x101));
    assert_int_equal(rows->count, 6);
    check_row(rows, 1, ROW_PROCEDURE, "main", 0, "main  a.c:1");
    check_row(rows, 2, ROW_PROCEDURE, "jumper", 11, "11: jumper (tail call)  a.c:30");
    check_row(rows, 3, ROW_INLINED, "helper", 31, "31: helper (inlined)  a.c:20");
    check_row(rows, 4, ROW_PROCEDURE, "goal", 21, "21: goal  a.c:70");
    rows_free(rows);
    symbols_close(symbols);
}

static void an_ambiguous_chain_is_a_row_with_the_candidates(void **state)
{
    (void)state;
    struct symbols *symbols = symbols_open(NULL, 0);
    struct rows *rows = build(symbols, KEY(0x102));
    assert_int_equal(rows->count, 6);
    check_row(rows, 2, ROW_PROCEDURE, "forker", 12, "12: forker (tail call)  a.c:40");
    check_row(rows, 3, ROW_PSEUDO, "<tail call>", 0, "<tail call> (left or right)");
    check_row(rows, 4, ROW_PROCEDURE, "goal", 0, "goal  a.c:70");
    rows_free(rows);
    symbols_close(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unique_chain_is_rows_that_are_marked),
        cmocka_unit_test(an_ambiguous_chain_is_a_row_with_the_candidates),
    };
    return cmocka_run_group_tests(tests, set_symbols, NULL);
}
