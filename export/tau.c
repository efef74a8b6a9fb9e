/* TAU's profiles: a folder a metric, in it a file a thread, in it a line for each event. docs/export.md. */
#include "export/tau.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export/export.h"
#include "export/locations.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define LARGE_BYTES 4e9

struct tau {
    const char *directory;
    struct locations *locations;
    uint32_t rank; /* of the location that is written, */
    size_t process, first_process; /* its process, and the first one of its rank */
    unsigned threads;              /* locations written of the process */
    uint64_t bytes;                /* written */
    bool noted;                    /* that it will be many */
};

/* A name of a file, and of no operators: a hyphen is readers' minus. */
static char *name_of_counter(const struct rows *rows, size_t counter)
{
    char *name = memory_text("%s", rows->counter_name[counter]);
    for (char *at = name; *at; at++)
        *at = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ? *at : '_';
    return name;
}

static char *name_of_part(const struct rows *rows, size_t part)
{
    if (part < METRIC_TOLD) {
        /* Readers take numbers for times where the name says so. */
        char *name = memory_text("%s%s", metric_word[metric_parts[part]], rows->events ? "_events" : "_time");
        for (char *at = name; *at; at++)
            *at = *at == '-' ? '_' : *at;
        return name;
    }
    size_t counter = part - METRIC_TOLD;
    bool alone = true;
    char *name = name_of_counter(rows, counter);
    for (size_t i = 0; i < counter; i++) {
        char *other = name_of_counter(rows, i);
        alone = alone && strcmp(name, other) != 0;
        free(other);
    }
    char *whole = memory_text(alone ? "counter_%s" : "counter_%s_%zu", name, counter);
    free(name);
    return whole;
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
    if (thread != LOCATION_NO_THREAD)
        put_number(out, "Row of threads.csv", thread);
    else
        put_fact(out, "Threads", "all, added up");
}

static bool put_file(struct tau *tau, struct tau_events *events, const struct location_rows *from, const struct location *location, size_t part,
                     const char *name)
{
    char *path = memory_text("%s/MULTI__%s/profile.%u.%zu.%u", tau->directory, name, location->rank, location->process - tau->first_process, tau->threads);
    FILE *out = fopen(path, "w");
    free(path);
    if (!out)
        return false;
    /* Readers take calls, groups and facts from whichever metric they find first: all have all. */
    fprintf(out, "%zu templated_functions_MULTI_%s\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata>", tau_events_lines(events), name);
    put_fact(out, "Metric Name", name);
    put_facts(out, from->profile ? from->profile : tau->locations->profile, location->thread);
    fputs("</metadata>\n", out);
    tau_events_put(events, out, part);
    fputs("0 aggregates\n", out);
    tau_events_put_exact(events, out);
    bool good = !ferror(out);
    tau->bytes += good ? (uint64_t)ftello(out) : 0;
    return fclose(out) == 0 && good;
}

static bool is_written(const struct rows *rows, size_t part)
{
    return part < METRIC_ALWAYS_PARTS || part >= METRIC_TOLD || metric_value(rows, rows->row[0].inclusive, metric_parts[part]) > 0;
}

static bool put_rows(struct tau *tau, const struct location_rows *from, const struct location *location)
{
    struct tau_events events;
    bool good = true;
    tau_events_gather(&events, from->rows);
    for (size_t part = 0; part < tau_parts(tau->locations->rows) && good; part++)
        if (is_written(tau->locations->rows, part)) {
            char *name = name_of_part(tau->locations->rows, part);
            good = put_file(tau, &events, from, location, part, name);
            free(name);
        }
    tau_events_free(&events);
    return good;
}

/* TAU's nodes are ranks, its contexts the processes of one. */
static void go_to(struct tau *tau, const struct location *location)
{
    if (location->rank != tau->rank)
        tau->first_process = location->process;
    if (location->process != tau->process)
        tau->threads = 0;
    tau->rank = location->rank;
    tau->process = location->process;
}

/* Paths are written out, for each thread and metric: what that comes to is known from the locations that are there, and told while there is time. */
static void note_size(struct tau *tau, size_t written)
{
    double whole = (double)tau->bytes / (double)written * (double)tau->locations->count;
    if (whole < LARGE_BYTES || tau->noted || !tau->locations->note)
        return;
    char *text = memory_text("tau: this will be about %.0f GB, as TAU's files have every call path in words for each thread and metric; hpctoolkit and cube "
                             "have the same values in a fraction of it",
                             whole * 1e-9);
    tau->locations->note(text);
    tau->noted = true;
    free(text);
}

static bool put_location(struct tau *tau, size_t index)
{
    struct location_rows read;
    go_to(tau, &tau->locations->location[index]);
    if (!locations_read(tau->locations, index, &read))
        return false;
    bool good = put_rows(tau, &read, &tau->locations->location[index]);
    location_rows_free(&read);
    tau->threads++;
    return good;
}

static bool make_folders(const struct tau *tau)
{
    bool good = true;
    for (size_t part = 0; part < tau_parts(tau->locations->rows) && good; part++)
        if (is_written(tau->locations->rows, part)) {
            char *name = name_of_part(tau->locations->rows, part);
            char *path = memory_text("%s/MULTI__%s", tau->directory, name);
            good = mkdir(path, 0777) == 0;
            free(path);
            free(name);
        }
    return good;
}

bool export_tau(const char *directory, struct locations *locations)
{
    struct tau tau = {.directory = directory, .locations = locations, .rank = locations->location[0].rank};
    bool good = make_folders(&tau);
    for (size_t i = 0; i < locations->count && good; i++)
        if ((good = put_location(&tau, i)))
            note_size(&tau, i + 1);
    return good;
}
