/* needs: tests/fuzz/fake_symbols.c */
#include "command/rows/label.h"
#include "tests/unit/made_profile.h"

#define KEY(vaddr) PROFILE_KEY(1, vaddr)

/* main calls jumper, which jumps to goal from an inlined function; and forker, which jumps to left or right,
 * which jump to goal. */
static const struct symbol_call main_calls[] = {{.key = KEY(0x101), .target = KEY(0x200), .name = ""},
                                                {.key = KEY(0x102), .target = KEY(0x300), .name = ""},
                                                {.key = KEY(0x103), .target = KEY(0x800), .name = ""}};
static const struct symbol_call jumper_calls[] = {{.key = KEY(0x205), .target = KEY(0x600), .name = "", .tail = true}};
static const struct symbol_call forker_calls[] = {{.key = KEY(0x305), .target = KEY(0x400), .name = "", .tail = true},
                                                  {.key = KEY(0x306), .target = KEY(0x500), .name = "", .tail = true}};
static const struct symbol_call left_calls[] = {{.key = KEY(0x405), .target = KEY(0x600), .name = "", .tail = true}};
static const struct symbol_call right_calls[] = {{.key = KEY(0x505), .target = KEY(0x600), .name = "", .tail = true}};

/* main calls locker, which ends in a critical section. */
static const struct symbol_call locker_calls[] = {{.key = KEY(0x805), .name = "__kmpc_end_critical", .tail = true}};

static int make(void **state)
{
    made_start(state);
    fake_function(KEY(0x101), "main", "/s/a.c", 1, 11);
    fake_function(KEY(0x102), "main", "/s/a.c", 1, 12);
    fake_function(KEY(0x205), "helper", "/s/a.c", 20, 21);
    fake_function(KEY(0x205), "jumper", "/s/a.c", 30, 31);
    fake_function(KEY(0x300), "forker", "/s/a.c", 40, 41);
    fake_function(KEY(0x400), "left", "/s/a.c", 50, 51);
    fake_function(KEY(0x500), "right", "/s/a.c", 60, 61);
    fake_function(KEY(0x601), "goal", "/s/a.c", 70, 71);
    fake_symbols_set_calls(KEY(0x100), KEY(0x1ff), main_calls, 3);
    fake_symbols_set_calls(KEY(0x200), KEY(0x2ff), jumper_calls, 1);
    fake_symbols_set_calls(KEY(0x300), KEY(0x3ff), forker_calls, 2);
    fake_symbols_set_calls(KEY(0x400), KEY(0x4ff), left_calls, 1);
    fake_symbols_set_calls(KEY(0x500), KEY(0x5ff), right_calls, 1);
    fake_function(KEY(0x103), "main", "/s/a.c", 1, 13);
    fake_function(KEY(0x805), "locker", "/s/a.c", 80, 81);
    fake_symbols_set_calls(KEY(0x600), KEY(0x6ff), NULL, 0);
    fake_symbols_set_calls(KEY(0x800), KEY(0x8ff), locker_calls, 1);
    return 0;
}

/* goal() sampled below main's call at `caller`. */
static const struct rows *build(uint64_t caller)
{
    made_work(made_work(0, caller, 0), KEY(0x601), 1);
    const struct rows *rows = made_tables();
    for (size_t i = 0; i < rows->count; i++) {
        assert_true(rows->row[i].inclusive->work == 1e9);
        bool own = rows->row[i].kind == ROW_STATEMENT || strcmp(rows->row[i].label->name, "goal") == 0;
        assert_true(rows->row[i].exclusive->work == (own ? 1e9 : 0));
    }
    return rows;
}

static void check_row(const struct rows *rows, uint32_t i, enum row_kind kind, const char *name, int call_line,
                      const char *label)
{
    assert_true(i < rows->count);
    assert_int_equal(rows->row[i].kind, kind);
    assert_string_equal(rows->row[i].label->name, name);
    assert_int_equal(rows->row[i].call_line, call_line);
    char *found = row_tree_label(rows, i);
    assert_string_equal(found, label);
    free(found);
}

#define WITH_PROFILE(name) UNIT_TEST_WITH(name, make, made_finish)

