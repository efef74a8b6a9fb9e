/* needs: tests/fuzz/fake_symbols.c */
/* The table of who woke whom, of very many pairs. */
#include "tests/unit/made_profile.h"

#include "command/tables/wakes.h"

#define KEY(line) PROFILE_KEY(1, 0x1000 + (line))
#define ENDS      320u
#define PAIRS     (ENDS * ENDS) /* 102,400 */

static uint32_t node[ENDS];
static struct merged_wake wakes[2 * PAIRS];

static int start(void **state)
{
    made_start(state);
    fake_function(KEY(1), "f", "/s/a.c", 1, 1);
    fake_function(KEY(2), "g", "/s/a.c", 2, 2);
    for (uint32_t i = 0; i < ENDS; i++)
        node[i] = made_work(i ? node[i - 1] : 0, KEY(1 + i % 2), 1);
    made.profile.wakes = wakes;
    return 0;
}

static void add(uint32_t waiter, uint32_t waker, enum profile_wake wake, double ns)
{
    wakes[made.profile.wake_count++] =
        (struct merged_wake){.waiter = node[waiter], .waker = node[waker], .wake = wake, .ns = ns, .waits = 1};
}

static const struct wake_table *gather(void)
{
    made_tables();
    assert_non_null(made.tables.wakes);
    return made.tables.wakes;
}

/* Every context has woken every other, twice. Adding each pair to a list, or looking for its place in one, would take a
 * hundred times as long as sorting them. */
UNIT_TEST_WITH(a_hundred_thousand_pairs_are_united_and_sorted, start, made_finish)
{
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t waker = 0; waker < ENDS; waker++)
            for (uint32_t waiter = 0; waiter < ENDS; waiter++)
                add(waiter, waker, PROFILE_WAKE_CONDITION, 1 + waiter * ENDS + waker);
    const struct wake_table *table = gather();
    assert_int_equal(table->count, PAIRS);
    for (uint32_t i = 0; i < PAIRS; i++) {
        const struct wake_pair *pair = &table->pair[i];
        uint32_t waiter = ENDS - 1 - i / ENDS, waker = ENDS - 1 - i % ENDS;
        assert_true(pair->ns == 2.0 * (1 + waiter * ENDS + waker) && pair->waits == 2);
        assert_true(pair->place_ns == 2.0 * ENDS * (1 + waiter * ENDS) + ENDS * (ENDS - 1.0));
        assert_int_equal(wake_pairs_share_place(pair, pair - (i ? 1 : 0)), i % ENDS != 0 || i == 0);
    }
}

UNIT_TEST_WITH(waits_of_two_kinds_are_two_places, start, made_finish)
{
    add(3, 4, PROFILE_WAKE_BARRIER, 5);
    add(3, 5, PROFILE_WAKE_SEMAPHORE, 7);
    add(3, 4, PROFILE_WAKE_SEMAPHORE, 1);
    add(2, 4, PROFILE_WAKE_SEMAPHORE, 8);
    const struct wake_table *table = gather();
    assert_int_equal(table->count, 4);
    assert_true(table->pair[0].place_ns == 8 && table->pair[1].place_ns == 8 && table->pair[2].place_ns == 8);
    assert_true(table->pair[0].ns == 8 && table->pair[1].ns == 7 && table->pair[2].ns == 1);
    assert_true(table->pair[3].wake == PROFILE_WAKE_BARRIER && table->pair[3].place_ns == 5);
}

UNIT_MAIN(NULL, NULL)
