#include "command/compare/comparable.h"

#include <stdlib.h>
#include <string.h>

#include "command/tables/conservation.h"
#include "command/text/format.h"

#define FACT_BYTES 200

/* One condition of a run, as text. Two runs have the same condition if the texts are equal. */
struct fact {
    const char *what, *advice;
    void (*text)(char to[FACT_BYTES], const struct profile *profile);
};

static void comparable_fact_threads(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.threads_max);
}

static void comparable_fact_cores(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.cores);
}

static void comparable_fact_rate(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.rate);
}

static void comparable_fact_clock(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s", profile->header.clock == 1 ? "cpu" : "wall");
}

static void comparable_fact_environment(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s", profile->header.environment == 1 ? "shared" : "dedicated");
}

static void comparable_fact_tasks(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s", profile->header.tasks == 1 ? "creation" : "region");
}

static void comparable_fact_put_clean(char to[FACT_BYTES], const char *text)
{
    char *clean = format_clean(text, true);
    snprintf(to, FACT_BYTES, "%s", clean);
    free(clean);
}

static void comparable_fact_put_stored(char to[FACT_BYTES], const struct profile *profile, const char *key)
{
    const char *text = profile_text(profile, key);
    comparable_fact_put_clean(to, text ? text : "");
}

static void comparable_fact_host(char to[FACT_BYTES], const struct profile *profile)
{
    comparable_fact_put_stored(to, profile, "host");
}

static void comparable_fact_runtime(char to[FACT_BYTES], const struct profile *profile)
{
    comparable_fact_put_stored(to, profile, "runtime");
}

static void comparable_fact_rank(char to[FACT_BYTES], const struct profile *profile)
{
    comparable_fact_put_stored(to, profile, "rank");
}

static void comparable_fact_ranks(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.merged > 1 ? profile->header.merged : 1);
}

/* Writes the arguments of the command, without the path of the program. */
static void comparable_fact_arguments(char to[FACT_BYTES], const struct profile *profile)
{
    const char *command = profile_text(profile, "command");
    const char *arguments = command ? command + strcspn(command, " ") : "";
    comparable_fact_put_clean(to, arguments + strspn(arguments, " "));
}

static void comparable_fact_sample(char to[FACT_BYTES], const struct profile *profile)
{
    comparable_fact_put_stored(to, profile, "sample");
}

static void comparable_fact_end(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s",
             profile->header.finished   ? "normally"
             : profile->header.snapshot ? "snapshot"
                                        : "killed");
}

/* Writes the build id of the program's file. The build ids of other modules may differ between runs. */
static void comparable_fact_build(char to[FACT_BYTES], const struct profile *profile)
{
    const char *program = profile_text(profile, "program");
    snprintf(to, FACT_BYTES, "unknown");
    for (size_t i = 0; program && i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        if (strcmp(format_base_name(module->path), program) != 0 || !module->build_id_bytes)
            continue;
        for (uint32_t byte = 0; byte < module->build_id_bytes && byte < sizeof module->build_id; byte++)
            snprintf(to + 2 * byte, 3, "%02x", module->build_id[byte]);
        return;
    }
}

#define FACTS_OF_SIZE 4 /* number of facts at the start of the list that describe the size of a run */
static const struct fact facts[] = {
    {"threads", "use the same OMP_NUM_THREADS for all runs", comparable_fact_threads},
    {"cores", "bind all runs to the same number of cores", comparable_fact_cores},
    {"arguments", "compare runs of the same input", comparable_fact_arguments},
    {"numbers of ranks", "seconds are sums over ranks, so compare percentages instead", comparable_fact_ranks},
    {"MPI ranks", "compare the same rank of each run", comparable_fact_rank},
    {"host", "times on different machines say little about the program", comparable_fact_host},
    {"runtime", "the runtime may have caused the difference", comparable_fact_runtime},
    {"rate", "use the same BLAME_RATE for all runs", comparable_fact_rate},
    {"clock", "use the same BLAME_CLOCK for all runs", comparable_fact_clock},
    {"samples", "use the same BLAME_SAMPLE for all runs, because events are not seconds", comparable_fact_sample},
    {"environment", "give --environment, which then holds for all runs", comparable_fact_environment},
    {"tasks", "use the same BLAME_TASKS for all runs", comparable_fact_tasks},
    {"end", "a run that was killed did only a part of the work", comparable_fact_end},
};
static const struct fact build_fact = {"build", "use blame diff to compare different builds", comparable_fact_build};

static void comparable_complain_fact(FILE *out, const char *command, const struct fact *fact,
                                     const struct profile *const *profile, const char *const *name, size_t count)
{
    char first[FACT_BYTES], other[FACT_BYTES];
    if (count)
        fact->text(first, profile[0]);
    for (size_t i = 1; i < count; i++) {
        fact->text(other, profile[i]);
        if (strcmp(first, other) == 0)
            continue;
        fprintf(out, "blame %s: %s differ%s: %s in %s, %s in %s; %s\n", command, fact->what,
                fact->what[strlen(fact->what) - 1] == 's' ? "" : "s", *first ? first : "none", name[0],
                *other ? other : "none", name[i], fact->advice);
        return;
    }
}

void comparable_complain(FILE *out, const char *command, const struct profile *const *profile, const char *const *name,
                         size_t count)
{
    for (size_t f = 0; f < sizeof facts / sizeof *facts; f++)
        comparable_complain_fact(out, command, &facts[f], profile, name, count);
}

void comparable_complain_but_size(FILE *out, const char *command, const struct profile *const *profile,
                                  const char *const *name, size_t count)
{
    for (size_t f = FACTS_OF_SIZE; f < sizeof facts / sizeof *facts; f++)
        comparable_complain_fact(out, command, &facts[f], profile, name, count);
}

static bool comparable_are_one_run(const struct profile_header *a, const struct profile_header *b)
{
    return a->pid == b->pid && a->start_realtime_ns == b->start_realtime_ns && a->start_ns == b->start_ns;
}

void comparable_complain_repeats(FILE *out, const char *command, const struct profile *const *profile,
                                 const char *const *name, size_t count)
{
    comparable_complain_fact(out, command, &build_fact, profile, name, count);
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (comparable_are_one_run(&profile[i]->header, &profile[j]->header)) {
                fprintf(out,
                        "blame %s: %s and %s are the same run, which therefore counts twice; give each run "
                        "once\n",
                        command, name[j], name[i]);
                return;
            }
}
