/* needs: tests/unit/fake_clock.c */
#include "ompt_tool/locks/lock_names.h"

#include "cct/arena.h"
#include "tests/unit/unit.h"

#define MILLION 1000000u
#define CALL    0x401000u

/* The table lives as long as the process: each test has addresses of its own. */
static uint64_t lost(void)
{
    return arena_header()->lock_inits_lost;
}

UNIT_TEST(a_lock_is_named_after_its_latest_initialiser)
{
    assert_int_equal(lock_names_initialiser(0x7f0000001000), 0);
    lock_names_initialised(0x7f0000001000, CALL);
    lock_names_initialised(0x7f0000001004, CALL + 8); /* GCC's locks are 4 bytes */
    assert_int_equal(lock_names_initialiser(0x7f0000001000), CALL);
    assert_int_equal(lock_names_initialiser(0x7f0000001004), CALL + 8);
    lock_names_initialised(0x7f0000001000, CALL + 16); /* without having been destroyed */
    assert_int_equal(lock_names_initialiser(0x7f0000001000), CALL + 16);
    lock_names_initialised(0x7f0000001000, 0); /* the runtime does not say by whom: not the one before */
    assert_int_equal(lock_names_initialiser(0x7f0000001000), 0);
}

UNIT_TEST(a_destroyed_lock_has_no_name)
{
    lock_names_initialised(0x7f0000002000, CALL);
    lock_names_destroyed(0x7f0000002000);
    assert_int_equal(lock_names_initialiser(0x7f0000002000), 0);
    lock_names_destroyed(0x7f0000002000);
    lock_names_destroyed(0x7f0000002008); /* never seen */
    lock_names_initialised(0x7f0000002000, CALL + 8);
    assert_int_equal(lock_names_initialiser(0x7f0000002000), CALL + 8);
}

/* More initialisations than the tables have places (a_full_table_counts_what_it_has_no_room_for): the places of destroyed locks are used again. */
UNIT_TEST(locks_that_come_and_go_need_no_more_room)
{
    uint64_t before = lost();
    for (uint64_t i = 0; i < 4 * MILLION; i++) {
        lock_names_initialised(0x100000000 + 8 * i, CALL);
        if (i >= 1000)
            lock_names_destroyed(0x100000000 + 8 * (i - 1000));
    }
    assert_int_equal(lost(), before);
    for (uint64_t i = 4 * MILLION - 1000; i < 4 * MILLION; i++) {
        assert_int_equal(lock_names_initialiser(0x100000000 + 8 * i), CALL);
        lock_names_destroyed(0x100000000 + 8 * i);
    }
}

UNIT_TEST(what_is_no_address_is_counted)
{
    uint64_t before = lost();
    lock_names_initialised(0x7f0000003001, CALL);
    lock_names_initialised(0xffff800000000000, CALL);
    lock_names_initialised(0, CALL);
    assert_int_equal(lost(), before + 3);
    assert_int_equal(lock_names_initialiser(0x7f0000003001), 0);
    assert_int_equal(lock_names_initialiser(0), 0);
    lock_names_destroyed(0xffff800000000000);
}

/* Nearly all of 3,000,000 live locks' losses are counted one by one, and no lock gets another's name. */
UNIT_TEST(a_full_table_counts_what_it_has_no_room_for)
{
    uint64_t before = lost(), known = 0;
    for (uint64_t i = 0; i < 3 * MILLION; i++)
        lock_names_initialised(0x500000000 + 40 * i, CALL + i % 7);
    for (uint64_t i = 0; i < 3 * MILLION; i++) {
        uintptr_t call = lock_names_initialiser(0x500000000 + 40 * i);
        assert_true(call == 0 || call == CALL + i % 7);
        known += call != 0;
    }
    assert_true(known > MILLION);
    assert_true(lost() > before);
    assert_int_equal(known + lost() - before, 3 * MILLION);
    for (uint64_t i = 0; i < 3 * MILLION; i++)
        lock_names_destroyed(0x500000000 + 40 * i);
}

static void make_array(struct lock_streak *streak, uint64_t first, uint64_t count, uint64_t call)
{
    for (uint64_t address = first; address < first + 8 * count; address += 8)
        if (!lock_streak_continues(streak, address, call)) {
            lock_names_initialised(address, call);
            lock_streak_add(streak, address, call, call);
        }
}

/* More locks than the tables have places. */
UNIT_TEST(all_locks_of_a_large_array_have_a_name)
{
    struct lock_streak streak = {0};
    uint64_t before = lost(), first = 0x600000000, end = first + 8 * 3 * MILLION;
    make_array(&streak, first, 3 * MILLION, CALL + 3);
    assert_int_equal(lost(), before);
    for (uint64_t address = first; address < end; address += 8)
        assert_int_equal(lock_names_initialiser(address), CALL + 3);
    assert_int_equal(lock_names_initialiser(first - 8), 0);
    assert_int_equal(lock_names_initialiser(end), 0);
    assert_int_equal(lock_names_initialiser(end - 4), 0); /* inside the last lock */
    assert_true(lock_streak_has(&streak, end - 8));
    assert_false(lock_streak_has(&streak, end));
    lock_names_initialised(end - 80, CALL + 4);
    assert_int_equal(lock_names_initialiser(end - 80), CALL + 4);
    lock_names_destroyed(end - 80);
}

UNIT_TEST(an_array_is_named_after_its_latest_initialiser)
{
    struct lock_streak first = {0}, second = {0};
    make_array(&first, 0x700000000, 5000, CALL + 5);
    make_array(&second, 0x700000000 + 8 * 2000, 3000, CALL + 6);
    assert_int_equal(lock_names_initialiser(0x700000000 + 8 * 1999), CALL + 5);
    assert_int_equal(lock_names_initialiser(0x700000000 + 8 * 4999), CALL + 6);
}

/* There are fewer rows than these arrays. */
UNIT_TEST(an_array_that_is_made_again_and_again_needs_one_row)
{
    uint64_t before = lost();
    for (unsigned i = 0; i < 1000; i++) {
        struct lock_streak streak = {0};
        make_array(&streak, 0x800000000, 2000, CALL + 7);
        assert_non_null(streak.row);
    }
    assert_int_equal(lost(), before);
}

/* A lock here and a lock there: addresses at equal distances from different calls are no array. */
UNIT_TEST(locks_of_several_calls_are_no_array)
{
    struct lock_streak streak = {0};
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t address = 0x900000000 + 8 * i, call = CALL + i % 2;
        assert_false(lock_streak_continues(&streak, address, call));
        lock_names_initialised(address, call);
        lock_streak_add(&streak, address, call, call);
        assert_int_equal(lock_names_initialiser(address), call);
    }
    assert_null(streak.row);
}

UNIT_TEST(more_calls_than_there_is_room_for_are_counted)
{
    uint64_t before = lost(), known = 0;
    for (uint64_t i = 0; i < 6000; i++) {
        lock_names_initialised(0x7f0000005000, CALL + 0x10000 + 16 * i);
        uintptr_t call = lock_names_initialiser(0x7f0000005000);
        assert_true(call == 0 || call == CALL + 0x10000 + 16 * i); /* never an older one */
        known += call != 0;
    }
    assert_true(known > 3000);
    assert_int_equal(known + lost() - before, 6000);
}

static int open_arena(void **state)
{
    (void)state;
    return arena_open(unit_fresh_path(), 0666) ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    arena_finish();
    unit_clean();
    return 0;
}

UNIT_MAIN(open_arena, close_arena)
