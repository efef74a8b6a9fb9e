/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include "blame/notes.h"
#include "tests/unit/fake_clock.h"

#define MS 1000000ull

static int reset(void **unused)
{
    (void)unused;
    state_reset();
    notes_reset();
    fake_now_ns += 10000 * MS;
    return 0;
}

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, reset, NULL)

/* A thread whose next sample is due so many milliseconds from now. */
static struct state_line *sampled_in(uint64_t ms)
{
    struct state_line *line = state_line_acquire();
    struct clock_reading clocks = clock_read();
    assert_non_null(line);
    notes_due(line, &clocks, fake_now_ns + ms * MS);
    return line;
}

static void due_in(struct state_line *line, uint64_t ms)
{
    struct clock_reading clocks = clock_read();
    notes_due(line, &clocks, ms ? fake_now_ns + ms * MS : 0);
}

/* Whether a wait is noted that begins a microsecond behind the one before. */
static bool notes_storms(const struct state_line *line)
{
    uint64_t look, apart = notes_choose(line, fake_now_ns, &look);
    assert_true(look > fake_now_ns);
    assert_true(apart == 0 || apart == STATE_GRACE_NS);
    return apart == 0;
}

/* How long until somebody looks again. */
static uint64_t look_ns(const struct state_line *line)
{
    uint64_t look;
    notes_choose(line, fake_now_ns, &look);
    return look - fake_now_ns;
}

FROM_EMPTY(storms_are_noted_when_a_sample_of_any_thread_is_due_soon)
{
    struct state_line *line = sampled_in(5), *other = sampled_in(3);
    uint64_t soon_ns = NOTES_SOON * STATE_GRACE_NS;
    assert_false(notes_storms(line));
    assert_int_equal(look_ns(line), 3 * MS - soon_ns);
    fake_now_ns += 3 * MS - soon_ns - 1;
    assert_false(notes_storms(line));
    fake_now_ns += 1;
    assert_true(notes_storms(line));
    assert_true(notes_storms(other));
    assert_int_equal(look_ns(line), NOTES_LOOK * STATE_GRACE_NS);
}

FROM_EMPTY(and_until_it_has_come)
{
    struct state_line *line = sampled_in(5), *other = sampled_in(1);
    fake_now_ns += 3 * MS;
    assert_true(notes_storms(line));
    due_in(other, 5);
    assert_false(notes_storms(line));
    assert_int_equal(look_ns(line), 2 * MS - NOTES_SOON * STATE_GRACE_NS);
}

FROM_EMPTY(who_gets_no_sample_is_not_waited_for)
{
    struct state_line *line = sampled_in(5), *other = sampled_in(1), *third = sampled_in(1);
    fake_now_ns += 2 * MS;
    assert_true(notes_storms(line));
    due_in(other, 0);
    assert_true(notes_storms(line));
    due_in(third, 0);
    assert_false(notes_storms(line));
    due_in(line, 0);
    fake_now_ns += 1000 * MS;
    assert_false(notes_storms(line));
}

FROM_EMPTY(a_sample_that_did_not_come_for_a_second_is_not_waited_for)
{
    struct state_line *line = sampled_in(1), *silent = sampled_in(1);
    (void)silent;
    fake_now_ns += 1000 * MS;
    due_in(line, 10);
    assert_true(notes_storms(line));
    fake_now_ns += 2 * MS;
    due_in(line, 10);
    assert_false(notes_storms(line));
}

FROM_EMPTY(of_many_threads_the_first_is_found)
{
    struct state_line *lines[100];
    for (uint64_t i = 0; i < 100; i++)
        lines[i] = sampled_in(200 + i);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t number = i * 37 % 100, ms = number < 50 ? 101 + number : 100;
        due_in(lines[number], ms);
        assert_int_equal(look_ns(lines[0]), ms * MS - NOTES_SOON * STATE_GRACE_NS);
        due_in(lines[number], 1000);
    }
}

UNIT_MAIN(NULL, NULL)
