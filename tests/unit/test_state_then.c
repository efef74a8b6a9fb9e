/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include "blame/notes.h"
#include "tests/unit/census.h"
#include "tests/unit/fake_clock.h"

#define MS 1000000ull

static uint64_t begin;

static int reset(void **unused)
{
    (void)unused;
    state_reset();
    begin = fake_now_ns += 1000 * MS;
    return 0;
}

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, reset, NULL)

/* A thread that works and notes its waits. */
static struct state_line *noting(void)
{
    struct state_line *line = state_line_acquire();
    struct clock_reading clocks = clock_read();
    assert_non_null(line);
    state_set_work(line);
    notes_due(line, &clocks, 0);
    return line;
}

/* From and until so many microseconds after the begin. */
static void wait_in(struct state_line *line, struct region *region, uint64_t from_us, uint64_t until_us)
{
    state_set_idle_region(line, region_word(region));
    state_set_idle(line, begin + from_us * 1000);
    fake_now_ns = begin + until_us * 1000;
    state_note_wait(line, fake_now_ns);
    state_set_work(line);
}

static struct census census_us(uint64_t us, uint64_t key, struct waiting_places *places)
{
    return census_at(begin + us * 1000, key, places);
}

#define assert_census(us, busy_, in_use_)                                                                              \
    do {                                                                                                               \
        struct census c = census_us(us, 0, NULL);                                                                      \
        assert_int_equal(c.busy, busy_);                                                                               \
        assert_int_equal(c.in_use, in_use_);                                                                           \
    } while (0)

FROM_EMPTY(who_works_now_was_idle_when_a_late_sample_was_due)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    noting();
    wait_in(line, &region, 1000, 2000);
    wait_in(line, &region, 3000, 4000);
    assert_census(500, 2, 2);
    assert_census(1004, 2, 2); /* within the grace */
    assert_census(1005, 1, 2);
    assert_census(1999, 1, 2);
    assert_census(2000, 2, 2);
    assert_census(3500, 1, 2);
    assert_census(4000, 2, 2);
    state_set_idle(line, begin + 5 * MS);
    fake_now_ns = begin + 6 * MS;
    assert_census(5500, 1, 2); /* as before: a wait that goes on */
    assert_census(3500, 1, 2);
    assert_census(4500, 2, 2);
}

FROM_EMPTY(dispatch_is_not_noted)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    wait_in(line, &region, 1000, 2000);
    for (uint64_t us = 3000; us < 3000 + 4 * STATE_WAITS; us += 4)
        wait_in(line, &region, us, us + 4);
    assert_int_equal(line->waits_noted, 1);
    assert_census(1500, 0, 1);
    assert_census(3002, 1, 1);
}

FROM_EMPTY(who_has_noted_nothing_worked)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    wait_in(line, &region, 1000, 2000);
    state_set_idle(line, begin + 3 * MS);
    fake_now_ns = begin + 4 * MS;
    state_set_work(line);
    assert_census(1500, 0, 1);
    assert_census(3500, 1, 1);
}

static void sleep_in(struct state_line *line, uint64_t from_us, uint64_t until_us)
{
    assert_true(state_fall_asleep(line, begin + from_us * 1000));
    fake_now_ns = begin + until_us * 1000;
    state_wake_up(line, fake_now_ns);
}

#define assert_asleep(us, busy_, asleep_)                                                                              \
    do {                                                                                                               \
        struct census c = census_us(us, 0, NULL);                                                                      \
        assert_int_equal(c.busy, busy_);                                                                               \
        assert_int_equal(c.asleep, asleep_);                                                                           \
    } while (0)

FROM_EMPTY(who_works_now_was_asleep_when_a_late_sample_was_due)
{
    state_sleepers_count = true;
    struct state_line *line = noting(), *other = noting();
    sleep_in(line, 1000, 2000);
    sleep_in(line, 3000, 4000);
    sleep_in(other, 3500, 4000);
    assert_asleep(999, 2, 0);
    assert_asleep(1000, 2, 1);
    assert_asleep(1999, 2, 1);
    assert_asleep(2000, 2, 0);
    assert_asleep(3600, 2, 2);
    assert_asleep(4000, 2, 0);
    state_fall_asleep(line, begin + 5 * MS);
    fake_now_ns = begin + 6 * MS;
    assert_asleep(4999, 2, 0);
    assert_asleep(5500, 2, 1);
    assert_asleep(3600, 2, 2);
}

