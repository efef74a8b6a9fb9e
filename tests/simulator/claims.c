#include "tests/simulator/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp-tools.h>

#include "tests/simulator/batch.h"
#include "tests/simulator/errors.h"
#include "tests/simulator/oracle.h"
#include "tests/simulator/stated.h"

#define CONFIDENCE   1.96 /* 95 % */
#define MOST_BIAS    4.5  /* standard deviations of a mean; several hundred means are tested */
#define MOST_ERROR   6.0  /* of a single figure */
#define SHARE        0.95
#define STATED_SHARE 0.93 /* few samples: docs/accounting.md */
#define STATED_RATE  200u /* samples/s: visits are shorter than a period */
#define STATED_SEEDS 20u  /* of less the deviation itself is not known to a sixth */
#define STOPS        60u
#define SAME_SEEDS   8u

struct sum {
    char name[FIGURE_NAME];
    uint32_t runs, inside;
    uint32_t states, covered; /* runs in which an error is stated, and in which it covers the real error */
    double error, exact, allowed, variance, stated, squares; /* stated: as variance */
};

struct sums {
    struct sum of[MAX_FIGURES];
    uint32_t count;
    uint32_t failures, chunks;
    const struct scenario *scenario;
    struct errors_figures *errors; /* unless NULL: what all scenarios together say of stated errors */
    uint64_t failed_seed;
    char failure[sizeof(((struct run *)0)->failure)];
};

static struct sum *sum_of(struct sums *sums, const char *name)
{
    uint32_t number = 0;
    while (number < sums->count && strcmp(sums->of[number].name, name) != 0)
        number++;
    if (number == sums->count && number < MAX_FIGURES - 1)
        strcpy(sums->of[sums->count++].name, name);
    return &sums->of[number];
}

static double error_of(const struct figure *figure)
{
    return figure->measured - figure->exact;
}

static double allowed(const struct figure *figure, const struct scenario *scenario)
{
    double learns = figure->metric == METRIC_CORE_IDLE ? (double)scenario->learns_ns * 1e-9 : 0;
    return learns + scenario->bias / 100.0 * fabs(figure->exact);
}

static void note_failure(struct sums *sums, uint64_t seed, const char *failure)
{
    if (!failure[0])
        return;
    if (!sums->failures++) {
        sums->failed_seed = seed;
        strcpy(sums->failure, failure);
    }
}

static void add_run(uint64_t seed, const struct run *run, void *argument)
{
    struct sums *sums = argument;
    note_failure(sums, seed, run->failure);
    if (sums->errors)
        errors_take_run(seed, run, sums->errors);
    sums->chunks = run->chunks > sums->chunks ? run->chunks : sums->chunks;
    for (uint32_t i = 0; i < run->figure_count; i++) {
        const struct figure *figure = &run->figures[i];
        struct sum *sum = sum_of(sums, figure->name);
        double error = error_of(figure), deviation = figure->deviation, off = allowed(figure, sums->scenario);
        sum->runs++;
        sum->inside += fabs(error) <= CONFIDENCE * deviation + off;
        if (isfinite(figure->stated)) {
            sum->states++;
            sum->covered += fabs(error) <= figure->stated + off;
            sum->stated += pow(figure->stated / STATED_DEVIATIONS, 2);
        }
        sum->error += error;
        sum->squares += error * error;
        sum->exact += figure->exact;
        sum->allowed += off;
        sum->variance += deviation * deviation;
    }
}

static void print_sum(const struct sum *sum)
{
    double runs = sum->runs;
    printf("    %-56s %9.5f s, error %+.5f s, deviation %.5f s of at most %.5f s, inside %5.1f %%", sum->name,
           sum->exact / runs, sum->error / runs, sqrt(sum->squares / runs), sqrt(sum->variance / runs),
           100 * sum->inside / runs);
    if (sum->states)
        printf(", stated %.5f s: %5.1f %%\n", sqrt(sum->stated / sum->states), 100.0 * sum->covered / sum->states);
    else
        printf(", nothing stated\n");
}

/* "" or what is wrong with the figure. Runs that do not have it have it right. */
static const char *verdict(const struct sum *sum, double seeds)
{
    double inside = sum->inside + seeds - sum->runs, off = fabs(sum->error) - sum->allowed;
    if (inside / seeds < SHARE - 4 * sqrt(SHARE * (1 - SHARE) / seeds))
        return "too few are inside the interval";
    double states = sum->states + seeds - sum->runs, covered = sum->covered + seeds - sum->runs;
    if (covered < states * STATED_SHARE - 4 * sqrt(STATED_SHARE * (1 - STATED_SHARE) * states))
        return "too few are inside what reports state";
    if (off > MOST_BIAS * sqrt(sum->variance) + 1e-7 * sum->runs)
        return "the mean is off";
    return "";
}

