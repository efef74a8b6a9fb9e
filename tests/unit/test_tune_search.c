/* The search by made times: what it costs to find the best setting, against blind search, and how often it sees a gain where there is none. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tune/search.h"

#define SEEDS     400
#define MOST_RUNS 400
#define NEVER     10000
#define SCATTER   0.01

enum { THREADS, SCHEDULE, WAIT, BIND, OWN, DIMENSIONS };
static const struct search_dimension dimension[DIMENSIONS] = {
    [THREADS] = {7, true}, /* the default: 16 of 16 cores; 1, 2, 4, 8, 12, 24 */
    [SCHEDULE] = {8, false}, /* the program's; static, dynamic,1 ,4 ,16 ,64, guided, guided,16 */
    [WAIT] = {3, false}, [BIND] = {4, false},
    [OWN] = {12, true}, /* a block size */
};
static const double threads_of[] = {16, 1, 2, 4, 8, 12, 24};
static const double chunk_of[] = {1e4, 1e4, 1, 4, 16, 64, 100, 200};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

/* Work that threads share, chunks that are uneven at one end and cost at the other. */
static double loop_s(const size_t *value, double uneven, double chunk_cost)
{
    double threads = threads_of[value[THREADS]], chunk = chunk_of[value[SCHEDULE]];
    double share = fmin(threads, 16), late = uneven * fmin(1, chunk * threads / 1e4);
    return 10 / share * (1 + late) + chunk_cost / chunk + 0.05 + (threads > 16 ? 0.4 : 0);
}

static double imbalanced(const size_t *value)
{
    return loop_s(value, 0.9, 0.4);
}

static double bandwidth_bound(const size_t *value)
{
    double threads = fmin(threads_of[value[THREADS]], 16);
    return 4 / fmin(threads, 5) + 0.02 * threads + (value[BIND] == 2 ? 0 : 0.1) + (value[SCHEDULE] > 1 && value[SCHEDULE] < 4 ? 0.3 : 0);
}

static double spinning(const size_t *value)
{
    static const double wait[] = {1.6, 1.9, 1.0};
    return wait[value[WAIT]] * (1 + 2 / threads_of[value[THREADS]]) + (threads_of[value[THREADS]] > 16 ? 0.8 : 0);
}

static double far_memory(const size_t *value)
{
    static const double bind[] = {1.5, 1.3, 1.0, 1.8};
    return bind[value[BIND]] * loop_s(value, 0.02, 0.2);
}

static double blocked(const size_t *value)
{
    double from_best = (double)value[OWN] - 8;
    return loop_s(value, 0.1, 0.2) * (1 + 0.02 * from_best * from_best);
}

/* The best block size is another with each number of threads, the best number another with each schedule. */
static double entangled(const size_t *value)
{
    double from_best = (double)value[OWN] - 9 + log2(threads_of[value[THREADS]]);
    return (loop_s(value, 0.6, 1.5) + 0.03 * threads_of[value[THREADS]]) * (1 + 0.03 * fmin(from_best * from_best, 16)) + 0.1 * (value[WAIT] != 2);
}

/* First what the findings of such a program say (nothing of the second), then the dimension with the fewest values. */
static const struct surface {
    const char *name;
    double (*seconds)(const size_t *value);
    size_t order[DIMENSIONS];
} surfaces[] = {
    {"imbalanced loop", imbalanced, {SCHEDULE, WAIT, BIND, THREADS, OWN}},
    {"bandwidth", bandwidth_bound, {WAIT, BIND, THREADS, SCHEDULE, OWN}},
    {"spinning", spinning, {WAIT, THREADS, BIND, SCHEDULE, OWN}},
    {"far memory", far_memory, {BIND, WAIT, THREADS, SCHEDULE, OWN}},
    {"block size", blocked, {WAIT, BIND, THREADS, SCHEDULE, OWN}},
    {"entangled", entangled, {SCHEDULE, THREADS, WAIT, BIND, OWN}},
};
#define SURFACES (sizeof surfaces / sizeof *surfaces)