/* The same for one of the threads that are counted. */
static struct census census_from(const struct state_line *own, uint64_t us)
{
    struct clock_reading clocks = clock_read();
    return state_census_at(&clocks, begin + us * 1000, own, 0, NULL);
}

FROM_EMPTY(who_awaits_another_thread_counts_only_while_nobody_works)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting(), *other = noting(), *third = noting();
    state_sleepers_count = false;
    state_counted_most = 3;
    sleep_in(line, 1000, 2000);
    sleep_in(other, 1500, 2000);
    state_set_idle_region(third, region_word(&region));
    state_set_idle(third, begin + 1600 * 1000);
    assert_census(999, 3, 3);
    assert_census(1200, 2, 2);
    assert_census(1550, 1, 1);
    assert_census(1800, 2, 3); /* two that wait for each other, or for a thread beside the teams */
    assert_census(2100, 2, 3);
    assert_true(state_fall_asleep(line, begin + 3 * MS));
    fake_now_ns = begin + 4 * MS;
    struct census own = census_from(line, 3500);
    assert_true(own.beside);
    assert_int_equal(own.busy, 3);
    assert_int_equal(own.in_use, 3);
    assert_int_equal(own.asleep, 0);
    state_set_idle(other, begin + 3500 * 1000);
    own = census_from(line, 3800);
    assert_false(own.beside);
    assert_int_equal(own.busy, 1);
    assert_int_equal(own.in_use, 2);
}

FROM_EMPTY(who_has_ended_ran_until_then)
{
    struct state_line *line = noting();
    noting();
    line->began = begin + 1 * MS;
    sleep_in(line, 2000, 3000);
    line->ended = begin + 4 * MS;
    state_line_release(line);
    fake_now_ns = begin + 5 * MS;
    assert_int_equal(census_us(500, 0, NULL).ended, 0);
    assert_int_equal(census_us(1500, 0, NULL).ended, 1);
    assert_int_equal(census_us(2500, 0, NULL).ended, 0); /* asleep */
    assert_int_equal(census_us(3500, 0, NULL).ended, 1);
    assert_int_equal(census_us(4500, 0, NULL).ended, 0);
    assert_int_equal(census_us(1500, 0, NULL).busy, 1);
}

FROM_EMPTY(a_sleep_in_a_wait_of_the_team_is_that_wait)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    noting();
    state_set_idle_region(line, region_word(&region));
    state_set_idle(line, begin + 1 * MS);
    assert_false(state_fall_asleep(line, begin + 1 * MS));
    fake_now_ns = begin + 2 * MS;
    state_wake_up(line, fake_now_ns);
    assert_int_equal(line->sleeps_noted, 0);
    assert_census(1500, 1, 2);
}

/* Of more sleeps than the ring holds, a census asks for a time that the ring still knows. */
FROM_EMPTY(more_sleeps_than_are_remembered_change_the_time_that_is_asked_for)
{
    struct state_line *line = noting();
    for (uint64_t us = 1000; us < 1000 + 100 * 3 * STATE_SLEEPS; us += 100)
        sleep_in(line, us, us + 50);
    struct census census = census_us(1025, 0, NULL);
    assert_true(census.ticks >= (int64_t)line->sleeps[(line->sleeps_noted + 1) % STATE_SLEEPS].since);
}

FROM_EMPTY(the_asking_thread_is_as_it_is_now)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    struct clock_reading clocks;
    wait_in(line, &region, 1000, 2000);
    clocks = clock_read();
    assert_int_equal(state_census_at(&clocks, begin + 1500000, line, 0, NULL).busy, 1);
    state_set_idle(line, begin + 3 * MS);
    assert_int_equal(state_census_at(&clocks, begin + 1500000, line, 0, NULL).busy, 0);
    assert_int_equal(state_census_at(&clocks, begin + 1500000, line, 0, NULL).in_use, 0);
}

