/* TAU's profiles: a folder a metric, in it a file a thread, in it a line for each event. docs/export.md. */
#include "export/tau.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export/export.h"
#include "report/profile/pair_map.h"
#include "report/profile/read.h"
#include "report/rows/rows.h"
#include "report/text/format.h"
#include "report/text/memory.h"

struct tau {
    const char *directory;
    const struct profile *profile;
    const struct rows *rows; /* all threads' */
    uint64_t lost;           /* samples that no thread's profile has */
    unsigned threads;        /* written */
};

/* Which thread a profile is of, by its place in threads.csv; none: all threads together. */
#define ALL_THREADS SIZE_MAX

static char *name_of_metric(const struct rows *rows, enum metric metric)
{
    /* Readers take numbers for times where the name says so; a hyphen is their minus. */
    char *name = memory_text("%s%s", metric_word[metric], rows->events ? "_events" : "_time");
    for (char *at = name; *at; at++)
        *at = *at == '-' ? '_' : *at;
    return name;
}

static void put_xml(FILE *out, const char *text)
{
    char *clean = format_clean(text, true);
    for (const char *at = clean; *at; at++)
        if (*at == '&' || *at == '<' || *at == '>')
            fputs(*at == '&' ? "&amp;" : *at == '<' ? "&lt;" : "&gt;", out);
        else
            putc(*at, out);
    free(clean);
}

static void put_fact(FILE *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(out, "<attribute><name>%s</name><value>", name);
    put_xml(out, value);
    fputs("</value></attribute>", out);
}

static void put_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "<attribute><name>%s</name><value>%" PRIu64 "</value></attribute>", name, value);
}

/* Main facts of run.json, by TAU's names where it has one. */
static void put_facts(FILE *out, const struct profile *profile, size_t thread)
{
    const struct profile_header *header = &profile->header;
    put_fact(out, "Executable", header->program);
    put_fact(out, "Command Line", profile_text(profile, "command"));
    put_fact(out, "Hostname", profile_text(profile, "host"));
    put_number(out, "pid", (uint64_t)header->pid);
    put_number(out, "Starting Timestamp", header->start_realtime_ns > 0 ? (uint64_t)header->start_realtime_ns / 1000 : 0);
    put_number(out, "CPU Cores", header->cores);
    put_number(out, "Threads at Most", header->threads_max);
    put_number(out, "Samples a Second", header->rate);
    put_fact(out, "OpenMP Runtime", profile_text(profile, "runtime"));
    put_fact(out, "Environment", header->environment ? "shared" : "dedicated");
    if (header->merged)
        put_number(out, "Processes Merged", header->merged);
    if (thread != ALL_THREADS)
        put_number(out, "Row of threads.csv", thread);
    else
        put_fact(out, "Threads", "all, added up");
}

static bool put_file(const struct tau *tau, struct tau_events *events, size_t thread, size_t part, const char *name)
{
    unsigned node = tau->profile->header.merged ? 0 : tau->profile->header.rank;
    char *path = memory_text("%s/MULTI__%s/profile.%u.0.%u", tau->directory, name, node, tau->threads);
    FILE *out = fopen(path, "w");
    free(path);
    if (!out)
        return false;
    /* Readers take calls, groups and facts from whichever metric they find first: all have all. */
    fprintf(out, "%zu templated_functions_MULTI_%s\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata>", tau_events_lines(events), name);
    put_fact(out, "Metric Name", name);
    put_facts(out, tau->profile, thread);
    fputs("</metadata>\n", out);
    tau_events_put(events, out, part);
    fputs("0 aggregates\n", out);
    tau_events_put_exact(events, out);
    bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

static bool is_written(const struct rows *rows, size_t part)
{
    return part < METRIC_ALWAYS_PARTS || metric_value(rows, rows->row[0].inclusive, metric_parts[part]) > 0;
}

static bool put_thread(struct tau *tau, const struct rows *rows, size_t thread)
{
    struct tau_events events;
    bool good = true;
    tau_events_gather(&events, rows);
    for (size_t part = 0; part < METRIC_TOLD && good; part++)
        if (is_written(tau->rows, part)) {
            char *name = name_of_metric(rows, metric_parts[part]);
            good = put_file(tau, &events, thread, part, name);
            free(name);
        }
    tau_events_free(&events);
    tau->lost -= rows->row[0].inclusive->samples < tau->lost ? rows->row[0].inclusive->samples : tau->lost;
    tau->threads++;
    return good;
}

static bool read_thread(struct tau *tau, struct symbols *symbols, size_t thread)
{
    char error[1024];
    struct profile *profile = profile_read_thread(tau->profile->path, thread, error, sizeof error);
    if (!profile) {
        errno = EIO;
        return false;
    }
    profile->header.environment = tau->profile->header.environment;
    struct rows *rows = rows_build(profile, symbols);
    bool good = put_thread(tau, rows, thread);
    rows_free(rows);
    profile_free(profile);
    return good;
}

static bool make_folders(const struct tau *tau)
{
    bool good = true;
    for (size_t part = 0; part < METRIC_TOLD && good; part++)
        if (is_written(tau->rows, part)) {
            char *name = name_of_metric(tau->rows, metric_parts[part]);
            char *path = memory_text("%s/MULTI__%s", tau->directory, name);
            good = mkdir(path, 0777) == 0;
            free(path);
            free(name);
        }
    return good;
}

bool export_tau(const char *directory, const struct profile *profile, const struct rows *rows, struct symbols *symbols, uint64_t *lost)
{
    struct tau tau = {.directory = directory, .profile = profile, .rows = rows, .lost = rows->row[0].inclusive->samples};
    struct pair_map seen = {0};
    bool good = make_folders(&tau);
    for (size_t i = 0; i < profile->thread_count && good && symbols && !profile->header.merged; i++) {
        uint32_t *tree = pair_map_slot(&seen, profile->threads[i].tree, 0);
        if (!profile->threads[i].tree || *tree != PAIR_MAP_NEW)
            continue; /* a later thread in an earlier one's tree */
        *tree = (uint32_t)i;
        good = read_thread(&tau, symbols, i);
    }
    pair_map_free(&seen);
    if (good && !tau.threads)
        good = put_thread(&tau, rows, ALL_THREADS);
    *lost = tau.lost;
    return good;
}
