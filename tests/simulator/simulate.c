/* The simulator's command (docs/testing.md):
 *
 *     simulate --claims FOLDER                every claim on every scenario of the folder, and on random ones
 *     simulate [OPTIONS] SCENARIO ...         how far the profile of scenarios is from what is exact
 *     simulate [OPTIONS] --random             the same of random ones
 *     simulate [OPTIONS] --errors SCENARIO ...  prints how often the errors that reports state cover the real ones,
 *                                             and how wide they are
 *     simulate --seeds 1 --keep FILE SCENARIO keeps its measurement there, with a trace
 *     simulate --events TOOL SCENARIO         plays a scenario to another tool, a shared library
 *
 * --untold EVENT: a number of enum ompt_callbacks_t; the runtime does not tell it.
 * Options: --rate N  --seeds N  --first N  --jobs N  --limit SECONDS (of CPU, a run)  --figures  --eager  --release  --creation  --print
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/simulator/batch.h"
#include "tests/simulator/claims.h"
#include "tests/simulator/errors.h"
#include "tests/simulator/run.h"

#define MAX_PATHS 256

static struct {
    struct claim_settings settings;
    const char *claims, *tool;
    const char *paths[MAX_PATHS];
    uint32_t path_count;
    bool random, print, errors;
} command = {.settings = {.seeds = 100, .first_seed = 1, .options = {.rate = 200, .limit_s = 60}}};

static uint32_t passed, failed;

static void count(bool holds)
{
    passed += holds;
    failed += !holds;
    fflush(stdout);
}

static int usage(const char *option)
{
    fprintf(stderr, "simulate: %s is not understood; see the head of tests/simulator/simulate.c\n", option);
    return 2;
}

static bool take_number(const char *option, const char *value)
{
    unsigned long number = value ? strtoul(value, NULL, 10) : 0;
    if (strcmp(option, "--keep") == 0 && value)
        return (command.settings.options.keep = value) != NULL;
    if (strcmp(option, "--rate") == 0)
        command.settings.options.rate = (uint32_t)number;
    else if (strcmp(option, "--seeds") == 0)
        command.settings.seeds = (uint32_t)number;
    else if (strcmp(option, "--first") == 0)
        command.settings.first_seed = number;
    else if (strcmp(option, "--limit") == 0)
        command.settings.options.limit_s = (uint32_t)number;
    else if (strcmp(option, "--untold") == 0)
        command.settings.options.untold = (uint32_t)number;
    else if (strcmp(option, "--jobs") == 0)
        batch_jobs = (uint32_t)number;
    else
        return false;
    return number > 0;
}

static bool take_word(const char *option)
{
    static const struct {
        const char *name;
        bool *set;
    } words[] = {
        {"--figures", &command.settings.figures},
        {"--eager", &command.settings.options.eager},
        {"--release", &command.settings.options.at_release},
        {"--random", &command.random},
        {"--print", &command.print},
        {"--errors", &command.errors},
        {"--creation", &command.settings.options.creation},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].name, option) == 0)
            return *words[i].set = true;
    return false;
}

static struct scenario *read_scenario(const char *path)
{
    char error[256];
    struct scenario *scenario = scenario_read(path, error, sizeof(error));
    if (!scenario)
        fprintf(stderr, "%s\n", error);
    return scenario;
}

static void claim_all(const struct scenario *scenario)
{
    struct claim_settings settings = command.settings;
    settings.options.rate = 200;
    settings.seeds = (settings.seeds * scenario->runs + 99) / 100;
    count(claim_interval(scenario, &settings));
    if (scenario->runs < 100)
        return;
    settings.options.rate = 1000;
    settings.seeds = (settings.seeds + 1) / 2;
    count(claim_interval(scenario, &settings));
    settings.options.creation = true;
    if (scenario_has(scenario, OP_TASK))
        count(claim_interval(scenario, &settings));
    settings.options.creation = false;
    settings.options.rate = 10000; /* as the rate grows, all of it converges */
    settings.seeds = (settings.seeds + 9) / 10;
    if (!scenario->up_to_1000)
        count(claim_interval(scenario, &settings));
    settings.options.rate = 1000;
    count(claim_same(scenario, &settings, "deferred = eager"));
    if (!scenario_is_a_race(scenario))
        count(claim_same(scenario, &settings, "any order of simultaneous events"));
    count(claim_stopped(scenario, &settings));
    count(claim_untold(scenario, &settings));
}

static void claim_folder(const char *folder)
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/*.txt", folder);
    if (glob(pattern, 0, NULL, &found) != 0) {
        printf("FAILED  no scenario in %s\n", folder);
        count(false);
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const struct scenario *scenario = read_scenario(found.gl_pathv[i]);
        if (scenario)
            claim_all(scenario);
        else
            count(false);
    }
    if (command.settings.seeds >= 100)
        count(errors_claim());
    struct claim_settings settings = command.settings;
    settings.options.rate = 1000;
    settings.seeds *= 2;
    count(claim_random(&settings));
}

static int run_command(void)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (command.claims)
        claim_folder(command.claims);
    if (command.random && command.print)
        scenario_print(stdout, scenario_random(command.settings.first_seed));
    else if (command.random)
        count(claim_random(&command.settings));
    for (uint32_t i = 0; i < command.path_count; i++) {
        const struct scenario *scenario = read_scenario(command.paths[i]);
        if (!scenario)
            return 2;
        if (command.tool)
            return run_with_tool(scenario, command.settings.first_seed, command.tool) ? 0 : 1;
        if (command.errors)
            count(errors_measure(scenario, &command.settings));
        else
            count(claim_interval(scenario, &command.settings));
    }
    if (command.errors) {
        errors_print(command.settings.figures, command.settings.seeds);
        return failed || !passed;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("%lu runs of %lu events and %lu samples in %.1f s: %.0f runs a minute, %.0f events a second\n",
           (unsigned long)batch_totals.runs, (unsigned long)batch_totals.events, (unsigned long)batch_totals.samples,
           seconds, 60 * (double)batch_totals.runs / seconds, (double)batch_totals.events / seconds);
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--claims") == 0 && argv[i + 1])
            command.claims = argv[++i];
        else if (strcmp(argv[i], "--events") == 0 && argv[i + 1])
            command.tool = argv[++i];
        else if (take_number(argv[i], argv[i + 1]))
            i++;
        else if (argv[i][0] != '-' && command.path_count < MAX_PATHS)
            command.paths[command.path_count++] = argv[i];
        else if (!take_word(argv[i]))
            return usage(argv[i]);
    }
    if (!command.claims && !command.random && !command.path_count)
        return usage("no scenario");
    run_remove_left();
    return run_command();
}
