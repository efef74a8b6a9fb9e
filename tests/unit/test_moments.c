#include "tests/unit/unit.h"

#include <math.h>

#include "cct/timeline/moment.h"
#include "ompt_tool/session/moments.h"

#define P       5000000ull
#define START   123456789ull
#define PERIODS 20000u
#define THREADS 8u

static struct moments of_thread(uint32_t thread, uint64_t begin_ns, uint64_t seed)
{
    struct moments moments;
    moments_start(&moments, begin_ns, P, START, seed, thread);
    return moments;
}

/* The moment that comes next, which then has passed. */
static uint64_t take(struct moments *moments)
{
    uint64_t next_ns = moments->next_ns, weight_ns = P - moments->missed_ns, last_ns, passed_ns;
    assert_int_equal(moments_pass(moments, next_ns, &last_ns, &passed_ns), 1);
    assert_int_equal(passed_ns, weight_ns);
    assert_int_equal(last_ns, next_ns);
    return next_ns;
}

/* First of all: here the program has one thread. */
UNIT_TEST(each_period_has_one_moment_and_all_are_as_likely)
{
    enum { PARTS = 20 };
    uint32_t hits[PARTS] = {0};
    for (uint32_t thread = 0; thread < THREADS; thread += THREADS - 1) {
        uint64_t begin_ns = START + 3 * P;
        struct moments moments = of_thread(thread, begin_ns, thread);
        memset(hits, 0, sizeof(hits));
        for (uint32_t i = 0; i < PERIODS; i++, begin_ns += P) {
            uint64_t moment_ns = take(&moments);
            assert_in_range(moment_ns, begin_ns, begin_ns + P - 1);
            hits[(moment_ns - begin_ns) * PARTS / P]++;
        }
        for (uint32_t i = 0; i < PARTS; i++) /* 5 standard deviations */
            assert_true(fabs(hits[i] - (double)PERIODS / PARTS) < 5 * sqrt((double)PERIODS / PARTS));
    }
}

UNIT_TEST(a_renewed_period_has_a_moment_whether_or_not_the_first_has_come)
{
    struct moments moments = of_thread(0, START, 1);
    uint32_t early = 0, after[2] = {0}, late[2] = {0};
    for (uint32_t i = 0; i < PERIODS; i++) {
        uint64_t begin_ns = moments.begin_ns, moment_ns = moments.next_ns, middle_ns = begin_ns + P / 2;
        bool has_come = moment_ns < middle_ns;
        if (has_come)
            take(&moments);
        assert_int_equal(moments_renew(&moments, middle_ns), has_come ? (int64_t)P / 2 : -(int64_t)P / 2);
        uint64_t renewed_ns = take(&moments);
        assert_in_range(renewed_ns, middle_ns, begin_ns + P - 1);
        assert_int_equal(moments.begin_ns, begin_ns + P);
        early += has_come;
        after[has_come]++;
        late[has_come] += renewed_ns >= middle_ns + P / 4;
    }
    assert_true(fabs(early - PERIODS / 2.0) < 5 * sqrt(PERIODS / 4.0));
    for (uint32_t i = 0; i < 2; i++) /* the first moment says nothing of the second */
        assert_true(fabs(late[i] - after[i] / 2.0) < 5 * sqrt(after[i] / 4.0));
}

UNIT_TEST(a_moment_says_nothing_of_the_next)
{
    struct moments moments = of_thread(3, START, 1);
    double sum = 0, last = 0;
    for (uint32_t i = 0; i < PERIODS; i++) {
        double place = (double)((take(&moments) - START) % P) / (double)P - 0.5;
        sum += place * last;
        last = place;
    }
    assert_true(fabs(sum) < 5 * sqrt(PERIODS) / 12);
}

/* One in each of so many parts; any two threads in any two parts equally often. */
UNIT_TEST(threads_are_spread_evenly_over_a_period)
{
    struct moments threads[THREADS];
    uint32_t both[THREADS][THREADS][THREADS] = {0}; /* threads 0 and i, so many parts apart */
    for (uint32_t i = 0; i < THREADS; i++)
        threads[i] = of_thread(i, START, 42);
    for (uint32_t i = 0; i < THREADS; i++) /* again: now it is known how many there are */
        threads[i] = of_thread(i, START, 42);
    for (uint32_t period = 0; period < PERIODS; period++) {
        uint32_t part[THREADS], seen = 0;
        for (uint32_t i = 0; i < THREADS; i++) {
            part[i] = (uint32_t)((take(&threads[i]) - START - period * P) * THREADS / P);
            seen |= 1u << part[i];
        }
        assert_int_equal(seen, (1u << THREADS) - 1);
        for (uint32_t i = 1; i < THREADS; i++)
            for (uint32_t j = 0; j < i; j++)
                both[i][j][(part[i] - part[j]) % THREADS]++;
    }
    for (uint32_t i = 1; i < THREADS; i++)
        for (uint32_t j = 0; j < i; j++)
            for (uint32_t apart = 1; apart < THREADS; apart++)
                assert_true(fabs(both[i][j][apart] - PERIODS / 7.0) < 6 * sqrt(PERIODS / 7.0));
}

