/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include "blame/account.h"
#include "cct/profile_format.h"
#include "tests/unit/census.h"
#include "tests/unit/fake_clock.h"

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, no_lines, NULL)

/* Who holds the lock now, after all that was done so far. */
static uint32_t holder_now(uint64_t key)
{
    fake_now_ns += 10;
    return census_at(fake_now_ns, key, NULL).holder;
}

static bool held(uint64_t key)
{
    return holder_now(key) != STATE_NO_HOLDER;
}

FROM_EMPTY(a_held_lock_is_found_until_it_is_released)
{
    struct state_line *a = working(), *b = working();
    assert_false(held(1));
    state_set_lockwait(a, 1);
    assert_false(held(1)); /* waiting is not holding */
    state_lock_held(a, 1, clock_ticks());
    assert_int_equal(a->state, STATE_WORK);
    assert_true(held(1));
    assert_false(held(2));
    state_lock_held(b, 2, clock_ticks());
    assert_true(held(1) && held(2));
    state_lock_released(a, 1, clock_ticks());
    assert_false(held(1));
    assert_true(held(2));
    state_lock_released(b, 2, clock_ticks());
    assert_false(held(2));
    assert_false(state_lock_released(b, 2, clock_ticks())); /* more releases than acquisitions: another thread's lock */
    assert_false(state_unnamed_released(b));
}

FROM_EMPTY(a_lock_with_a_name_is_not_held_by_one_with_too_many)
{
    struct state_line *waiter = working(), *decoy = working(), *holder = working();
    for (uint64_t key = 10; key < 10 + STATE_HELD_LOCKS + 1; key++) {
        state_lock_held(waiter, key, clock_ticks());
        state_lock_held(decoy, 100 + key, clock_ticks());
    }
    assert_true(waiter->held_unnamed == 1 && decoy->held_unnamed == 1);
    state_lock_held(holder, 1, clock_ticks());
    state_set_lockwait(waiter, 1);
    assert_int_equal(holder_now(1), state_line_number(holder));
    assert_true(state_lock_released(holder, 1, clock_ticks()));
    assert_int_equal(holder_now(1), state_line_number(decoy)); /* perhaps, but never the waiter */
    assert_false(state_lock_released(decoy, 1, clock_ticks()));
    assert_true(state_unnamed_released(decoy));
    assert_false(state_unnamed_released(decoy));
    assert_int_equal(holder_now(1), STATE_NO_HOLDER);
}

FROM_EMPTY(nobody_is_blamed_who_acquired_the_lock_later)
{
    struct state_line *a = working(), *b = working();
    uint64_t begin = fake_now_ns;
    state_lock_held(a, 1, clock_ticks()); /* a holds it until 1000, b from 3000 to 5000, a again from 7000 on */
    fake_now_ns = begin + 1000;
    assert_true(state_lock_released(a, 1, clock_ticks()));
    fake_now_ns = begin + 3000;
    state_lock_held(b, 1, clock_ticks());
    assert_int_equal(census_at(begin + 2000, 1, NULL).holder, STATE_NO_HOLDER);
    assert_int_equal(census_at(begin + 500, 1, NULL).holder, state_line_number(a));
    fake_now_ns = begin + 4000;
    assert_int_equal(census_at(begin + 3500, 1, NULL).holder, state_line_number(b));
    state_lock_held(b, 2, clock_ticks()); /* another lock inside does not make the first younger */
    assert_true(state_lock_released(b, 2, clock_ticks()));
    fake_now_ns = begin + 5000;
    assert_true(state_lock_released(b, 1, clock_ticks()));
    assert_int_equal(census_at(begin + 2000, 1, NULL).holder, STATE_NO_HOLDER);
    assert_int_equal(census_at(begin + 3500, 1, NULL).holder, state_line_number(b));
    fake_now_ns = begin + 7000;
    state_lock_held(a, 1, clock_ticks());
    assert_int_equal(census_at(begin + 6000, 1, NULL).holder, STATE_NO_HOLDER);
    assert_int_equal(census_at(begin + 7000, 1, NULL).holder, state_line_number(a));
    assert_true(state_lock_released(a, 1, clock_ticks()));
}

