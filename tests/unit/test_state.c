/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "tests/unit/census.h"
#include "tests/unit/fake_clock.h"

#define MS 1000000ull

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, no_lines, NULL)

static struct state_line *line(void)
{
    struct state_line *acquired = state_line_acquire();
    assert_non_null(acquired);
    assert_int_equal(acquired->state, STATE_ABSENT);
    return acquired;
}

#define assert_census(census_, busy_, in_use_)                                                                         \
    do {                                                                                                               \
        struct census c = (census_);                                                                                   \
        assert_int_equal(c.busy, busy_);                                                                               \
        assert_int_equal(c.in_use, in_use_);                                                                           \
    } while (0)

FROM_EMPTY(an_idle_thread_is_busy_until_its_grace_has_passed)
{
    struct region region = {.instance = 1};
    struct state_line *idle = working();
    state_set_idle_region(idle, region_word(&region));
    state_set_idle(idle, MS);
    assert_census(census_at(MS, 0, NULL), 1, 1);
    assert_census(census_at(MS + STATE_GRACE_NS - 1, 0, NULL), 1, 1);
    assert_census(census_at(MS + STATE_GRACE_NS, 0, NULL), 0, 1);
    assert_census(census_at(MS - 1, 0, NULL), 1, 1); /* went idle after the moment asked for */
    state_set_idle(idle, 3 * MS);                    /* a new wait, a new grace */
    assert_census(census_at(3 * MS + 1, 0, NULL), 1, 1);
}

FROM_EMPTY(a_thread_between_regions_is_not_in_use)
{
    struct region region = {.instance = 7};
    struct state_line *idle = working();
    working();
    state_set_idle_region(idle, region_word(&region));
    state_set_idle(idle, MS);
    assert_false(is_parked_now(idle));
    assert_census(census_at(2 * MS, 0, NULL), 1, 2);
    region.state = REGION_ENDED;
    assert_true(is_parked_now(idle));
    assert_census(census_at(2 * MS, 0, NULL), 1, 1);
    assert_census(census_at(MS + 1, 0, NULL), 2, 2); /* within its grace it counts as busy, so as in use */
    region.state = REGION_SAMPLED;
    region.instance = 8; /* the record lives again, for another region */
    assert_true(is_parked_now(idle));
    region.instance = 7;
    assert_false(is_parked_now(idle));
    state_set_idle_region(idle, 0);
    assert_true(is_parked_now(idle)); /* never was in a team */
}

FROM_EMPTY(places_are_those_of_the_threads_that_idle_in_a_region)
{
    struct region live = {.instance = 1, .codeptr = 0x4000}, ended = {.instance = 1, .state = REGION_ENDED};
    const uint64_t taskwait = STATE_PLACE(PROFILE_PLACE_TASKWAIT, 0x5000);
    const uint64_t end = STATE_PLACE(PROFILE_PLACE_REGION_END, 0);
    struct {
        uint64_t place;
        struct region *region;
    } threads[] = {{taskwait, &live}, {end, &live}, {taskwait, &live}, {end, &ended}, {0, &live}};
    struct waiting_places places = {0};
    working();
    for (uint32_t i = 0; i < 5; i++) {
        struct state_line *idle = working();
        state_set_idle_region(idle, region_word(threads[i].region));
        state_set_place(idle, threads[i].place);
        state_set_idle(idle, MS);
    }
    assert_census(census_at(2 * MS, 0, &places), 1, 5);
    assert_int_equal(places.count, 3);
    assert_int_equal(places.place[0], taskwait);
    assert_int_equal(places.threads[0], 2);
    assert_int_equal(places.place[1], STATE_PLACE(PROFILE_PLACE_REGION_END, 0x4000));
    assert_int_equal(places.place[2], STATE_PLACE(PROFILE_PLACE_REGIONS, 0x4000)); /* located by the region only */
    assert_int_equal(places.threads[1] + places.threads[2], 2);
}

FROM_EMPTY(places_beyond_the_room_are_one_unknown_place)
{
    struct region live = {.instance = 1};
    struct waiting_places places = {0};
    for (uint32_t i = 0; i < STATE_PLACES + 3; i++) {
        struct state_line *idle = working();
        state_set_idle_region(idle, region_word(&live));
        state_set_place(idle, STATE_PLACE(PROFILE_PLACE_BARRIER, 0x1000 + i));
        state_set_idle(idle, MS);
    }
    assert_census(census_at(2 * MS, 0, &places), 0, STATE_PLACES + 3);
    assert_int_equal(places.count, STATE_PLACES);
    assert_int_equal(places.place[STATE_PLACES - 1], 0);
    assert_int_equal(places.threads[STATE_PLACES - 1], 4);
}