/* A worker's wait at the end of a region goes on in the pool. */
FROM_EMPTY(a_thread_was_in_use_until_its_region_had_ended)
{
    struct region_pool pool = {0};
    struct region region = {.instance = 7, .home = &pool, .codeptr = 0x4000};
    struct state_line *line = noting();
    struct waiting_places places = {0};
    noting();
    state_set_place(line, STATE_PLACE(PROFILE_PLACE_REGION_END, 0));
    region_note_end(&region, begin + 2 * MS);
    region.instance = 8; /* the record lives again */
    region.codeptr = 0x5000;
    wait_in(line, &region, 3500, 3600);
    line->waits[0].since = begin + MS;
    line->waits[0].region_instance = 7;
    assert_census(1500, 1, 2);
    assert_census(2500, 1, 1);
    census_us(1500, 0, &places);
    assert_int_equal(places.count, 1);
    assert_int_equal(places.place[0], STATE_PLACE(PROFILE_PLACE_REGION_END, 0x4000));
    state_set_idle_region(line, region_word(&region));
    line->region_instance = 7;
    struct clock_reading clocks = clock_read();
    assert_false(state_was_parked(line, &clocks, begin + 2 * MS - 1));
    assert_true(state_was_parked(line, &clocks, begin + 2 * MS));
}

/* It arrives after so many microseconds at the barrier of its region with that number. */
static void arrive_at(struct state_line *line, struct region *region, uint64_t us, uint32_t number)
{
    state_set_idle_region(line, region_word(region));
    state_set_place(line, STATE_PLACE(PROFILE_PLACE_BARRIER, 0x4000) | STATE_BARRIER(number));
    state_set_idle(line, begin + us * 1000);
}

static void pass_at(struct state_line *line, uint64_t us)
{
    fake_now_ns = begin + us * 1000;
    state_note_pass(line, fake_now_ns);
    state_note_wait(line, fake_now_ns);
    state_set_work(line);
}

static uint64_t us_of(uint64_t ns)
{
    return ns == UINT64_MAX ? UINT64_MAX : (ns - begin) / 1000;
}

static uint64_t released_us(const struct state_line *line)
{
    struct clock_reading clocks = clock_read();
    assert_int_equal(state_wait_ended_ns(line, &clocks), state_released_ns(line, &clocks));
    return us_of(state_released_ns(line, &clocks));
}

/* Three threads wait at the end of a region. The first that begins the next one ends the others' wait, but they stay idle. */
FROM_EMPTY(the_begin_of_the_next_region_ends_the_wait_at_the_end_of_a_region)
{
    struct region_pool pool = {0};
    struct region region = {.instance = 1, .home = &pool};
    struct state_line *lines[] = {noting(), noting(), noting()};
    struct clock_reading clocks = clock_read();
    for (uint64_t i = 0; i < 3; i++) {
        state_set_idle_region(lines[i], region_word(&region));
        state_set_place(lines[i], STATE_PLACE_ONLY(STATE_PLACE(PROFILE_PLACE_REGION_END, 0)));
        state_set_idle(lines[i], begin + (1 + i) * MS);
    }
    assert_int_equal(state_wait_ended_ns(lines[0], &clocks), UINT64_MAX);
    pass_at(lines[1], 5000);
    pass_at(lines[2], 6000);
    clocks = clock_read();
    assert_int_equal(us_of(state_wait_ended_ns(lines[0], &clocks)), 5000);
    assert_int_equal(state_released_ns(lines[0], &clocks), UINT64_MAX);
}

/* Two threads wait for a third, which arrives last: from then on they lack a core alone. */
FROM_EMPTY(who_waits_at_a_barrier_that_another_has_passed_is_busy)
{
    struct region region = {.instance = 1};
    struct state_line *last = noting(), *first = noting(), *second = noting();
    struct waiting_places places = {0};
    arrive_at(first, &region, 1000, 7);
    arrive_at(second, &region, 2000, 7);
    fake_now_ns = begin + 3 * MS;
    assert_int_equal(released_us(first), UINT64_MAX);
    arrive_at(last, &region, 3000, 7);
    pass_at(last, 3001);
    assert_int_equal(released_us(first), 3001);
    assert_int_equal(released_us(second), 3001);
    fake_now_ns = begin + 9 * MS;
    assert_census(2500, 1, 3);
    assert_census(3002, 3, 3);
    census_us(3002, 0, &places);
    assert_int_equal(places.count, 0);
    pass_at(first, 5000); /* not the first one */
    assert_int_equal(released_us(second), 3001);
    arrive_at(first, &region, 6000, 8);
    fake_now_ns = begin + 9 * MS;
    assert_int_equal(released_us(first), UINT64_MAX); /* which waits at the next one, for the second */
    assert_census(6500, 2, 3);
    census_us(6500, 0, &places);
    assert_int_equal(places.count, 1);
    assert_int_equal(places.place[0], STATE_PLACE(PROFILE_PLACE_BARRIER, 0x4000));
}

