/* How often the rules that know of time speak where nothing changes, and what they find where something does: made runs, drawn as samples
 * are. BLAME_TRIALS=10000 build/unit/test_findings_alarms counts them (docs/testing.md). */
#include <math.h>

#include "command/findings/change_point.h"
#include "command/findings/lattice.h"
#include "tests/unit/unit.h"

#define RATE      200
#define MOMENTS   20000 /* of a run, in each of which all threads are busy, or one is */
#define ALWAYS    2.0   /* a change that does not come */
#define MOST_BINS 120

static uint64_t random_state = 88172645463325252ull;
static unsigned trials = 100;
static bool told; /* tables are wanted */

static double uniform(void)
{
    return (double)(unit_random(&random_state) >> 11) * 0x1p-53;
}

static double exponential(double mean)
{
    return -mean * log(1 - uniform());
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* A run: what bins have of idleness and effort by the samples of all threads. */
static struct {
    unsigned threads;
    double seconds;
    size_t bins;
    double before, after, at; /* parts of the time with one thread busy, and of the run: when that changes */
    bool alone[MOMENTS];
    double idle[MOST_BINS], effort[MOST_BINS];
} run;

static double level_at(double time)
{
    return time < run.at ? run.before : run.after;
}

enum habit { BY_CHANCE, IN_BURSTS, IN_STEPS, HABITS };
static const char *const habit_names[HABITS] = {"independent moments", "bursts of any length", "equal steps"};

/* cycle: of the run, a time with one thread and a time with all, on average. */
static void live(enum habit habit, double cycle)
{
    double next = 0, phase = uniform();
    bool alone = uniform() < run.before;
    for (int i = 0; i < MOMENTS; i++) {
        double time = (double)i / MOMENTS, level = level_at(time);
        if (habit == BY_CHANCE)
            alone = uniform() < level;
        else if (habit == IN_STEPS)
            alone = fmod(time / cycle + phase, 1) < level;
        else if (time >= next) {
            alone = !alone;
            next = time + exponential(cycle * (alone ? level : 1 - level));
        }
        run.alone[i] = alone;
    }
}

/* A sample in each period of each thread, at a random moment of it. */
static void measure(void)
{
    size_t samples = (size_t)(run.seconds * RATE);
    memset(run.idle, 0, sizeof run.idle);
    memset(run.effort, 0, sizeof run.effort);
    for (unsigned thread = 0; thread < run.threads; thread++)
        for (size_t i = 0; i < samples; i++) {
            double time = ((double)i + uniform()) / (double)samples;
            bool alone = run.alone[(int)(time * MOMENTS)];
            size_t bin = (size_t)(time * (double)run.bins);
            if (alone && thread > 0)
                continue;
            run.effort[bin] += alone ? run.threads : 1;
            run.idle[bin] += alone ? run.threads - 1 : 0;
        }
}

static bool changes(struct change *change)
{
    measure();
    return change_find(run.idle, run.effort, run.bins, change);
}

static void draw_machine(unsigned trial)
{
    static const unsigned threads[] = {2, 4, 16};
    static const double seconds[] = {1, 5, 20};
    run.threads = threads[trial % 3];
    run.seconds = seconds[trial / 3 % 3];
    run.bins = 60 + (size_t)(60 * uniform());
}

static const double cycles[] = {0.005, 0.02, 0.05, 0.1};

/* idle: share of the idle time when of T threads one is busy for a part b of the time: b (T - 1) / T. */
static unsigned count_alarms(enum habit habit, double cycle)
{
    unsigned alarms = 0;
    for (unsigned i = 0; i < trials; i++) {
        struct change change;
        draw_machine(i);
        run.before = run.after = 0.05 + 0.9 * uniform();
        run.at = ALWAYS;
        live(habit, cycle);
        alarms += changes(&change);
    }
    return alarms;
}

static void tell_alarms(const char *what, unsigned alarms)
{
    if (told)
        printf("| %s | %u | %u | %.2f %% |\n", what, trials, alarms, 100.0 * alarms / trials);
    if (alarms > 2 + trials / 100)
        fail_msg("%s: %u alarms in %u runs", what, alarms, trials);
}

UNIT_TEST(runs_that_do_not_change_are_not_said_to)
{
    for (int habit = 0; habit < HABITS; habit++)
        for (size_t i = 0; i < (habit == BY_CHANCE ? 1 : sizeof cycles / sizeof *cycles); i++) {
            char what[100];
            if (habit == BY_CHANCE)
                snprintf(what, sizeof what, "%s", habit_names[habit]);
            else
                snprintf(what, sizeof what, "%s, a cycle of 1/%.0f of the run", habit_names[habit], 1 / cycles[i]);
            tell_alarms(what, count_alarms((enum habit)habit, cycles[i]));
        }
}

/* By which a drift, a wave, a decay or two changes would be called one change. */
static double drift(double x)
{
    return 0.05 + 0.8 * x;
}

static double decay(double x)
{
    return 0.05 + 0.8 * exp(-4 * x);
}

static double waves(double x)
{
    return 0.4 + 0.35 * sin(4 * M_PI * x);
}

static double there_and_back(double x)
{
    return x > 0.3 && x < 0.6 ? 0.8 : 0.1;
}

static double three_times(double x)
{
    return x < 0.25 || (x > 0.5 && x < 0.75) ? 0.8 : 0.1;
}

static const struct {
    const char *name;
    double (*level)(double);
} shapes[] = {{"a steady drift", drift},
              {"an exponential decay", decay},
              {"two waves", waves},
              {"another level for a while", there_and_back},
              {"three changes", three_times}};

UNIT_TEST(what_is_no_single_change_is_not_called_one)
{
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        unsigned alarms = 0;
        for (unsigned i = 0; i < trials; i++) {
            struct change change;
            draw_machine(i);
            for (int at = 0; at < MOMENTS; at++)
                run.alone[at] = uniform() < shapes[shape].level((double)at / MOMENTS);
            alarms += changes(&change);
        }
        tell_alarms(shapes[shape].name, alarms);
    }
}