/* The machine drifts slowly by a few per cent, each run scatters, one of twenty is disturbed. */
struct machine {
    uint64_t state;
    double scatter, drift;
};

static double measured(struct machine *machine, double seconds)
{
    machine->drift = 0.95 * machine->drift + 0.01 * normal(&machine->state);
    double disturbed = uniform(&machine->state) < 0.05 ? 0.3 * uniform(&machine->state) : 0;
    return seconds * exp(machine->drift + machine->scatter * normal(&machine->state) + disturbed);
}

static size_t settings(void)
{
    size_t all = 1;
    for (size_t i = 0; i < DIMENSIONS; i++)
        all *= dimension[i].values;
    return all;
}

static struct search_setting setting_of(size_t number)
{
    struct search_setting setting = {{0}};
    for (size_t i = 0; i < DIMENSIONS; i++) {
        setting.value[i] = number % dimension[i].values;
        number /= dimension[i].values;
    }
    return setting;
}

static double optimum(const struct surface *surface)
{
    double least = INFINITY;
    for (size_t i = 0; i < settings(); i++)
        least = fmin(least, surface->seconds(setting_of(i).value));
    return least;
}

static struct search *begin(const size_t *order, uint64_t seed)
{
    struct search_plan plan = {.dimension = dimension, .order = order, .count = DIMENSIONS, .order_count = DIMENSIONS, .runs = MOST_RUNS, .pairs = 8,
                               .least = 0.01, .seed = seed};
    return search_begin(&plan);
}

/* Runs until the best so far truly is within 3 % of the optimum, and stays there. */
static size_t runs_of_search(const struct surface *surface, double target, uint64_t seed, struct search_result *result)
{
    struct machine machine = {.state = seed * 977 + 5, .scatter = SCATTER};
    struct search *search = begin(surface->order, seed);
    struct search_setting setting;
    size_t there = 0; /* the command runs the default once before, and looks at that profile */
    while (search_next(search, &setting)) {
        search_tell(search, measured(&machine, surface->seconds(setting.value)));
        search_judge(search, result);
        if (surface->seconds(result->best.value) > target)
            there = 0;
        else if (!there)
            there = result->runs + 1;
    }
    search_end(search);
    return there ? there : NEVER;
}

/* Settings at random, once each; the best is that with the least time. */
static size_t runs_of_chance(const struct surface *surface, double target, uint64_t seed)
{
    struct machine machine = {.state = seed * 977 + 5, .scatter = SCATTER};
    uint64_t state = seed;
    double least = INFINITY;
    size_t there = 0;
    for (size_t runs = 1; runs <= MOST_RUNS; runs++) {
        double seconds = surface->seconds(setting_of((size_t)(uniform(&state) * (double)settings())).value);
        double time = measured(&machine, seconds);
        if (time > least)
            continue;
        least = time;
        there = seconds > target ? 0 : there ? there : runs;
    }
    return there ? there : NEVER;
}

static int by_number(const void *one, const void *other)
{
    size_t a = *(const size_t *)one, b = *(const size_t *)other;
    return (a > b) - (a < b);
}

static size_t median(size_t *number)
{
    qsort(number, SEEDS, sizeof *number, by_number);
    return number[SEEDS / 2];
}

