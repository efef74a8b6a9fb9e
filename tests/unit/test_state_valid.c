/* state_is_valid() accepts what the functions of state.h make, and sees every kind of damage. */
#include "tests/unit/unit.h"

#include "blame/state.h"
#include "blame/state_valid.h"
#include "cct/profile_tree.h"

static struct state_line line;
static uint64_t now;
static struct region region;

/* The line is not valid with this value, and is valid again with the old one. */
#define BREAKS(field, value)                                                                                           \
    do {                                                                                                               \
        __typeof__(field) intact = (field);                                                                            \
        (field) = (value);                                                                                             \
        assert_false(state_is_valid(&line, now));                                                                      \
        (field) = intact;                                                                                              \
        assert_true(state_is_valid(&line, now));                                                                       \
    } while (0)

static void hold(uint64_t key)
{
    state_set_lockwait_at(&line, key, now);
    now += 10;
    state_lock_held(&line, key, now);
    assert_true(state_is_valid(&line, now));
}

static void release(uint64_t key)
{
    now += 10;
    assert_true(state_lock_released(&line, key, now));
    assert_true(state_is_valid(&line, now));
}

static void idle(uint64_t ticks)
{
    state_set_idle_region(&line, region_word(&region));
    state_set_place(&line, STATE_PLACE(PROFILE_PLACE_TASKWAIT, 0x5000));
    state_set_idle(&line, now);
    assert_true(state_is_valid(&line, now));
    now += ticks;
}

/* A life of more waits and sections than the rings hold. */
static int live(void **unused)
{
    (void)unused;
    line = (struct state_line){.grace_ticks = STATE_GRACE_NS};
    region = (struct region){.instance = 3};
    now = 1000;
    assert_true(state_is_valid(&line, now));
    state_set_work(&line);
    for (int round = 0; round < 50; round++) {
        hold(1);
        hold(2);
        hold(3);
        release(2);
        release(3);
        release(1);
        idle(STATE_GRACE_NS + 1);
        state_note_wait(&line, now);
        state_set_work(&line);
        assert_true(state_is_valid(&line, now));
        state_fall_asleep(&line, now += 5);
        assert_true(state_is_valid(&line, now));
        state_wake_up(&line, now += 5);
        assert_true(state_is_valid(&line, now));
    }
    return 0;
}

#define AFTER_A_LIFE(name) UNIT_TEST_WITH(name, live, NULL)

AFTER_A_LIFE(wrong_states_and_places_are_seen)
{
    BREAKS(line.state, STATE_OUTSIDE + 1);
    BREAKS(line.stamps, STATE_STAMPS_NONE + 1);
    BREAKS(line.place, STATE_PLACE(PROFILE_PLACE_KINDS, 0));
}

AFTER_A_LIFE(a_start_in_the_future_is_seen_unless_the_thread_is_hidden)
{
    idle(10);
    BREAKS(line.idle_since, now + 1);
    state_hide_idle(&line);
    assert_true(state_is_valid(&line, now));
    state_set_idle(&line, 0); /* a thread that does not count */
    assert_true(state_is_valid(&line, now));
    state_set_work(&line); /* the old start means nothing now */
    line.idle_since = now + 1;
    assert_true(state_is_valid(&line, now));
}

AFTER_A_LIFE(sleeps_in_the_wrong_order_are_seen)
{
    uint32_t last = (line.sleeps_noted - 1) % STATE_SLEEPS, before = (line.sleeps_noted - 2) % STATE_SLEEPS;
    BREAKS(line.sleeps[last].until, now + 1);
    BREAKS(line.sleeps[last].since, line.sleeps[last].until + 1);
    BREAKS(line.sleeps[before].until, line.sleeps[last].since + 1);
}

AFTER_A_LIFE(more_held_locks_than_the_count_says_are_seen)
{
    hold(1);
    hold(2);
    assert_int_equal(line.holds_more, 1);
    BREAKS(line.holds_more, 0);
    line.held[1] = 0; /* released by another thread, which leaves the count as it is */
    assert_true(state_is_valid(&line, now));
    for (uint64_t key = 1; key <= STATE_HELD_LOCKS + 2; key++)
        hold(100 + key);
    BREAKS(line.holds_more, STATE_HELD_LOCKS - 2);
}

AFTER_A_LIFE(times_of_locks_in_the_future_are_seen)
{
    hold(1);
    BREAKS(line.held_since[0], now + 1);
    BREAKS(line.wait_since, now + 1);
    BREAKS(line.noted_last, now + 1);
}

AFTER_A_LIFE(wrong_notes_of_releases_are_seen)
{
    struct state_release *last = &line.released[(line.releases - 1) % STATE_RELEASES];
    struct state_release *before = &line.released[(line.releases - 2) % STATE_RELEASES];
    struct state_release *oldest = &line.released[line.releases % STATE_RELEASES];
    BREAKS(last->key, 0);
    BREAKS(last->ticks, line.noted_last + 1);
    BREAKS(last->since, last->ticks + 1);
    BREAKS(before->ticks, last->ticks + 1);
    BREAKS(oldest->ticks, now);
    BREAKS(line.releases, line.releases + 1); /* the oldest entry is now the last */
}

AFTER_A_LIFE(wrong_notes_of_waits_are_seen)
{
    struct state_wait *last = &line.waits[(line.waits_noted - 1) % STATE_WAITS];
    struct state_wait *before = &line.waits[(line.waits_noted - 2) % STATE_WAITS];
    BREAKS(last->until, line.noted_last + 1);
    BREAKS(last->since, last->until + 1);
    BREAKS(before->until, last->until + 1);
    BREAKS(last->place, STATE_PLACE(PROFILE_PLACE_KINDS, 0));
    BREAKS(last->region_instance, region.instance + 1);
    BREAKS(line.noted_last, last->until - 1);
}

AFTER_A_LIFE(a_wait_in_a_region_that_has_not_begun_is_seen)
{
    idle(10);
    BREAKS(line.region_instance, region.instance + 1);
    region.instance++; /* the record is used again, and the wait was in the region before */
    assert_true(state_is_valid(&line, now));
    state_set_idle_region(&line, 0);
    assert_true(state_is_valid(&line, now));
}

UNIT_MAIN(NULL, NULL)
