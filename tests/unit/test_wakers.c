/* The table of objects that threads wait for, and of those that woke them last. */
#include "base/atomics.h"
#include "base/clock.h"
#include "blame/wakers.h"
#include "tests/unit/unit.h"

#define FIRST  0x7f0000001000ull
#define SECOND 0x7f0000002000ull

static uint32_t awaited;

static int start(void **state)
{
    (void)state;
    wakers_count(&awaited);
    wakers_reset();
    return 0;
}

UNIT_TEST_WITH(only_what_was_joined_is_awaited, start, NULL)
{
    uint64_t before;
    assert_false(wakers_are_awaited(FIRST));
    uint32_t entry = wakers_join(FIRST, &before);
    assert_int_not_equal(entry, 0);
    assert_true(wakers_are_awaited(FIRST));
    assert_false(wakers_are_awaited(SECOND));
    assert_int_equal(awaited, 1);
    wakers_leave(entry);
    assert_false(wakers_are_awaited(FIRST));
    assert_int_equal(awaited, 0);
}

UNIT_TEST_WITH(the_last_to_wake_counts_for_all_that_wait, start, NULL)
{
    uint64_t before, later;
    uint32_t entry = wakers_join(FIRST, &before);
    assert_int_equal(wakers_last(entry, before), 0);
    wakers_note(FIRST, 5);
    assert_int_equal(wakers_join(FIRST, &later), entry);
    wakers_note(SECOND, 6);
    assert_int_equal(wakers_last(entry, before), 5);
    assert_int_equal(wakers_last(entry, later), 0); /* that was before its wait */
    wakers_note(FIRST, 7);
    assert_int_equal(wakers_last(entry, before), 7);
    assert_int_equal(wakers_last(entry, later), 7);
    wakers_note(FIRST, 0);
    assert_int_equal(wakers_last(entry, before), 0); /* unknown */
}

UNIT_TEST_WITH(a_new_wait_knows_nothing_of_an_old_one, start, NULL)
{
    uint64_t before;
    uint32_t entry = wakers_join(FIRST, &before);
    wakers_note(FIRST, 5);
    wakers_leave(entry);
    wakers_note(FIRST, 6);
    entry = wakers_join(FIRST, &before);
    assert_int_equal(wakers_last(entry, before), 0);
}

UNIT_TEST_WITH(the_last_times_of_signals_are_kept_and_whether_one_waited, start, NULL)
{
    uint64_t before, times[WAKERS_TIMES], at = clock_ticks();
    uint32_t entry = wakers_join(FIRST, &before);
    assert_int_equal(wakers_times(entry, before, times), 0);
    wakers_count_waiting(entry, 1);
    wakers_note(FIRST, 5);
    assert_int_equal(wakers_times(entry, before, times), 1);
    assert_in_range(times[0], at - 1, clock_ticks() + 1);
    assert_true(wakers_woke_one(entry, before) == times[0]);
    before = wakers_before(entry);
    assert_int_equal(wakers_woke_one(entry, before), 0);
    wakers_count_waiting(entry, 1);
    wakers_note(FIRST, 5);
    assert_int_equal(wakers_woke_one(entry, before), 0); /* two wait */
    for (uint32_t i = 0; i < WAKERS_TIMES; i++)
        wakers_note(FIRST, 5);
    assert_int_equal(wakers_times(entry, before, times), WAKERS_TIMES);
    for (uint32_t i = 1; i < WAKERS_TIMES; i++)
        assert_true(times[i - 1] <= times[i] + 1);
}

UNIT_TEST_WITH(a_full_table_says_so_and_objects_keep_apart, start, NULL)
{
    static uint32_t entries[4096];
    static uint64_t before[4096];
    uint32_t joined = 0;
    for (uint32_t i = 0; i < 4096; i++) {
        entries[i] = wakers_join(FIRST + 64 * i, &before[i]);
        joined += entries[i] != 0;
    }
    assert_in_range(joined, 512, 1024);
    assert_int_equal(awaited, joined);
    for (uint32_t i = 0; i < 4096; i++)
        wakers_note(FIRST + 64 * i, i + 1);
    for (uint32_t i = 0; i < 4096; i++)
        if (entries[i])
            assert_int_equal(wakers_last(entries[i], before[i]), i + 1);
    assert_int_equal(wakers_join(1ull << 48, before), 0);
}

UNIT_MAIN(NULL, NULL)