WITH_PROFILE(a_unique_chain_is_rows_that_are_marked)
{
    const struct rows *rows = build(KEY(0x101));
    assert_int_equal(rows->count, 6);
    check_row(rows, 1, ROW_PROCEDURE, "main", 0, "main  a.c:1");
    check_row(rows, 2, ROW_PROCEDURE, "jumper", 11, "11: jumper (tail call)  a.c:30");
    check_row(rows, 3, ROW_INLINED, "helper", 31, "31: helper (inlined)  a.c:20");
    check_row(rows, 4, ROW_PROCEDURE, "goal", 21, "21: goal  a.c:70");
}

WITH_PROFILE(an_ambiguous_chain_is_a_row_with_the_candidates)
{
    const struct rows *rows = build(KEY(0x102));
    assert_int_equal(rows->count, 6);
    check_row(rows, 2, ROW_PROCEDURE, "forker", 12, "12: forker (tail call)  a.c:40");
    check_row(rows, 3, ROW_PSEUDO, "<tail call>", 0, "<tail call> (left or right)");
    check_row(rows, 4, ROW_PROCEDURE, "goal", 0, "goal  a.c:70");
}

WITH_PROFILE(waiting_is_blamed_on_the_function_that_released_the_lock_by_a_jump)
{
    uint32_t caller = made_add(0, PROFILE_NODE_FRAME, KEY(0x103), (struct profile_sums){0});
    uint32_t lock = made_add(caller, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x1000),
                             (struct profile_sums){.lock_wait = 1e9, .inverse_busy = 1e9});
    const struct rows *rows = made_tables();
    assert_int_equal(rows->count, 4);
    check_row(rows, 2, ROW_PROCEDURE, "locker", 13, "13: locker (tail call)  a.c:80");
    assert_int_equal(rows->row[3].kind, ROW_STATEMENT);
    assert_true(rows->row[3].exclusive->lock_wait == 1e9);
    assert_int_equal(rows->node_row[lock], 3);
}

/* A stripped runtime has symbols only for what it exports. */
WITH_PROFILE(a_runtime_function_without_a_symbol_has_the_name_of_the_one_that_was_called)
{
    static const struct symbol_call calls[] = {{.key = KEY(0x901), .name = "GOMP_loop_dynamic_next"}};
    fake_function(KEY(0x901), "looper", "/s/a.c", 90, 91);
    fake_symbols_set_calls(KEY(0x900), KEY(0x9ff), calls, 1);
    fake_function(PROFILE_KEY(2, 0x100), "GOMP_loop_dynamic_next", "", 0, 0);
    fake_symbols_set_calls(PROFILE_KEY(2, 0x100), PROFILE_KEY(2, 0x1ff), NULL, 0);
    uint32_t caller = made_work(0, KEY(0x901), 0);
    for (uint32_t module = 2; module <= 3; module++)
        made_add(caller, PROFILE_NODE_RUNTIME, PROFILE_KEY(module, 0x700), (struct profile_sums){.overhead = 1e9});
    const struct rows *rows = made_tables();
    assert_int_equal(rows->count, 4);
    check_row(rows, 2, ROW_RUNTIME, "GOMP_loop_dynamic_next", 91, "91: GOMP_loop_dynamic_next  (libomp.so.5)");
    assert_string_not_equal(rows->row[3].label->name, "GOMP_loop_dynamic_next"); /* of another module */
}

/* main calls forker in two lines, and goal in one. */
WITH_PROFILE(rows_of_one_name_below_one_caller_have_their_lines)
{
    fake_function(KEY(0x701), "work [task a.c:80]", "/s/a.c", 80, 81);
    fake_function(KEY(0x702), "alone [task a.c:90]", "/s/a.c", 90, 91);
    for (int i = 0; i < 3; i++) {
        uint32_t caller = made_work(0, i == 1 ? KEY(0x102) : KEY(0x101), 0);
        uint32_t region = made_work(caller, i == 2 ? KEY(0x702) : KEY(0x701), 0);
        made_work(region, KEY(0x601), 3 - i);
    }
    const struct rows *rows = made_tables();
    int twins = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->row[i].kind == ROW_STATEMENT || strcmp(rows->row[i].label->name, "goal") != 0)
            continue;
        char *label = row_context_label(rows, i, METRIC_WORK, 80, false);
        bool first = strstr(label, "main:11"), second = strstr(label, "main:12"),
             alone = strstr(label, "alone [task a.c:90] < main") && !first && !second;
        assert_int_equal(first + second + alone, 1);
        twins += first || second;
        free(label);
    }
    assert_int_equal(twins, 2);
}

UNIT_MAIN(NULL, NULL)
