/* Runs scenarios over seeds: docs/concurrency.md.
 *
 *   explore [--seeds N] [--from N] [--trace] [--weaken ADDRESSES=ORDER] [--sites] [--until-failure] [SCENARIO ...] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/memory/model.h"

static uint64_t seeds = 1000, first_seed = 1;
static bool shows_sites, is_quiet;

static int usage(void)
{
    fprintf(stderr, "explore: accepted are --seeds N, --from N, --trace, --quiet, --sites, --weaken "
                    "ADDRESS,...=ORDER, and names of scenarios:\n");
    for (unsigned i = 0; i < scenario_count; i++)
        fprintf(stderr, "  %-20s %s\n", scenarios[i]->name, scenarios[i]->guarantees);
    return 2;
}

/* The first seed that fails, 0: none does. */
static uint64_t explore(const struct scenario *scenario)
{
    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        enum run_result result;
        do
            result = run_scenario(scenario, seed);
        while (result == RUN_AGAIN);
        if (result == RUN_FAILED)
            return seed;
    }
    return 0;
}

static bool run(const struct scenario *scenario)
{
    uint64_t failed = explore(scenario);
    if (failed)
        printf("FAILED  %-20s seed %llu: %s\n", scenario->name, (unsigned long long)failed, model_failure);
    else if (!is_quiet)
        printf("passed  %-20s %llu seeds  (%s)\n", scenario->name, (unsigned long long)seeds, scenario->guarantees);
    return !failed;
}

static bool is_wanted(const struct scenario *scenario, char **wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(wanted[i], scenario->name) == 0)
            return true;
    return count == 0;
}

static bool take_option(const char *option, char ***argument)
{
    if (strcmp(option, "--trace") == 0)
        model_traces = true;
    else if (strcmp(option, "--quiet") == 0)
        is_quiet = true;
    else if (strcmp(option, "--sites") == 0)
        shows_sites = true;
    else if (!*++*argument)
        return false;
    else if (strcmp(option, "--seeds") == 0)
        seeds = strtoull(**argument, NULL, 10);
    else if (strcmp(option, "--from") == 0)
        first_seed = strtoull(**argument, NULL, 10);
    else if (strcmp(option, "--weaken") == 0)
        return sites_weaken(**argument);
    else
        return false;
    return true;
}

int main(int count, char **arguments)
{
    char **argument = arguments + 1, **end = arguments + count;
    for (; argument < end && **argument == '-'; argument++)
        if (!take_option(*argument, &argument))
            return usage();
    int passed = 0, ran = 0;
    for (unsigned i = 0; i < scenario_count; i++) {
        if (!is_wanted(scenarios[i], argument, (int)(end - argument)))
            continue;
        ran++;
        passed += run(scenarios[i]);
        fflush(stdout);
    }
    if (shows_sites)
        sites_print();
    else if (!is_quiet)
        printf("%d passed, %d failed\n", passed, ran - passed);
    return ran == 0 ? usage() : passed != ran;
}