/* Of runs whose idleness grows or shrinks by so many points; near: within two bins. */
static unsigned count_found(double points, double cycle, unsigned runs, unsigned *near)
{
    unsigned found = 0;
    *near = 0;
    for (unsigned i = 0; i < runs; i++) {
        struct change change;
        double scale = run.threads / (run.threads - 1.0), low = (0.05 + 0.2 * uniform()) * scale,
               high = low + points * scale;
        bool grows = uniform() < 0.5;
        run.bins = 60 + (size_t)(60 * uniform());
        run.before = fmin(1, grows ? low : high);
        run.after = fmin(1, grows ? high : low);
        run.at = 0.1 + 0.8 * uniform();
        live(cycle > 0 ? IN_STEPS : BY_CHANCE, cycle);
        if (!changes(&change))
            continue;
        found++;
        *near += fabs((double)change.at - run.at * (double)run.bins) <= 2;
    }
    return found;
}

UNIT_TEST(changes_are_found_and_when)
{
    static const double lengths[] = {1, 5, 20, 100};
    unsigned near;
    for (size_t length = 0; told && length < 4; length++) {
        run.seconds = lengths[length];
        run.threads = 4;
        printf("| %.0f s |", lengths[length]);
        for (double points = 0.15; points < 0.6; points += 0.1) {
            unsigned found = count_found(points, 0, 400, &near);
            printf(" %.0f (%.0f) |", found / 4.0, 100.0 * near / fmax(1, found));
        }
        puts("");
    }
    run.seconds = 20;
    run.threads = 4;
    unsigned found = count_found(0.4, 0, 100, &near);
    assert_true(found >= 80 && near >= 0.9 * found);
}

