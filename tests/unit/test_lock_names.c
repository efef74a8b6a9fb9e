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