FROM_EMPTY(a_hidden_idle_entry_counts_as_busy)
{
    struct region region = {.instance = 1};
    struct state_line *idle = working();
    state_set_idle_region(idle, region_word(&region));
    state_set_idle(idle, MS);
    assert_census(census_at(2 * MS, 0, NULL), 0, 1);
    state_hide_idle(idle);
    assert_census(census_at(2 * MS, 0, NULL), 1, 1);
    state_set_idle(idle, MS);
    assert_census(census_at(2 * MS, 0, NULL), 0, 1);
}

FROM_EMPTY(all_lines_can_be_taken_and_come_back)
{
    static struct state_line *lines[STATE_MAX_THREADS];
    for (uint32_t i = 0; i < STATE_MAX_THREADS; i++) {
        lines[i] = working();
        for (uint32_t j = i > 3 ? i - 3 : 0; j < i; j++)
            assert_ptr_not_equal(lines[j], lines[i]);
    }
    assert_null(state_line_acquire());
    assert_census(census_at(MS, 0, NULL), STATE_MAX_THREADS, STATE_MAX_THREADS);
    state_lock_held(lines[77], 5, clock_ticks());
    state_line_release(lines[77]);
    assert_census(census_at(MS, 0, NULL), STATE_MAX_THREADS - 1, STATE_MAX_THREADS - 1);
    struct state_line *again = line();
    assert_ptr_equal(again, lines[77]);
    assert_int_equal(again->held_unnamed, 0); /* nothing of the last owner */
    assert_int_equal(census_at(2 * MS, 5, NULL).holder, STATE_NO_HOLDER);
}

FROM_EMPTY(who_works_outside_the_teams_is_in_no_census_and_makes_nobody_idle)
{
    struct state_line *one = working(), *other = working(), *outside = working();
    struct clock_reading clocks = clock_read();
    struct waiting_places places = {.count = 0};
    state_set_idle_region(other, 0);
    state_set_idle(other, MS);
    state_set_outside(other); /* it does not work */
    assert_int_equal(other->state, STATE_IDLE);
    state_set_outside(outside);
    assert_true(state_is_in_code(outside) && state_is_in_code(one) && !state_is_in_code(other));
    assert_census(census_at(2 * MS, 0, NULL), 1, 1);
    state_counted_most = 3;
    assert_census(state_census_at(&clocks, clocks.ns, outside, 0, &places), 3, 3);
    state_expected = 8;
    assert_census(state_census_at(&clocks, clocks.ns, outside, 0, &places), 8, 8);
    state_expected = 4; /* the first team is smaller than the runtime had announced */
    assert_census(state_census_at(&clocks, clocks.ns, outside, 0, &places), 4, 4);
    assert_int_equal(state_beside_most, 8);
    assert_census(state_census_at(&clocks, clocks.ns, one, 0, &places), 1, 1);
    assert_int_equal(places.count, 0);
}

FROM_EMPTY(no_more_threads_than_counted_are_busy_when_those_that_stood_aside_sleep_or_are_woken)
{
    struct state_line *one = working(), *two = working(), *three = working();
    state_counted_most = 2; /* never more than two at a time did not wait for others */
    state_some_stood_aside = true;
    assert_true(state_fall_asleep(one, MS) && state_fall_asleep(two, MS) && state_fall_asleep(three, MS));
    assert_census(census_at(2 * MS, 0, NULL), 2, 2);
    state_wake_up(three, 3 * MS);
    assert_census(census_at(4 * MS, 0, NULL), 1, 1);
    state_wake_up(two, 3 * MS);
    state_wake_up(one, 3 * MS);
    assert_census(census_at(4 * MS, 0, NULL), 2, 2);
    state_some_stood_aside = false; /* the third has begun, and is about to be counted */
    assert_census(census_at(4 * MS, 0, NULL), 3, 3);
}

static uint32_t running;

static void *live_and_leave(void *argument)
{
    (void)argument;
    for (int i = 0; i < 20000; i++) {
        struct state_line *mine = state_line_acquire();
        if (!mine)
            abort();
        state_set_work(mine);
        state_lock_held(mine, 3, clock_ticks());
        state_set_idle_region(mine, 0);
        state_set_idle(mine, 2 * MS);
        state_lock_released(mine, 3, clock_ticks());
        state_line_release(mine);
    }
    fetch_add_acq_rel(&running, (uint32_t)-1);
    return NULL;
}

FROM_EMPTY(a_census_runs_beside_threads_that_come_and_go)
{
    pthread_t threads[3];
    working();
    running = 3;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, live_and_leave, NULL);
    while (load_acquire(&running)) {
        struct census census = census_at(2 * MS + STATE_GRACE_NS, 3, NULL);
        assert_in_range(census.busy, 1, 4);
        assert_true(census.in_use >= 1 && census.in_use <= 4);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_census(census_at(MS, 0, NULL), 1, 1);
    assert_int_equal(census_at(MS, 3, NULL).holder, STATE_NO_HOLDER);
}

UNIT_MAIN(NULL, NULL)
