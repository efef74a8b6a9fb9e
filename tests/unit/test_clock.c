#include "tests/unit/unit.h"

#include <time.h>

#include "base/clock.h"

static void spin_ns(uint64_t wait_ns)
{
    uint64_t end_ns = clock_now_ns() + wait_ns;
    while (clock_now_ns() < end_ns)
        ;
}

UNIT_TEST(now_is_the_monotonic_clock)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t now = clock_now_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(now >= (uint64_t)before.tv_sec * NS_PER_S + (uint64_t)before.tv_nsec);
    assert_true(now <= (uint64_t)after.tv_sec * NS_PER_S + (uint64_t)after.tv_nsec);
}

UNIT_TEST(cpu_time_stands_still_while_asleep)
{
    uint64_t thread = clock_thread_cpu_ns(), process = clock_process_cpu_ns();
    usleep(50000);
    assert_true(clock_thread_cpu_ns() - thread < 20000000);
    thread = clock_thread_cpu_ns();
    while (clock_thread_cpu_ns() - thread < 20000000)
        ;
    assert_true(clock_process_cpu_ns() - process >= 20000000);
}

UNIT_TEST(real_time_is_the_date)
{
    int64_t now = clock_realtime_ns() / (int64_t)NS_PER_S;
    assert_true(now >= (int64_t)time(NULL) - 2 && now <= (int64_t)time(NULL) + 2);
}

static void check_ages(void)
{
    for (uint64_t wait_ns = 20000; wait_ns <= 20000000; wait_ns *= 10) {
        uint64_t begin_ns = clock_now_ns(), ticks = clock_ticks();
        uint64_t inside_ns = clock_now_ns();
        spin_ns(wait_ns);
        uint64_t least_ns = clock_now_ns() - inside_ns;
        struct clock_reading now = clock_read();
        uint64_t age_ns = now.ns - clock_ticks_ns(&now, ticks);
        uint64_t most_ns = clock_now_ns() - begin_ns;
        /* To a per mille, and what the reads themselves take. */
        assert_true(age_ns + age_ns / 500 + 1000 >= least_ns);
        assert_true(age_ns <= most_ns + most_ns / 500 + 1000);
    }
}

UNIT_TEST(the_age_of_a_time_stamp_is_what_has_passed)
{
    check_ages(); /* in nanoseconds */
    clock_ticks_init();
    spin_ns(20000000); /* the rate is known from here on */
    check_ages();
}

UNIT_TEST(a_time_stamp_older_than_the_clock_is_its_zero)
{
    struct clock_reading reading = clock_read();
    assert_int_equal(clock_ticks_ns(&reading, reading.ticks - (1ull << 62)), 0);
    assert_true(clock_ticks_ns(&reading, 0) < reading.ns);
}

UNIT_MAIN(NULL, NULL)