FROM_EMPTY(a_long_hold_is_known_when_many_short_ones_have_followed)
{
    struct state_line *a = working(), *b = working();
    uint64_t begin = fake_now_ns;
    state_lock_held(a, 1, clock_ticks());
    fake_now_ns += 10000000;
    assert_true(state_lock_released(a, 1, clock_ticks()));
    for (uint32_t i = 0; i < 2 * STATE_RELEASES; i++) {
        fake_now_ns += 10000;
        state_lock_held(b, 1, clock_ticks());
        fake_now_ns += 1000;
        assert_true(state_lock_released(b, 1, clock_ticks()));
    }
    assert_int_equal(census_at(begin + 5000000, 1, NULL).holder, state_line_number(a));
    assert_int_equal(census_at(begin + 5000000, 2, NULL).holder, STATE_NO_HOLDER);
    /* a time of which nothing is known, and for which one of a long hold would stand */
    state_lock_held(b, 1, clock_ticks());
    fake_now_ns += 10000000;
    int64_t ticks = census_at(begin + 10000000 + 20 * 11000 + 5000, 1, NULL).ticks;
    assert_true(ticks <= (int64_t)b->held_since[0]);
    assert_true(state_lock_released(b, 1, clock_ticks()));
}

/* One task locks, another releases, again and again: nothing may pile up in the line of the one that locked.
 */
FROM_EMPTY(a_lock_released_by_another_thread_is_forgotten)
{
    struct state_line *a = working(), *b = working();
    for (int i = 0; i < 100; i++) {
        state_lock_held(a, 7, clock_ticks());
        assert_true(held(7));
        assert_false(state_lock_released(b, 7, clock_ticks()));
        assert_int_equal(state_forget_holder(7), state_line_number(a));
        assert_false(held(7));
        assert_false(held(8)); /* and no other lock is called held on its account */
    }
    assert_int_equal(state_forget_holder(7), STATE_NO_HOLDER);
    for (uint64_t key = 1; key <= STATE_HELD_LOCKS; key++)
        state_lock_held(a, key, clock_ticks());
    for (uint64_t key = 1; key <= STATE_HELD_LOCKS; key++) {
        assert_true(held(key));
        assert_true(state_lock_released(a, key, clock_ticks()));
        assert_false(held(key));
    }
}

/* As many locks as have names, and five, of which some have none. */
static void check_release_orders(uint32_t locks, uint32_t orders)
{
    for (uint32_t order = 0; order < orders; order++) {
        struct state_line *a = working();
        uint64_t left[5] = {1, 2, 3, 4, 5};
        for (uint64_t key = 1; key <= locks; key++) {
            state_lock_held(a, key, clock_ticks());
            assert_true(held(key));
        }
        uint32_t code = order;
        for (uint32_t count = locks; count > 0; count--) {
            uint32_t pick = code % count;
            uint64_t released = left[pick];
            code /= count;
            assert_true(state_lock_released(a, released, clock_ticks()));
            for (uint32_t i = pick; i + 1 < count; i++)
                left[i] = left[i + 1];
            for (uint32_t i = 0; i + 1 < count; i++)
                assert_true(held(left[i]));
            assert_false(held(released));
        }
        assert_int_equal(a->held_unnamed, 0);
        for (uint64_t key = 1; key <= locks; key++)
            assert_false(held(key));
        state_line_release(a);
    }
}

FROM_EMPTY(locks_are_released_in_any_order)
{
    check_release_orders(3, 6);
    check_release_orders(5, 120);
}

FROM_EMPTY(a_lock_taken_twice_is_held_until_the_second_release)
{
    struct state_line *a = working();
    state_lock_held(a, 5, clock_ticks());
    state_lock_held(a, 5, clock_ticks());
    state_lock_released(a, 5, clock_ticks());
    assert_true(held(5));
    state_lock_released(a, 5, clock_ticks());
    assert_false(held(5));
}