/* So that a life is known to a period, whenever it begins. */
UNIT_TEST(the_first_period_is_what_is_left_of_one)
{
    double sum = 0;
    for (uint64_t begin_ns = START; begin_ns < START + 1000 * P; begin_ns += P + P / 1000) {
        struct moments moments = of_thread(1, begin_ns, 7), other = of_thread(1, START, 7);
        uint64_t left_ns = P - (begin_ns - START) % P, last_ns, weight_ns;
        sum += (double)(moments.next_ns - begin_ns) / (double)left_ns - 0.5;
        assert_in_range(moments.next_ns, begin_ns, begin_ns + left_ns - 1);
        assert_int_equal(moments_pass(&moments, moments.next_ns, &last_ns, &weight_ns), 1);
        assert_int_equal(weight_ns, left_ns);
        while (other.begin_ns < moments.begin_ns)
            take(&other);
        assert_int_equal(moments.next_ns, other.next_ns);
    }
    assert_true(fabs(sum) < 5 * sqrt(1000.0 / 12));
}

UNIT_TEST(a_seed_repeats_and_another_does_not)
{
    struct moments one = of_thread(2, START, 5), same = of_thread(2, START, 5), other = of_thread(2, START, 6);
    uint32_t alike = 0;
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t moment_ns = take(&one);
        assert_int_equal(moment_ns, take(&same));
        alike += moment_ns == take(&other);
    }
    assert_int_equal(alike, 0);
}

/* However late it is asked: as many as if each had been taken when it came. */
UNIT_TEST(what_has_passed_is_counted_to_the_last_moment)
{
    struct moments late = of_thread(1, START + P / 3, 9), slow = late;
    uint64_t random = 88172645463325252ull, last_ns, expected_last_ns = 0, weight_ns;
    for (uint32_t i = 0; i < 2000; i++) {
        random = moment_hash(random);
        uint64_t now_ns = late.next_ns + random % (random % 5 * P + 1), count = 0;
        uint64_t from_ns = late.begin_ns + late.missed_ns;
        while (slow.next_ns <= now_ns) {
            expected_last_ns = take(&slow);
            count++;
        }
        assert_int_equal(moments_pass(&late, now_ns, &last_ns, &weight_ns), count);
        assert_int_equal(weight_ns, late.begin_ns - from_ns);
        assert_int_equal(last_ns, expected_last_ns);
        assert_int_equal(late.next_ns, slow.next_ns);
        assert_int_equal(late.begin_ns, slow.begin_ns);
        assert_int_equal(moments_second(&late), moments_second(&slow));
    }
}

UNIT_TEST(how_many_come_within_a_time_is_known_afterwards)
{
    struct moments moments = of_thread(1, START, 7), then = moments;
    uint64_t due_ns = take(&then), last_ns, weight_ns;
    for (uint64_t ns = 1; ns < 20 * P; ns += P / 16) {
        struct moments until = moments;
        assert_int_equal(moments_within(&then, due_ns, ns),
                         moments_pass(&until, due_ns + ns - 1, &last_ns, &weight_ns));
        take(&then); /* what has passed since makes no difference */
    }
}

/* However many there are; the parts are whole nanoseconds here. */
UNIT_TEST(each_of_many_threads_has_a_part_of_its_own)
{
    const uint64_t period_ns = 1 << 22;
    for (uint32_t bits = 2; bits <= 12; bits++) {
        uint32_t count = 1u << bits, parts = 0;
        bool *seen = calloc(count, sizeof(*seen));
        of_thread(count - 1, START, 1); /* now it is known */
        for (uint32_t thread = 0; thread < count; thread++) {
            struct moments moments;
            moments_start(&moments, START, period_ns, START, 1, thread);
            uint64_t part = (moments.next_ns - START) * count / period_ns;
            parts += !seen[part];
            seen[part] = true;
        }
        assert_int_equal(parts, count);
        free(seen);
    }
}

UNIT_MAIN(NULL, NULL)