FROM_EMPTY(passing_one_barrier_releases_nobody_from_another)
{
    struct region region = {.instance = 1}, other = {.instance = 1};
    struct state_line *passing = noting(), *waiting = noting();
    arrive_at(waiting, &region, 1000, 7);
    arrive_at(passing, &region, 1500, 8);
    pass_at(passing, 1501);
    arrive_at(passing, &other, 2000, 7);
    pass_at(passing, 2001);
    assert_int_equal(released_us(waiting), UINT64_MAX);
    state_set_place(waiting, STATE_PLACE(PROFILE_PLACE_TASKWAIT, 0x4000) | STATE_BARRIER(8));
    assert_int_equal(released_us(waiting), UINT64_MAX);
    arrive_at(waiting, &region, 3000, 8 + REGION_BARRIERS); /* an older one has the same entry */
    assert_int_equal(released_us(waiting), UINT64_MAX);
    arrive_at(passing, &region, 4000, 8 + REGION_BARRIERS);
    pass_at(passing, 4000);
    assert_int_equal(released_us(waiting), 4000);
    arrive_at(waiting, &region, 4000, 8 + REGION_BARRIERS); /* both arrived at the same time */
    assert_int_equal(released_us(waiting), 4000);
}

/* A thread that has not begun yet has waited from time 0 on. */
FROM_EMPTY(a_barrier_that_nobody_has_passed_was_not_passed_at_time_0)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    arrive_at(line, &region, 1000, 0);
    state_set_idle(line, 0);
    assert_int_equal(released_us(line), UINT64_MAX);
}

FROM_EMPTY(a_holder_of_many_sections_ago_is_found)
{
    struct state_line *a = noting(), *b = noting();
    for (uint64_t section = 0; section < 24; section++) {
        struct state_line *line = section % 2 ? a : b;
        fake_now_ns = begin + section * 100000;
        state_lock_held(line, 1, clock_ticks());
        fake_now_ns += 60000;
        assert_true(state_lock_released(line, 1, clock_ticks()));
    }
    for (uint64_t section = 0; section < 24; section++) {
        assert_int_equal(census_us(section * 100 + 30, 1, NULL).holder, state_line_number(section % 2 ? a : b));
        assert_int_equal(census_us(section * 100 + 80, 1, NULL).holder, STATE_NO_HOLDER);
    }
}

/* Sections and waits that take three fifths: so much of what is asked for before all that is remembered is found, too. */
FROM_EMPTY(before_what_is_remembered_another_moment_stands_for_the_one_asked_for)
{
    struct region region = {.instance = 1};
    struct state_line *holder = noting(), *waiter = noting();
    uint32_t held = 0, waited = 0;
    for (uint64_t us = 0; us < 100000; us += 100) {
        fake_now_ns = begin + us * 1000;
        state_lock_held(holder, 1, clock_ticks());
        wait_in(waiter, &region, us, us + 60);
        assert_true(state_lock_released(holder, 1, clock_ticks()));
    }
    for (uint64_t us = 0; us < 90000; us += 9) {
        struct census census = census_us(us, 1, NULL);
        held += census.holder == state_line_number(holder);
        waited += census.busy == 1;
    }
    assert_in_range(held, 5500, 6500);
    assert_in_range(waited, 5000, 6000); /* the graces are not */
}

/* S5: the oldest entry of a full ring is the one that is written next, perhaps at this moment. */
FROM_EMPTY(what_is_about_to_be_overwritten_is_not_read)
{
    struct region region = {.instance = 1};
    struct state_line *line = noting();
    struct clock_reading clocks;
    for (uint64_t i = 0; i < STATE_WAITS; i++) {
        wait_in(line, &region, i * 20, i * 20 + 10);
        state_lock_held(line, 100 + i, begin + i * 20000);
        state_lock_released(line, 100 + i, fake_now_ns);
    }
    for (uint64_t i = 0; i < STATE_WAITS; i++) {
        clocks = (struct clock_reading){begin + i * 20000 + 6000, begin + i * 20000 + 6000, 1};
        assert_int_equal(state_census_at(&clocks, clocks.ns, NULL, 0, NULL).busy, i == 0);
        assert_int_equal(state_census_at(&clocks, clocks.ns, NULL, 100 + i, NULL).holder, i == 0 ? STATE_NO_HOLDER : 0);
    }
}

UNIT_MAIN(NULL, NULL)