static bool end_claim(const char *claim, const char *scenario, const struct sums *sums, bool holds, const char *detail)
{
    printf("%s  %s, %s: %s\n", holds ? "passed" : "FAILED", scenario, claim, detail);
    if (sums->failures)
        printf("    %u runs are wrong, first seed %lu: %s\n", sums->failures, (unsigned long)sums->failed_seed,
               sums->failure);
    return holds;
}

/* What reports state is a bound; in scenarios that say so it is not far above the deviation. */
static bool is_near(const struct scenario *scenario, const struct claim_settings *settings, double wide)
{
    if (!scenario->stated || settings->options.rate > STATED_RATE || settings->seeds < STATED_SEEDS ||
        100 * wide <= scenario->stated)
        return true;
    printf("    what reports state is more than %u %% of the deviation\n", scenario->stated);
    return false;
}

bool claim_interval(const struct scenario *scenario, const struct claim_settings *settings)
{
    struct sums *sums = calloc(1, sizeof(*sums));
    struct batch batch = {.scenario = scenario,
                          .options = settings->options,
                          .first_seed = settings->first_seed,
                          .count = settings->seeds,
                          .take = add_run,
                          .argument = sums};
    uint64_t inside = 0, covered = 0, figures = 0, stated = 0;
    double wide = 0;
    char claim[64], detail[256];
    sums->scenario = scenario;
    if (settings->options.rate == STATED_RATE)
        sums->errors = errors_begin();
    batch_run(&batch);
    if (sums->errors)
        errors_end(sums->errors, scenario);
    bool holds = !sums->failures && (sums->count > 0 || scenario->laws_only);
    for (uint32_t i = 0; i < sums->count; i++) {
        const char *wrong = verdict(&sums->of[i], settings->seeds);
        inside += sums->of[i].inside;
        covered += sums->of[i].covered;
        if (sums->of[i].states) {
            wide += sums->of[i].runs * log(fmax(sums->of[i].stated, 1e-18) / fmax(sums->of[i].squares, 1e-18)) / 2;
            stated += sums->of[i].states;
        }
        figures += sums->of[i].runs;
        holds = holds && !wrong[0];
        if (wrong[0])
            printf("    %s:\n", wrong);
        if (wrong[0] || settings->figures)
            print_sum(&sums->of[i]);
    }
    wide = stated ? exp(wide / (double)stated) : 0;
    holds = is_near(scenario, settings, wide) && holds;
    snprintf(claim, sizeof(claim), "%u/s%s, %u seeds", settings->options.rate,
             settings->options.creation ? ", creation" : "", settings->seeds);
    if (scenario->laws_only)
        snprintf(detail, sizeof(detail), "the laws, %u chunks of the file", sums->chunks);
    else
        snprintf(detail, sizeof(detail),
                 "%.2f %% of %lu figures inside their 95 %% interval; %.2f %% of %lu inside what reports state, "
                 "which is %.1f times the deviation; %lu have none stated",
                 figures ? 100.0 * (double)inside / (double)figures : 0, (unsigned long)figures,
                 stated ? 100.0 * (double)covered / (double)stated : 0, (unsigned long)stated, wide,
                 (unsigned long)(figures - stated));
    holds = end_claim(claim, scenario->name, sums, holds, detail);
    free(sums);
    return holds;
}

bool claim_same(const struct scenario *scenario, const struct claim_settings *settings, const char *what)
{
    struct sums sums = {.failures = 0};
    struct sim_options other = settings->options;
    uint32_t same = 0;
    char detail[64];
    other.eager = strcmp(what, "deferred = eager") == 0;
    other.shuffled = !other.eager;
    for (uint64_t seed = 1; seed <= SAME_SEEDS; seed++) {
        const struct run *run = batch_once(scenario, seed, &settings->options);
        uint64_t digest = run->digest;
        note_failure(&sums, seed, run->failure);
        run = batch_once(scenario, seed, &other);
        note_failure(&sums, seed, run->failure);
        same += run->digest == digest;
    }
    snprintf(detail, sizeof(detail), "%u of %u seeds", same, SAME_SEEDS);
    return end_claim(what, scenario->name, &sums, same == SAME_SEEDS && !sums.failures, detail);
}

