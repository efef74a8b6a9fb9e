/* Changes of made histories: none where there is none, found where they are. */
#include "tests/unit/unit.h"

#include <math.h>

#include "compare/history.h"

#define SEEDS     400
#define REVISIONS 12
#define RUNS      4
#define COUNT     (REVISIONS * RUNS)

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Scatters by 1 %; one of ten runs is disturbed by up to 20 %. */
static double scatter(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return 1 + 0.01 * sum + (uniform(state) < 0.1 ? 0.2 * uniform(state) : 0);
}

static size_t find(uint64_t seed, const double *level, struct history_change *change)
{
    double value[COUNT];
    size_t revision[COUNT];
    uint64_t state = seed * 77 + 1;
    for (size_t i = 0; i < COUNT; i++) {
        revision[i] = i / RUNS;
        value[i] = level[i / RUNS] * scatter(&state);
    }
    return history_changes(value, revision, COUNT, 0.01, change);
}

UNIT_TEST(without_a_change_one_of_twenty_histories_has_one)
{
    double level[REVISIONS];
    struct history_change change[REVISIONS];
    size_t alarms = 0;
    for (size_t i = 0; i < REVISIONS; i++)
        level[i] = 3;
    for (size_t seed = 0; seed < SEEDS; seed++)
        alarms += find(seed, level, change) > 0;
    printf("%.1f %% of %d histories without a change have one\n", 100.0 * (double)alarms / SEEDS, SEEDS);
    assert_true((double)alarms <= SEEDS * (HISTORY_LEVEL + 3 * sqrt(HISTORY_LEVEL * (1 - HISTORY_LEVEL) / SEEDS)));
}

UNIT_TEST(a_step_is_found_at_its_revision)
{
    static const double step[] = {0.02, 0.03, 0.05, 0.1, -0.05};
    for (size_t s = 0; s < sizeof step / sizeof *step; s++) {
        double level[REVISIONS];
        size_t found = 0, there = 0, within = 0;
        for (size_t i = 0; i < REVISIONS; i++)
            level[i] = i < 7 ? 3 : 3 * (1 + step[s]);
        for (size_t seed = 0; seed < SEEDS; seed++) {
            struct history_change change[REVISIONS];
            size_t count = find(seed, level, change);
            found += count > 0;
            for (size_t i = 0; i < count; i++)
                if (change[i].at == 7) {
                    there++;
                    within += change[i].low <= step[s] && step[s] <= change[i].high;
                    assert_true(change[i].low <= change[i].high && change[i].chance <= HISTORY_LEVEL);
                }
        }
        printf("a step of %+.0f %%: found in %.1f %%, at its revision in %.1f %%, its size within the bounds in %.1f %% of these\n", 100 * step[s],
               100.0 * (double)found / SEEDS, 100.0 * (double)there / SEEDS, 100.0 * (double)within / (double)there);
        if (fabs(step[s]) >= 0.05)
            assert_true(found > SEEDS * 99 / 100 && there > SEEDS * 9 / 10 && within > there * 8 / 10);
    }
}

UNIT_TEST(two_steps_are_two)
{
    double level[REVISIONS];
    size_t both = 0;
    for (size_t i = 0; i < REVISIONS; i++)
        level[i] = i < 4 ? 1 : i < 8 ? 1.2 : 1;
    for (size_t seed = 0; seed < SEEDS; seed++) {
        struct history_change change[REVISIONS];
        both += find(seed, level, change) == 2 && change[0].at == 4 && change[1].at == 8 && change[0].after == change[1].before;
    }
    printf("up and down again: both in %.1f %%\n", 100.0 * (double)both / SEEDS);
    assert_true(both > SEEDS * 8 / 10);
}

UNIT_TEST(few_runs_tell_nothing)
{
    struct history_change change[3];
    assert_int_equal(history_changes((const double[]){1}, (const size_t[]){0}, 1, 0.01, change), 0);
    assert_int_equal(history_changes(NULL, NULL, 0, 0.01, change), 0);
    assert_int_equal(history_changes((const double[]){1, 2}, (const size_t[]){0, 1}, 2, 0.01, change), 0);
    assert_int_equal(history_changes((const double[]){1, 1, 1, 2, 2, 2}, (const size_t[]){0, 0, 0, 1, 1, 1}, 6, 0.01, change), 0);
    assert_int_equal(history_changes((const double[]){1, 1.1, 1.2, 1.3, 2, 2, 2.1, 2.2}, (const size_t[]){0, 0, 0, 0, 1, 1, 1, 1}, 8, 0.01, change), 1);
    assert_int_equal(change->at, 1);
    assert_int_equal(history_changes((const double[]){5, 5, 5, 5, 5, 5}, (const size_t[]){0, 1, 2, 3, 4, 5}, 6, 0.01, change), 0);
}

UNIT_MAIN(NULL, NULL)