/* A lock that is not stamped (blame/contended.h): all that is known is who holds it now. */
FROM_EMPTY(the_holder_of_a_lock_without_stamps_is_who_holds_it_now)
{
    struct state_line *a = working(), *b = working();
    uint64_t begin = fake_now_ns;
    fake_now_ns = begin + 1000;
    state_set_lockwait(a, 1);
    assert_int_equal(a->wait_since, 0);
    assert_true(state_wait_ends_simply(a));
    assert_int_equal(a->wait_key, 0);
    assert_int_equal(census_at(begin + 500, 1, NULL).holder, state_line_number(a)); /* not known: not later */
    assert_int_equal(census_at(begin + 2000, 1, NULL).holder, state_line_number(a));
    assert_false(state_lock_released_simply(a, 2));
    assert_true(state_lock_released_simply(a, 1));
    assert_int_equal(census_at(begin + 1500, 1, NULL).holder, STATE_NO_HOLDER);
    assert_int_equal(a->releases, 0);
    state_set_lockwait(b, 1);
    assert_true(state_wait_ends_simply(b));
    fake_now_ns = begin + 3000; /* somebody was seen waiting for it meanwhile: its release is stamped */
    assert_true(state_lock_released(b, 1, clock_ticks()));
    assert_int_equal(census_at(begin + 2000, 1, NULL).holder, state_line_number(b));
    assert_int_equal(census_at(begin + 3001, 1, NULL).holder, STATE_NO_HOLDER);
}

FROM_EMPTY(what_is_not_simple_is_refused_and_nothing_changed)
{
    struct state_line *a = working();
    assert_false(state_wait_ends_simply(a)); /* it has not asked: a test that succeeded */
    state_set_lockwait_at(a, 1, clock_ticks());
    assert_false(state_wait_ends_simply(a)); /* stamped */
    assert_int_equal(a->wait_key, 1);
    state_lock_held(a, 1, clock_ticks());
    assert_int_equal(a->wait_since, 0);
    state_set_lockwait(a, 2);
    assert_false(state_wait_ends_simply(a)); /* it holds another */
    state_lock_held(a, 2, 0);
    assert_true(held(1) && held(2));
    assert_false(state_lock_released_simply(a, 2)); /* not the first */
    assert_true(state_lock_released_simply(a, 1));
    assert_true(state_holds_locks(a));
    assert_true(state_lock_released(a, 2, 0));
    assert_false(state_holds_locks(a));
    assert_int_equal(a->acquisitions, 2);
    assert_false(state_wait_ends_simply(&state_nobody));
    assert_false(state_lock_released_simply(&state_nobody, 1));
    assert_int_not_equal(state_nobody.stamps, STATE_STAMPS_NONE);
}

FROM_EMPTY(a_holder_counts_those_that_waited_by_a_time_for_each_of_its_locks)
{
    struct state_line *holder = working(), *first = working(), *second = working(), *other = working();
    uint32_t waiters[STATE_HELD_LOCKS];
    state_lock_held(holder, 1, 100);
    state_lock_held(holder, 2, 110);
    state_set_lockwait_at(first, 1, 200);
    state_set_lockwait_at(second, 1, 300);
    state_set_lockwait_at(other, 3, 200); /* nobody's */
    assert_int_equal(state_count_waiters(holder, 250, waiters), 1);
    assert_int_equal(state_count_waiters(holder, INT64_MAX, waiters), 2);
    assert_int_equal(waiters[0], 2);
    assert_int_equal(waiters[1], 0);
    assert_int_equal(state_count_waiters(first, INT64_MAX, waiters), 0);
}

FROM_EMPTY(a_lock_whose_release_is_not_reported_yet_is_held_by_its_next_owner)
{
    struct state_line *late = working(), *next = working(), *waiter = working();
    uint32_t waiters[STATE_HELD_LOCKS], owner;
    uint64_t now = clock_ticks();
    state_lock_held(late, 1, now - 900);
    state_set_lockwait_at(waiter, 1, now - 800);
    state_set_lockwait_at(next, 1, now - 790);
    state_lock_held(next, 1, now - 700);
    assert_int_equal(holder_now(1), state_line_number(next));
    assert_int_equal(state_count_waiters(late, (int64_t)now - 795, waiters), 1);
    assert_int_equal(state_count_waiters(late, (int64_t)now - 750, waiters), 2); /* with the next owner */
    assert_int_equal(waiters[0], 2);
    assert_int_equal(state_count_waiters(late, (int64_t)now - 650, waiters), 0);
    assert_int_equal(waiters[0], 0);
    assert_int_equal(state_count_waiters(next, (int64_t)now - 650, waiters), 1);
    assert_true(state_lock_released(next, 1, now - 600));
    assert_int_equal(state_count_waiters(late, (int64_t)now - 550, waiters), 0);
    assert_int_equal(state_count_waiters(late, (int64_t)now - 750, waiters), 2);
    assert_int_equal(state_handover_after((int64_t)now - 550, 1, &owner), STATE_FREE);
    assert_false(held(1));
    assert_true(state_lock_released(late, 1, now - 500));
    assert_false(held(1));
    /* the next owner has it so often that it is not known when it had it first */
    state_lock_held(late, 1, now - 400);
    for (uint64_t i = 0; i < STATE_RELEASES; i++) {
        state_lock_held(next, 1, now - 300 + i);
        assert_true(state_lock_released(next, 1, now - 300 + i));
    }
    assert_int_equal(state_count_waiters(late, (int64_t)now - 350, waiters), 0);
}

