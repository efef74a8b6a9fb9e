/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include "blame/contended.h"

#define MS   1000000ull
#define AGE  CONTENDED_AGE_NS
#define LOCK 0x0100000000001000ull

static uint64_t now_ns = AGE;

static int reset(void **unused)
{
    (void)unused;
    state_reset();
    contended_reset();
    return 0;
}

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, reset, NULL)

/* A key in another slot. */
static uint64_t other_than(uint64_t key)
{
    uint64_t other = key + 8;
    while (contended_slot(other) == contended_slot(key))
        other += 8;
    return other;
}

/* As a sample after 5 ms in which the thread took so many locks. */
static void sample_after(struct state_line *line, struct contended_pace *pace, uint32_t locks)
{
    line->acquisitions += locks;
    now_ns += 5 * MS;
    contended_choose(line, pace, now_ns);
}

static struct state_line *thread_of(uint32_t locks)
{
    struct state_line *line = state_line_acquire();
    assert_non_null(line);
    struct contended_pace pace = {.since_ns = now_ns};
    sample_after(line, &pace, locks);
    return line;
}

static struct state_line *fast(void)
{
    return thread_of(100000);
}

static void pass_ages(uint32_t ages)
{
    while (ages-- > 0)
        contended_forget(now_ns += AGE);
}

FROM_EMPTY(who_takes_few_locks_stamps_all)
{
    struct state_line *line = state_line_acquire();
    assert_true(contended_is_stamped(line, LOCK)); /* before its first sample, too */
    line = thread_of(5 * MS / CONTENDED_RARE_NS);
    assert_true(contended_is_stamped(line, LOCK));
    line = thread_of(5 * MS / CONTENDED_RARE_NS + 1);
    assert_false(contended_is_stamped(line, LOCK));
}

FROM_EMPTY(the_pace_is_that_since_the_last_sample)
{
    struct state_line *line = state_line_acquire();
    struct contended_pace pace = {.since_ns = now_ns};
    line->acquisitions = UINT32_MAX - 10; /* the count begins again */
    pace.acquisitions = line->acquisitions;
    sample_after(line, &pace, 100000);
    assert_int_equal(line->stamps, STATE_STAMPS_NONE);
    sample_after(line, &pace, 10);
    assert_int_equal(line->stamps, STATE_STAMPS_ALL);
    sample_after(line, &pace, 100000);
    assert_int_equal(line->stamps, STATE_STAMPS_NONE);
}

FROM_EMPTY(samples_close_together_say_nothing_of_the_pace)
{
    struct state_line *line = thread_of(0);
    struct contended_pace pace = {.since_ns = now_ns, .acquisitions = line->acquisitions};
    for (int i = 0; i < 2; i++) {
        line->acquisitions += 10;
        contended_choose(line, &pace, now_ns += CONTENDED_PACE_NS / 2);
        assert_int_equal(line->stamps, i == 0 ? STATE_STAMPS_ALL : STATE_STAMPS_NONE);
    }
}

FROM_EMPTY(a_lock_that_somebody_waited_for_is_stamped_and_no_other)
{
    struct state_line *before = fast();
    contended_note(LOCK);
    struct state_line *after = fast();
    assert_true(contended_is_stamped(before, LOCK)); /* at once, not from its next sample on */
    assert_true(contended_is_stamped(after, LOCK));
    assert_false(contended_is_stamped(before, other_than(LOCK)));
    assert_false(contended_is_stamped(after, other_than(LOCK)));
}

FROM_EMPTY(what_nobody_waits_for_any_more_is_forgotten)
{
    pass_ages(1);
    struct state_line *line = fast();
    contended_note(LOCK);
    contended_forget(now_ns);
    pass_ages(1);
    assert_true(contended_is_stamped(line, LOCK)); /* seen in the age before this one */
    contended_note(other_than(LOCK));
    pass_ages(1);
    assert_false(contended_is_stamped(line, LOCK));
    assert_true(contended_is_stamped(line, other_than(LOCK)));
    struct contended_pace pace = {.since_ns = now_ns, .acquisitions = line->acquisitions};
    sample_after(line, &pace, 100000);
    assert_int_equal(line->stamps, STATE_STAMPS_SEEN);
    pass_ages(1);
    sample_after(line, &pace, 1000000);
    assert_int_equal(line->stamps, STATE_STAMPS_NONE); /* nothing is left in the table */
    contended_note(LOCK);
    assert_true(contended_is_stamped(line, LOCK));
}

FROM_EMPTY(an_age_does_not_end_before_its_time)
{
    pass_ages(1);
    contended_note(LOCK);
    for (uint32_t i = 0; i < 10; i++)
        contended_forget(now_ns + AGE - 1);
    assert_int_not_equal(contended_seen[contended_slot(LOCK)], 0);
}

FROM_EMPTY(waiting_again_keeps_it)
{
    for (uint32_t i = 0; i < 600; i++) { /* the ages' numbers begin again */
        contended_note(LOCK);
        pass_ages(1);
        assert_int_not_equal(contended_seen[contended_slot(LOCK)], 0);
    }
    pass_ages(2);
    assert_int_equal(contended_seen[contended_slot(LOCK)], 0);
}

/* B2: the holder may keep the lock for longer than any age, and nobody be sampled meanwhile. */
FROM_EMPTY(blame_that_waits_keeps_it)
{
    struct state_line *line = fast();
    contended_blame_left(LOCK);
    for (uint32_t i = 0; i < 600; i++) {
        pass_ages(1);
        assert_true(contended_has_blame(LOCK));
        assert_true(contended_is_stamped(line, LOCK));
    }
    contended_blame_taken(LOCK);
    pass_ages(2);
    assert_false(contended_has_blame(LOCK));
    assert_false(contended_is_stamped(line, LOCK));
}

/* A release of a lock of POSIX threads reads nothing but the word; no thread stamps such a lock. */
FROM_EMPTY(blame_at_locks_of_posix_threads_raises_their_word)
{
    static uint32_t word = 7;
    struct state_line *line = fast();
    contended_count_posix(&word);
    contended_reset();
    assert_int_equal(word, 0);
    for (uint32_t kind = PROFILE_LOCK_MUTEX; kind <= PROFILE_LOCK_SPIN; kind++) {
        uint64_t key = PROFILE_LOCK_KEY(kind, 0x1234560);
        contended_blame_left(key);
        contended_blame_left(key);
        assert_int_equal(word, 2);
        assert_true(contended_has_blame(key));
        assert_false(contended_is_stamped(line, key));
        contended_blame_taken(key);
        assert_int_equal(word, 1);
        contended_blame_taken(key);
        assert_int_equal(word, 0);
        assert_false(contended_has_blame(key));
    }
    contended_blame_left(PROFILE_LOCK_KEY(PROFILE_LOCK_ORDERED, 0x1234560));
    assert_int_equal(word, 0);
    contended_reset();
}

UNIT_MAIN(NULL, NULL)
