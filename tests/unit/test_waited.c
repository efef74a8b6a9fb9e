/* The locks of POSIX threads for which threads wait: all of them, or a fair draw. */
/* needs: tests/unit/fake_clock.c */
#include "blame/waited.h"

#include "tests/unit/census.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/instructions.h"

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, no_lines, NULL)
#define BYTES            40u /* of a mutex: the program has a row of them */
#define DRAWS            10000u

static struct state_line *own;
static struct waited waited;
static uint32_t waiters[WAITED_LOCKS];

static uint64_t key_of(uint32_t number)
{
    return PROFILE_LOCK_KEY(PROFILE_LOCK_MUTEX, 0x7f0000001000ull + (uint64_t)number * BYTES);
}

static struct state_line *waits_for(uint32_t number)
{
    struct state_line *line = working();
    state_set_lockwait_at(line, key_of(number), clock_ticks());
    return line;
}

/* Returns the number of waiters for which a lock counts. */
static uint32_t counts(uint32_t number, int64_t ticks)
{
    waited_count(own, ticks, &waited, waiters);
    for (uint32_t i = 0; i < waited.count; i++)
        if (waited.key[i] == key_of(number))
            return waiters[i] * waited.one_in;
    return 0;
}

FROM_EMPTY(as_many_locks_as_a_sample_looks_at_are_all_counted)
{
    int64_t now = (int64_t)clock_ticks();
    own = waits_for(0);
    for (uint32_t i = 0; i < 3 * WAITED_LOCKS; i++)
        waits_for(i % WAITED_LOCKS);
    waits_for(WAITED_LOCKS)->wait_uncounted = true;
    state_set_lockwait(working(), 1);                                   /* not of POSIX threads */
    state_set_lockwait(state_line_acquire(), key_of(WAITED_LOCKS + 1)); /* has ended */
    waits_for(5)->wait_since = (uint64_t)now + 100;
    waited_find(own, 1, &waited);
    assert_int_equal(waited.count, WAITED_LOCKS);
    assert_int_equal(waited.one_in, 1);
    for (uint32_t i = 0; i < WAITED_LOCKS; i++)
        assert_int_equal(counts(i, now), 3);
    assert_int_equal(counts(5, now + 100), 4);
}

/* Of 100 locks in a row in memory, the first has most waiters. The deviation of the mean weight is at most
 * sqrt(one_in / DRAWS). */
FROM_EMPTY(each_of_many_locks_has_the_same_expected_weight)
{
    enum { LOCKS = 100 };
    static double sum[LOCKS];
    double total = 0;
    own = working();
    for (uint32_t i = 0; i < LOCKS; i++)
        waits_for(i);
    for (uint32_t i = 0; i < LOCKS; i++)
        waits_for(0);
    for (uint64_t salt = 0; salt < DRAWS; salt++) {
        waited_find(own, 1000000 + salt * 5000, &waited);
        assert_true(waited.count > 0 && waited.count <= WAITED_LOCKS);
        for (uint32_t i = 0; i < waited.count; i++)
            sum[(PROFILE_LOCK_KEY_ID(waited.key[i]) - PROFILE_LOCK_KEY_ID(key_of(0))) / BYTES] += waited.one_in;
    }
    for (uint32_t i = 0; i < LOCKS; i++) {
        assert_true(sum[i] > 0.9 * DRAWS && sum[i] < 1.1 * DRAWS); /* 5 deviations */
        total += sum[i];
    }
    assert_true(total > 0.99 * DRAWS * LOCKS && total < 1.01 * DRAWS * LOCKS);
}

#define SOME 128u /* of STATE_MAX_THREADS: each costs the same */

static void find(void)
{
    waited_find(own, 77, &waited);
}

static void count(void)
{
    waited_count(own, INT64_MAX, &waited, waiters);
}

FROM_EMPTY(each_thread_waits_for_a_lock_of_its_own)
{
    own = working();
    for (uint32_t i = 0; i < SOME; i++)
        waits_for(i);
    assert_instructions(find, SOME * 200);
    assert_true(waited.count <= WAITED_LOCKS && waited.one_in > 1);
    assert_instructions(count, SOME * 120);
}

FROM_EMPTY(all_threads_wait_for_the_lock_that_is_found_last)
{
    own = working();
    for (uint32_t i = 0; i < SOME; i++)
        waits_for(i < WAITED_LOCKS ? i : WAITED_LOCKS - 1);
    assert_instructions(find, SOME * 240);
    assert_int_equal(waited.count, WAITED_LOCKS);
    assert_instructions(count, SOME * 230);
    assert_int_equal(waiters[WAITED_LOCKS - 1], SOME - WAITED_LOCKS + 1);
}

UNIT_MAIN(NULL, NULL)