static void add_stopped(uint64_t seed, const struct run *run, void *argument)
{
    note_failure(argument, seed, run->failure);
}

bool claim_stopped(const struct scenario *scenario, const struct claim_settings *settings)
{
    struct sums sums = {.failures = 0};
    const struct run *whole = batch_once(scenario, 1, &settings->options);
    struct batch batch = {.scenario = scenario,
                          .options = settings->options,
                          .first_seed = 1,
                          .count = STOPS,
                          .stop_step = whole->events / STOPS + 1,
                          .take = add_stopped,
                          .argument = &sums};
    char detail[64];
    batch_run(&batch);
    snprintf(detail, sizeof(detail), "at %u of its events", STOPS);
    return end_claim("killed", scenario->name, &sums, !sums.failures, detail);
}

bool claim_untold(const struct scenario *scenario, const struct claim_settings *settings)
{
    static const ompt_callbacks_t events[] = {
        0, ompt_callback_sync_region_wait, ompt_callback_mutex_acquire, ompt_callback_task_create, ompt_callback_work,
    };
    struct scenario judged = *scenario;
    struct sums sums = {.failures = 0};
    char detail[64];
    judged.laws_only = true;
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        struct sim_options options = settings->options;
        options.untold = events[i];
        options.hides_tasks = !events[i];
        note_failure(&sums, events[i], batch_once(&judged, settings->first_seed, &options)->failure);
    }
    snprintf(detail, sizeof(detail), "of %zu events", sizeof(events) / sizeof(*events));
    return end_claim("untold", scenario->name, &sums, !sums.failures, detail);
}

/* What is wrong with one run of a scenario that nobody has looked at; "" nothing. */
static void judge(const struct run *run, uint32_t *inside, char *wrong, size_t bytes)
{
    snprintf(wrong, bytes, "%s", run->failure);
    *inside = 0;
    for (uint32_t i = 0; i < run->figure_count; i++) {
        const struct figure *figure = &run->figures[i];
        double error = fabs(error_of(figure));
        *inside += error <= CONFIDENCE * figure->deviation;
        if (error > MOST_ERROR * figure->deviation + 1e-7 && !wrong[0])
            snprintf(wrong, bytes, "%s: %.5f s, exact %.5f s, deviation at most %.5f s", figure->name, figure->measured,
                     figure->exact, figure->deviation);
    }
}

struct random_sums {
    struct sums sums;
    uint64_t inside, figures;
};

static void add_random(uint64_t seed, const struct run *run, void *argument)
{
    struct random_sums *random = argument;
    char wrong[256];
    uint32_t inside;
    judge(run, &inside, wrong, sizeof(wrong));
    note_failure(&random->sums, seed, wrong);
    random->inside += inside;
    random->figures += run->figure_count;
}

/* As long as a smaller scenario fails too, that one. */
static const struct scenario *shrink(const struct scenario *scenario, uint64_t seed, const struct sim_options *options)
{
    struct scenario *smaller;
    for (uint32_t number = 0; (smaller = scenario_shrunk(scenario, number)); number++) {
        char wrong[256];
        uint32_t inside;
        judge(batch_once(smaller, seed, options), &inside, wrong, sizeof(wrong));
        if (wrong[0]) {
            scenario = smaller;
            number = UINT32_MAX;
        }
    }
    return scenario;
}

bool claim_random(const struct claim_settings *settings)
{
    struct random_sums random = {.inside = 0};
    struct batch batch = {.options = settings->options,
                          .first_seed = settings->first_seed,
                          .count = settings->seeds,
                          .take = add_random,
                          .argument = &random};
    char claim[64], detail[128];
    batch.options.at_release = true; /* where in a section the blame goes is known by its owner's samples only */
    batch_run(&batch);
    double share = random.figures ? (double)random.inside / (double)random.figures : 0;
    bool holds = !random.sums.failures && share >= SHARE;
    snprintf(claim, sizeof(claim), "%u/s, %u of them", settings->options.rate, settings->seeds);
    snprintf(detail, sizeof(detail), "%.2f %% of %lu figures inside their 95 %% interval", 100 * share,
             (unsigned long)random.figures);
    end_claim(claim, "random scenarios", &random.sums, holds, detail);
    if (random.sums.failures) {
        uint64_t seed = random.sums.failed_seed;
        printf("    again: --random --first %lu --seeds 1; the least scenario of it that fails with this "
               "seed:\n",
               (unsigned long)seed);
        scenario_print(stdout, shrink(scenario_random(seed), seed, &batch.options));
    }
    return holds;
}