UNIT_TEST(the_best_is_found_in_a_third_of_the_runs_of_blind_search)
{
    double ratio[SURFACES];
    printf("%zu settings; runs to within 3 %% of the best, medians of %d\n%-18s %8s %8s %8s %8s\n", settings(), SEEDS, "", "search", "chance", "all runs", "found");
    for (size_t i = 0; i < SURFACES; i++) {
        double target = 1.03 * optimum(&surfaces[i]);
        size_t ours[SEEDS], blind[SEEDS], all[SEEDS], found = 0, shown = 0;
        for (size_t seed = 0; seed < SEEDS; seed++) {
            struct search_result result;
            ours[seed] = runs_of_search(&surfaces[i], target, seed, &result);
            blind[seed] = runs_of_chance(&surfaces[i], target, seed);
            all[seed] = result.runs;
            found += ours[seed] < NEVER;
            double true_gain = 1 - surfaces[i].seconds(result.best.value) / surfaces[i].seconds((size_t[DIMENSIONS]){0});
            shown += result.verdict == SEARCH_GAIN && result.low <= true_gain && true_gain <= result.high;
        }
        size_t mine = median(ours), chance = median(blind);
        ratio[i] = (double)mine / (double)chance;
        printf("%-18s %8zu %8zu %8zu %7.1f%%  gain in its interval %.1f %%\n", surfaces[i].name, mine, chance, median(all),
               100.0 * (double)found / SEEDS, 100.0 * (double)shown / SEEDS);
        assert_true(found > SEEDS * 8 / 10);
        assert_true(shown > SEEDS * 9 / 10);
    }
    double sorted[SURFACES];
    memcpy(sorted, ratio, sizeof sorted);
    for (size_t i = 0; i < SURFACES; i++)
        for (size_t j = i + 1; j < SURFACES; j++)
            if (sorted[j] < sorted[i]) {
                double kept = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = kept;
            }
    double middle = (sorted[(SURFACES - 1) / 2] + sorted[SURFACES / 2]) / 2;
    printf("median ratio %.2f\n", middle);
    assert_true(middle <= 1.0 / 3);
}

/* 2.5 % are meant, whatever the search did before. */
UNIT_TEST(a_program_that_is_best_as_it_is_is_told_so)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        size_t gains = 0, runs = 0;
        for (size_t seed = 0; seed < 2 * SEEDS; seed++) {
            struct machine machine = {.state = seed * 31 + 1, .scatter = noisy ? 0.05 : 0.01};
            struct search *search = begin(surfaces[0].order, seed);
            struct search_setting setting;
            struct search_result result;
            while (search_next(search, &setting))
                search_tell(search, measured(&machine, 1));
            search_judge(search, &result);
            gains += result.verdict == SEARCH_GAIN;
            runs += result.runs;
            search_end(search);
        }
        printf("scatter %d %%: %.1f %% of %d are said to be slower than could be, %zu runs each\n", noisy ? 5 : 1,
               100.0 * (double)gains / (2 * SEEDS), 2 * SEEDS, runs / (2 * SEEDS));
        assert_true(gains <= 2 * SEEDS * 5 / 100);
    }
}

/* There was time for a run of the default, and for no more. */
UNIT_TEST(a_hurry_before_it_is_known_how_times_scatter_ends_the_search)
{
    struct search *search = begin(surfaces[0].order, 1);
    struct search_setting setting;
    assert_true(search_next(search, &setting));
    search_hurry(search);
    assert_false(search_next(search, &setting));
    search_end(search);
}

/* The best setting's run of that number fails; whether there is such a run. */
static bool fails_once(size_t number, struct search_result *result)
{
    static const struct search_dimension two[] = {{2, false}, {2, false}};
    struct search *search = search_begin(&(struct search_plan){.dimension = two, .order = (const size_t[]){0, 1}, .count = 2, .order_count = 2,
                                                               .runs = MOST_RUNS, .pairs = 8, .least = 0.01, .seed = 1});
    struct search_setting setting;
    size_t runs = 0;
    while (search_next(search, &setting)) {
        bool best = setting.value[0] && setting.value[1];
        runs += best;
        search_tell(search, best && runs == number ? NAN : (setting.value[0] ? 0.8 : 1) * (setting.value[1] ? 0.8 : 1));
    }
    search_judge(search, result);
    search_end(search);
    return runs >= number;
}

UNIT_TEST(a_best_that_fails_once_is_told_of_as_that)
{
    struct search_result result;
    size_t failed = 0;
    for (size_t number = 1; fails_once(number, &result); number++) {
        bool fails = result.verdict == SEARCH_FAILS && result.best.value[0] && result.best.value[1];
        if (!fails && result.verdict != SEARCH_GAIN)
            fail_msg("run %zu: verdict %d", number, (int)result.verdict);
        failed += fails;
    }
    assert_true(failed > 8); /* in the pairs, and when its parts are left out */
    assert_int_equal(result.verdict, SEARCH_GAIN);
}

UNIT_MAIN(NULL, NULL)