FROM_EMPTY(the_time_of_an_earlier_acquisition_is_not_that_of_one_without_a_stamp)
{
    struct state_line *holder = working(), *other = working(), *waiter = working();
    uint32_t waiters[STATE_HELD_LOCKS];
    state_lock_held(holder, 1, 100);
    assert_true(state_lock_released(holder, 1, 110));
    state_lock_held(other, 1, 120);
    assert_true(state_lock_released(other, 1, 130));
    state_set_lockwait(holder, 1);
    assert_true(state_wait_ends_simply(holder));
    state_set_lockwait_at(waiter, 1, 150);
    assert_int_equal(state_count_waiters(holder, 160, waiters), 1);
}

FROM_EMPTY(the_next_owner_of_a_free_lock_says_whether_it_had_a_core)
{
    struct state_line *next = working(), *later = working();
    uint32_t owner;
    assert_int_equal(state_handover_after(150, 1, &owner), STATE_FREE);
    next->wait_lacked = 50; /* from 150 to 200 */
    state_lock_held(next, 1, 200);
    assert_int_equal(state_handover_after(149, 1, &owner), STATE_PASSED_WITH_CORE);
    assert_int_equal(state_handover_after(150, 1, &owner), STATE_PASSED_WITHOUT);
    assert_int_equal(owner, state_line_number(next));
    assert_true(state_lock_released(next, 1, 300));
    state_lock_held(later, 1, 400);
    assert_int_equal(state_handover_after(150, 1, &owner), STATE_PASSED_WITHOUT);
    assert_int_equal(owner, state_line_number(next));
    assert_int_equal(state_handover_after(350, 1, &owner), STATE_PASSED_WITH_CORE);
    assert_int_equal(owner, state_line_number(later));
}

FROM_EMPTY(an_owner_that_waits_until_another_thread_releases_its_lock_waits_and_counts_nobody)
{
    struct state_line *owner = working(), *releaser = working(), *waiter = working();
    const uint64_t plain = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 1),
                   nestable = PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 1);
    const struct delivery delivery = {0};
    uint32_t waiters[STATE_HELD_LOCKS], self = state_line_number(owner);
    owner->counts_waiters = true;
    state_lock_held(owner, plain, clock_ticks());
    state_set_lockwait(waiter, plain);
    assert_true(census_at(fake_now_ns, plain, NULL).holder_counts);
    assert_int_equal(state_count_waiters(owner, INT64_MAX, waiters), 1);
    state_set_lockwait(owner, plain);
    assert_int_equal(holder_now(plain), self);
    assert_false(census_at(fake_now_ns, plain, NULL).holder_counts);
    assert_int_equal(state_count_waiters(owner, INT64_MAX, waiters), 0);
    assert_false(account_is_taking(owner, &delivery, plain, self));
    assert_false(state_lock_released(releaser, plain, clock_ticks()));
    assert_int_equal(releaser->releases, 0); /* nobody takes it for the thread that held the lock */
    assert_int_equal(state_forget_holder(plain), self);
    assert_int_equal(holder_now(plain), STATE_NO_HOLDER);
    state_lock_held(owner, nestable, clock_ticks());
    state_set_lockwait(owner, nestable);
    assert_true(account_is_taking(owner, &delivery, nestable, self)); /* it waits for nobody */
}

UNIT_MAIN(NULL, NULL)