/* Steps' durations where nothing is periodic. */
enum steps { EQUAL, NOISY, STEPS_IN_BURSTS, CORRELATED, HEAVY, SLOW_HALF, STEPS };
static const char *const steps_names[STEPS] = {"lognormal",           "now and then one is long",
                                               "long ones in bursts", "an AR(1) process, 0.9",
                                               "exponential",         "the second half is slow"};
static double duration[2000];

static void make_steps(enum steps kind, size_t count)
{
    double wander = 0, deviation = 0.1 + uniform(), length = 1 + 10 * uniform(), gap = 2 + 30 * uniform(), next = 0;
    bool slow = false;
    for (size_t i = 0; i < count; i++) {
        if ((double)i >= next) {
            slow = !slow;
            next = (double)i + exponential(slow ? length : gap);
        }
        wander = 0.9 * wander + sqrt(1 - 0.81) * normal();
        switch (kind) {
        case EQUAL:
            duration[i] = exp(deviation * normal());
            break;
        case NOISY:
            duration[i] = 1 + 0.05 * normal() + (uniform() < 0.1 * deviation ? 1 + 2 * uniform() : 0);
            break;
        case STEPS_IN_BURSTS:
            duration[i] = slow ? 3 : 1;
            break;
        case CORRELATED:
            duration[i] = exp(deviation * wander);
            break;
        case HEAVY:
            duration[i] = exponential(1);
            break;
        default:
            duration[i] = i < count / 2 ? 1 : 3;
        }
    }
}

UNIT_TEST(steps_without_a_period_are_not_said_to_have_one)
{
    static const size_t counts[] = {20, 50, 100, 500};
    for (int kind = 0; kind < STEPS; kind++) {
        unsigned alarms = 0;
        for (unsigned i = 0; i < trials; i++) {
            struct lattice lattice;
            size_t count = counts[i % 4];
            make_steps((enum steps)kind, count);
            alarms += lattice_find(duration, count, &lattice);
        }
        tell_alarms(steps_names[kind], alarms);
    }
}

/* With durations that vary by 10 %. */
UNIT_TEST(periods_are_found)
{
    static const size_t every[] = {2, 5, 10, 50};
    for (size_t i = 0; i < 4; i++) {
        if (told)
            printf("| %zu |", every[i]);
        for (double longer = 1.4; longer < 2.3; longer += 0.2) {
            unsigned found = 0, runs = told ? 400 : 10;
            for (unsigned trial = 0; trial < runs; trial++) {
                struct lattice lattice;
                size_t first = (size_t)(uniform() * (double)every[i]), count = 8 * every[i] > 40 ? 8 * every[i] : 40;
                for (size_t at = 0; at < count; at++)
                    duration[at] = exp(0.1 * normal()) * (at % every[i] == first ? longer : 1);
                found += lattice_find(duration, count, &lattice) && lattice.every == every[i] && lattice.first == first;
            }
            if (told)
                printf(" %.0f |", 100.0 * found / runs);
            else if (longer > 2.1)
                assert_true(found == runs);
        }
        if (told)
            puts("");
    }
}

UNIT_TEST(steps_that_are_not_there_count_for_nothing)
{
    struct lattice lattice;
    for (size_t i = 0; i < 400; i++)
        duration[i] = i % 3 == 1 ? NAN : i % 20 == 7 ? 3 : 1;
    assert_true(lattice_find(duration, 400, &lattice));
    assert_int_equal(lattice.every, 20);
    assert_int_equal(lattice.first, 7);
    assert_int_equal(lattice.hits, lattice.points);
    assert_int_equal(lattice.strays, 0);
    assert_true(lattice.seconds == 3 && lattice.usual == 1);
    for (size_t i = 0; i < 400; i++)
        duration[i] = NAN;
    assert_false(lattice_find(duration, 400, &lattice));
    assert_false(lattice_find(duration, 0, &lattice));
}

static int read_trials(void **state)
{
    (void)state;
    const char *wanted = getenv("BLAME_TRIALS");
    told = wanted;
    trials = wanted ? (unsigned)atoi(wanted) : trials;
    return 0;
}

UNIT_MAIN(read_trials, NULL)
