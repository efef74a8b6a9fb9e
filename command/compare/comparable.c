#include "command/compare/comparable.h"

#include <stdlib.h>
#include <string.h>

#include "command/tables/conservation.h"
#include "command/text/format.h"

#define FACT_BYTES 200

/* One condition of a run as text. Conditions are equal if their texts are. */
struct fact {
    const char *what, *advice;
    void (*text)(char to[FACT_BYTES], const struct profile *profile);
};

static void threads_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.threads_max);
}

static void cores_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.cores);
}

static void rate_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.rate);
}

static void clock_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s", profile->header.clock == 1 ? "cpu" : "wall");
}

static void fact_environment(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s", profile->header.environment == 1 ? "shared" : "dedicated");
}

static void tasks_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s", profile->header.tasks == 1 ? "creation" : "region");
}

static void put_clean(char to[FACT_BYTES], const char *text)
{
    char *clean = format_clean(text, true);
    snprintf(to, FACT_BYTES, "%s", clean);
    free(clean);
}

static void stored_text(char to[FACT_BYTES], const struct profile *profile, const char *key)
{
    const char *text = profile_text(profile, key);
    put_clean(to, text ? text : "");
}

static void host_text(char to[FACT_BYTES], const struct profile *profile)
{
    stored_text(to, profile, "host");
}

static void runtime_text(char to[FACT_BYTES], const struct profile *profile)
{
    stored_text(to, profile, "runtime");
}

static void rank_text(char to[FACT_BYTES], const struct profile *profile)
{
    stored_text(to, profile, "rank");
}

static void ranks_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%u", profile->header.merged > 1 ? profile->header.merged : 1);
}

/* Writes the arguments without the program's path. */
static void command_text(char to[FACT_BYTES], const struct profile *profile)
{
    const char *command = profile_text(profile, "command");
    const char *arguments = command ? command + strcspn(command, " ") : "";
    put_clean(to, arguments + strspn(arguments, " "));
}

static void sample_text(char to[FACT_BYTES], const struct profile *profile)
{
    stored_text(to, profile, "sample");
}

static void finished_text(char to[FACT_BYTES], const struct profile *profile)
{
    snprintf(to, FACT_BYTES, "%s",
             profile->header.finished   ? "normally"
             : profile->header.snapshot ? "snapshot"
                                        : "killed");
}

/* Writes the build ids of the program's own modules. System libraries may differ. */
static void build_text(char to[FACT_BYTES], const struct profile *profile)
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

#define FACTS_OF_SIZE 4 /* the first facts describe the size of a run */
static const struct fact facts[] = {
    {"threads", "use the same OMP_NUM_THREADS for all runs", threads_text},
    {"cores", "bind all runs to the same number of cores", cores_text},
    {"arguments", "compare runs of the same input", command_text},
    {"numbers of ranks", "seconds are sums over ranks, so compare percentages instead", ranks_text},
    {"MPI ranks", "compare the same rank of each run", rank_text},
    {"host", "times on different machines say little about the program", host_text},
    {"runtime", "the runtime may have caused the difference", runtime_text},
    {"rate", "use the same BLAME_RATE for all runs", rate_text},
    {"clock", "use the same BLAME_CLOCK for all runs", clock_text},
    {"samples", "use the same BLAME_SAMPLE for all runs, because events are not seconds", sample_text},
    {"environment", "give --environment, which then holds for all runs", fact_environment},
    {"tasks", "use the same BLAME_TASKS for all runs", tasks_text},
    {"end", "a run that was killed did only a part of the work", finished_text},
};
static const struct fact build_fact = {"build", "use blame diff to compare different builds", build_text};

static void complain_facts(FILE *out, const char *command, const struct fact *fact,
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
        complain_facts(out, command, &facts[f], profile, name, count);
}

void comparable_complain_but_size(FILE *out, const char *command, const struct profile *const *profile,
                                  const char *const *name, size_t count)
{
    for (size_t f = FACTS_OF_SIZE; f < sizeof facts / sizeof *facts; f++)
        complain_facts(out, command, &facts[f], profile, name, count);
}

static bool is_same_run(const struct profile_header *a, const struct profile_header *b)
{
    return a->pid == b->pid && a->start_realtime_ns == b->start_realtime_ns && a->start_ns == b->start_ns;
}

void comparable_complain_repeats(FILE *out, const char *command, const struct profile *const *profile,
                                 const char *const *name, size_t count)
{
    complain_facts(out, command, &build_fact, profile, name, count);
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (is_same_run(&profile[i]->header, &profile[j]->header)) {
                fprintf(out,
                        "blame %s: %s and %s are the same run, which therefore counts twice; give each run "
                        "once\n",
                        command, name[j], name[i]);
                return;
            }
}
