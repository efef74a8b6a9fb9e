/* Finds programs whose regions all run with one thread. */
#include "command/findings/rules.h"

#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

/* Returns the value of an environment variable in the measured program, NULL if it was not set. */
static const char *environment_of(const struct profile *profile, const char *name)
{
    size_t length = strlen(name);
    const char *line = profile_text(profile, "environment");
    while (line && !(strncmp(line, name, length) == 0 && line[length] == '='))
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    return line ? line + length + 1 : NULL;
}

static bool is_one(const char *value)
{
    return value && strtol(value, NULL, 10) == 1;
}

/* Says why there is only one thread, as far as the environment tells. */
static const char *why_one_thread(const struct profile *profile)
{
    if (is_one(environment_of(profile, "OMP_NUM_THREADS")))
        return "OMP_NUM_THREADS is 1. Set it to the number of cores, or leave it unset.";
    if (is_one(environment_of(profile, "OMP_THREAD_LIMIT")))
        return "OMP_THREAD_LIMIT is 1. Raise it, or leave it unset.";
    return "The environment allows more threads, so the program asks for one: an if clause is false, num_threads is 1, "
           "or omp_set_num_threads(1) was called. If the regions are large enough, change that.";
}

void find_one_thread(struct inquiry *inquiry)
{
    const struct rows *rows = inquiry->rows;
    const struct profile_header *header = &inquiry->profile->header;
    double ns = 0, most_ns = 0, regions = (double)header->regions;
    uint32_t most = ROW_NONE;
    if (inquiry->threads != 1 || inquiry->cores < 2 || header->in_job || header->merged)
        return;
    for (size_t i = 0; i < inquiry->unit_count; i++) {
        const struct unit *unit = &inquiry->unit[i];
        double own_ns = profile_sums_own(&unit->sum);
        if (rows->row[unit->row].kind != ROW_PARALLEL && rows->row[unit->row].kind != ROW_TASK)
            continue;
        ns += own_ns;
        if (own_ns > most_ns) {
            most_ns = own_ns;
            most = unit->row;
        }
    }
    double seconds = ns * 1e-9;
    struct finding finding = {.rule = "narrow",
                              .row = most,
                              .metric = METRIC_EFFORT,
                              .seconds = seconds,
                              .gain_s = seconds * (1 - 1 / inquiry->cores)};
    if (regions < 1 || most == ROW_NONE || finding.gain_s < LEAST_GAIN_S || !finding_is_enough(inquiry, seconds))
        return;
    finding.title = regions < 2 ? format_printable("the only parallel region runs with one thread, on %s cores",
                                                   DECIMAL(inquiry->cores, 0))
                                : format_printable("all %s parallel regions run with one thread, on %s cores",
                                                   DECIMAL(regions, 0), DECIMAL(inquiry->cores, 0));
    finding.evidence =
        format_printable("%s %% of the time in parallel regions is in the named one", DECIMAL(100 * most_ns / ns, 0));
    finding.advice = format_printable("%s", why_one_thread(inquiry->profile));
    put_finding(inquiry, &finding);
}
