/* Writes TAU's profiles: a directory for each metric, in it a file for each thread, in it a line for each
 * event. docs/options-and-files.md describes them. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/locations.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

/* The parts are the metrics in metric_parts[], then the counters counted at samples. */
#define TAU_MOST_PARTS (METRIC_ALL_PARTS + PROFILE_COUNTERS)

static inline size_t tau_parts(const struct rows *rows)
{
    return METRIC_ALL_PARTS + rows->counter_count;
}

struct tau_event {
    const char *group, *path_group;
    double inclusive[TAU_MOST_PARTS], exclusive[TAU_MOST_PARTS];
    uint64_t calls, callees;
    /* row at which the outermost call of the event ends. The rows before it are recursive calls, whose time
     * is already counted */
    uint32_t until;
    /* exact times; 0 unless the event is a phase, event or parameter of the program */
    struct profile_probe exact;
};

/* The events in the rows of one thread. */
struct tau_events {
    const struct rows *rows;
    struct strings *names;
    /* events; the event whose name has the number N in `names` is event[N], and event[0] is unused */
    struct tau_event *event;
    size_t count, room;
    /* for each row, the number of its event, and the number of the event for its own time outside statements */
    uint32_t *of_row, *own;
    size_t *length; /* for each depth, the length of the path's text up to that depth */
};

/* ---- events ---- */

/* As in TAU's own sampling, a function is an [UNWIND] event, and the own time of a line is a [SAMPLE] event.
 * Each event is listed by itself, and then once for each call path that leads to it, in the form `a => b`. */

#define APPLICATION   ".TAU application"
#define CONTEXT       "[CONTEXT] " APPLICATION
#define NO_EVENT      0u     /* number of the empty name, for a row without an event */
#define ROUNDING      0.0005 /* values below this are written as 0 */
#define LINES_OF_ROOT 3u

struct numbers {
    double exclusive, inclusive;
    uint64_t calls, callees;
};

/* Returns the value of a part for a row, in microseconds, events or the unit of the counter. Negative values
 * become 0. */
static double tau_value(const struct rows *rows, const struct row *row, bool inclusive, size_t part)
{
    double value = 0;
    if (part < METRIC_ALL_PARTS)
        value = metric_value(rows, inclusive ? row->inclusive : row->exclusive, metric_parts[part]) *
                (rows->events ? 1 : 1e6);
    else if (row->extra)
        value = (inclusive ? &row->extra->inclusive : &row->extra->exclusive)->value[part - METRIC_ALL_PARTS];
    return value > 0 ? value : 0;
}

/* Returns the own value of a part for a row, without the values of the row's statements. This is the value
 * whose source line is unknown. */
static double tau_own_value(const struct rows *rows, uint32_t index, size_t part)
{
    double all = tau_value(rows, &rows->row[index], false, part), left = all;
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end)
        if (rows->row[child].kind == ROW_STATEMENT)
            left -= tau_value(rows, &rows->row[child], false, part);
    return left > ROUNDING + 1e-12 * all ? left : 0;
}

static uint64_t tau_own_samples(const struct rows *rows, uint32_t index)
{
    uint64_t samples = rows->row[index].exclusive->samples;
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end)
        if (rows->row[child].kind == ROW_STATEMENT)
            samples -= rows->row[child].exclusive->samples;
    return samples;
}

/* Returns a copy of a name in which "= >" replaces "=>", because "=>" separates the names of a path. */
static char *tau_clean_name(const char *name)
{
    char *clean = format_clean(name, true), *text;
    FILE *out = memory_stream(&text);
    for (const char *at = clean; *at; at++)
        fputs(strncmp(at, "=>", 2) == 0 ? "= " : (char[2]){*at, '\0'}, out);
    memory_stream_close(out);
    free(clean);
    return text;
}

static uint32_t tau_add_event(struct tau_events *events, const char *name, const char *group, const char *path_group)
{
    uint32_t number = strings_intern(events->names, name);
    while (events->count <= number) {
        memory_grow(&events->event, &events->room, events->count, sizeof *events->event);
        events->event[events->count++] = (struct tau_event){0};
    }
    if (!events->event[number].group)
        events->event[number].group = group, events->event[number].path_group = path_group;
    return number;
}

/* Returns the number of a row's event, or, if `own` is set, of the event for its own time at the line. */
static uint32_t tau_event_of_row(struct tau_events *events, const struct row *row, const struct row_label *place,
                                 int line, bool own)
{
    char *name = tau_clean_name(row->label->name),
         *file = tau_clean_name(place->file && *place->file ? place->file : place->module), *text;
    bool plain =
        !own && (row_is_probe(row) || row->kind == ROW_PARALLEL || row->kind == ROW_TASK || row_is_mpi_wait(row));
    uint32_t number;
    if (plain)
        text = memory_text("%s", name);
    else
        text = memory_text("[%s] %s [{%s} {%d}]", own ? "SAMPLE" : "UNWIND", name, file, line);
    if (own)
        number = tau_add_event(events, text, "TAU_SAMPLE", "TAU_SAMPLE|TAU_CALLPATH");
    else if (!plain)
        number = tau_add_event(events, text, "TAU_UNWIND", "TAU_UNWIND|TAU_SAMPLE|TAU_CALLPATH");
    else if (row_is_probe(row))
        number = tau_add_event(events, text, "TAU_USER", "TAU_USER|TAU_CALLPATH");
    else if (row_is_mpi_wait(row))
        number = tau_add_event(events, text, "MPI", "MPI|TAU_CALLPATH");
    else
        number = tau_add_event(events, text, "TAU_OPENMP", "TAU_OPENMP|TAU_CALLPATH");
    free(name);
    free(file);
    free(text);
    return number;
}

static bool tau_has_own(const struct rows *rows, uint32_t index)
{
    bool has = tau_own_samples(rows, index) > 0;
    for (size_t part = 0; part < tau_parts(rows); part++)
        has |= tau_own_value(rows, index, part) > 0;
    return has;
}

static uint64_t tau_calls(const struct row *row)
{
    return row_is_probe(row) && row->extra ? row->extra->probe.calls : row->inclusive->samples;
}

static uint64_t tau_callees(const struct rows *rows, uint32_t index)
{
    uint64_t count = 0;
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end)
        count += rows->row[child].kind != ROW_STATEMENT;
    return count;
}

static void tau_add_exact(struct profile_probe *sum, const struct profile_probe *probe)
{
    if (!probe->calls)
        return;
    sum->shortest_ns = !sum->calls || probe->shortest_ns < sum->shortest_ns ? probe->shortest_ns : sum->shortest_ns;
    sum->longest_ns = probe->longest_ns > sum->longest_ns ? probe->longest_ns : sum->longest_ns;
    sum->calls += probe->calls;
    sum->inclusive_ns += probe->inclusive_ns;
    sum->sum_of_squares += probe->sum_of_squares;
}

/* Adds the values of a row to its event, which contains the sums over all call paths. */
static void tau_add_row(struct tau_events *events, uint32_t index)
{
    const struct rows *rows = events->rows;
    const struct row *row = &rows->row[index];
    struct tau_event *own = &events->event[events->own[index]], *event = &events->event[events->of_row[index]];
    for (size_t part = 0; part < tau_parts(rows) && events->own[index]; part++) {
        double value = tau_own_value(rows, index, part);
        own->inclusive[part] += value;
        own->exclusive[part] += value;
    }
    if (events->own[index])
        own->calls += tau_own_samples(rows, index);
    if (row->kind == ROW_STATEMENT)
        return;
    if (row_is_probe(row) && row->extra)
        tau_add_exact(&event->exact, &row->extra->probe);
    event->callees += tau_callees(rows, index);
    if (index < event->until && !row_is_probe(row))
        return;
    event->calls += tau_calls(row);
    if (index < event->until)
        return;
    event->until = row->end;
    for (size_t part = 0; part < tau_parts(rows); part++)
        event->inclusive[part] += tau_value(rows, row, true, part);
}

static void tau_events_gather(struct tau_events *events, const struct rows *rows)
{
    uint32_t depth = 0;
    *events = (struct tau_events){.rows = rows,
                                  .names = strings_new(),
                                  .of_row = memory_array(rows->count, sizeof *events->of_row),
                                  .own = memory_array(rows->count, sizeof *events->own)};
    tau_add_event(events, "", NULL, NULL);
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        depth = row->depth > depth ? row->depth : depth;
        if (row->kind == ROW_STATEMENT) {
            events->own[i] = tau_event_of_row(events, &rows->row[row->parent], row->label, row->label->line, true);
        } else {
            events->of_row[i] = tau_event_of_row(events, row, row->label, row->label->line, false);
            events->own[i] = tau_has_own(rows, i) ? tau_event_of_row(events, row, row->label, 0, true) : NO_EVENT;
        }
    }
    for (uint32_t i = 1; i < rows->count; i++)
        tau_add_row(events, i);
    events->length = memory_array((size_t)depth + 1, sizeof *events->length);
}

static void tau_events_free(struct tau_events *events)
{
    strings_free(events->names);
    free(events->event);
    free(events->of_row);
    free(events->own);
    free(events->length);
}

/* Writes the line of an event. `path` is the call path without the event's own name. */
static void tau_put_event(FILE *out, const char *path, size_t path_bytes, const char *name,
                          const struct numbers *numbers, const char *group)
{
    putc('"', out);
    if (path_bytes)
        fwrite(path, 1, path_bytes, out);
    fprintf(out, "%s%s\" %" PRIu64 " %" PRIu64 " %s %s 0 GROUP=\"%s\" \n", path_bytes ? " => " : "", name,
            numbers->calls, numbers->callees, numbers->exclusive > 0 ? DECIMAL(numbers->exclusive, 3) : "0",
            numbers->inclusive > 0 ? DECIMAL(numbers->inclusive, 3) : "0", group);
}

static void tau_put_flat(const struct tau_events *events, FILE *out, size_t part)
{
    const struct rows *rows = events->rows;
    const struct row *root = rows->row;
    struct numbers whole = {tau_value(rows, root, false, part), tau_value(rows, root, true, part), 1, 1};
    struct numbers sampled = {0, whole.inclusive - whole.exclusive, root->inclusive->samples - root->exclusive->samples,
                              tau_callees(rows, 0)};
    tau_put_event(out, NULL, 0, APPLICATION, &whole, "TAU_DEFAULT");
    tau_put_event(out, NULL, 0, CONTEXT, &sampled, "TAU_SAMPLE_CONTEXT");
    tau_put_event(out, APPLICATION, strlen(APPLICATION), CONTEXT, &sampled, "TAU_SAMPLE_CONTEXT|TAU_CALLPATH");
    for (uint32_t i = 1; i < events->count; i++) {
        const struct tau_event *event = &events->event[i];
        struct numbers numbers = {event->exclusive[part], event->inclusive[part], event->calls, event->callees};
        tau_put_event(out, NULL, 0, strings_text(events->names, i), &numbers, event->group);
    }
}

static void tau_put_paths(struct tau_events *events, FILE *out, size_t part)
{
    const struct rows *rows = events->rows;
    char *path = memory_text("%s => %s", APPLICATION, CONTEXT);
    size_t room = strlen(path) + 1;
    events->length[0] = room - 1;
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        size_t bytes = events->length[row->depth - 1];
        if (row->kind != ROW_STATEMENT) {
            const char *name = strings_text(events->names, events->of_row[i]);
            struct numbers numbers = {0, tau_value(rows, row, true, part), tau_calls(row), tau_callees(rows, i)};
            tau_put_event(out, path, bytes, name, &numbers, events->event[events->of_row[i]].path_group);
            for (const char *text[] = {" => ", name}, **at = text; at < text + 2; bytes += strlen(*at++)) {
                while (room < bytes + strlen(*at) + 1)
                    path = memory_check(realloc(path, room *= 2));
                memcpy(path + bytes, *at, strlen(*at) + 1);
            }
            events->length[row->depth] = bytes;
        }
        if (events->own[i]) {
            double own = tau_own_value(rows, i, part);
            tau_put_event(out, path, bytes, strings_text(events->names, events->own[i]),
                          &(struct numbers){own, own, tau_own_samples(rows, i), 0},
                          events->event[events->own[i]].path_group);
        }
    }
    free(path);
}

/* Writes the lines of all events for one part. */
static void tau_events_put(struct tau_events *events, FILE *out, size_t part)
{
    tau_put_flat(events, out, part);
    tau_put_paths(events, out, part);
}

static size_t tau_events_lines(const struct tau_events *events)
{
    size_t count = LINES_OF_ROOT + events->count - 1;
    for (uint32_t i = 1; i < events->rows->count; i++)
        count += (events->rows->row[i].kind != ROW_STATEMENT) + (events->own[i] != NO_EVENT);
    return count;
}

/* Writes the exact times of phases, events and parameters. */
static void tau_events_put_exact(const struct tau_events *events, FILE *out)
{
    size_t count = 0;
    for (size_t i = 1; i < events->count; i++)
        count += events->event[i].exact.calls > 0;
    if (count)
        fprintf(out, "%zu userevents\n# eventname numevents max min mean sumsqr\n", count);
    for (uint32_t i = 1; i < events->count; i++) {
        const struct profile_probe *exact = &events->event[i].exact;
        if (exact->calls)
            fprintf(out, "\"%s, wall-clock microseconds\" %" PRIu64 " %s %s %s %s\n", strings_text(events->names, i),
                    exact->calls, DECIMAL(exact->longest_ns * 1e-3, 3), DECIMAL(exact->shortest_ns * 1e-3, 3),
                    DECIMAL(exact->inclusive_ns / (double)exact->calls * 1e-3, 3),
                    DECIMAL(exact->sum_of_squares * 1e-6, 6));
    }
}

/* ---- the files ---- */

#define LARGE_BYTES 4e9

struct tau {
    const char *directory;
    struct locations *locations;
    uint32_t rank;                 /* rank of the location being written */
    size_t process, first_process; /* process of the location being written, and first process of its rank */
    unsigned threads;              /* number of locations of that process that are written */
    uint64_t bytes;                /* bytes written so far */
    bool noted;                    /* whether the user has been warned that the output is large */
};

/* Returns the name of a counter for use in a file name. '_' replaces all characters except letters and
 * digits, because readers would take '-' for a minus sign. */
static char *tau_counter_name(const struct rows *rows, size_t counter)
{
    char *name = memory_text("%s", rows->counter_name[counter]);
    for (char *at = name; *at; at++)
        *at = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ? *at : '_';
    return name;
}

static char *tau_part_name(const struct rows *rows, size_t part)
{
    if (part < METRIC_ALL_PARTS) {
        /* readers treat a metric as a time only if its name contains "time" */
        char *name = memory_text("%s%s", metric_word[metric_parts[part]], rows->events ? "_events" : "_time");
        for (char *at = name; *at; at++)
            *at = *at == '-' ? '_' : *at;
        return name;
    }
    size_t counter = part - METRIC_ALL_PARTS;
    bool alone = true;
    char *name = tau_counter_name(rows, counter);
    for (size_t i = 0; i < counter; i++) {
        char *other = tau_counter_name(rows, i);
        alone = alone && strcmp(name, other) != 0;
        free(other);
    }
    char *whole = memory_text(alone ? "counter_%s" : "counter_%s_%zu", name, counter);
    free(name);
    return whole;
}

static void tau_put_xml(FILE *out, const char *text)
{
    char *clean = format_clean(text, true);
    for (const char *at = clean; *at; at++)
        if (*at == '&' || *at == '<' || *at == '>')
            fputs(*at == '&' ? "&amp;" : *at == '<' ? "&lt;" : "&gt;", out);
        else
            putc(*at, out);
    free(clean);
}

static void tau_put_fact(FILE *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(out, "<attribute><name>%s</name><value>", name);
    tau_put_xml(out, value);
    fputs("</value></attribute>", out);
}

static void tau_put_number_fact(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "<attribute><name>%s</name><value>%" PRIu64 "</value></attribute>", name, value);
}

/* Writes the most important facts of run.json. A fact that TAU knows gets the name that TAU uses. */
static void tau_put_facts(FILE *out, const struct profile *profile, size_t thread)
{
    const struct profile_header *header = &profile->header;
    tau_put_fact(out, "Executable", header->program);
    tau_put_fact(out, "Command Line", profile_text(profile, "command"));
    tau_put_fact(out, "Hostname", profile_text(profile, "host"));
    tau_put_number_fact(out, "pid", (uint64_t)header->pid);
    tau_put_number_fact(out, "Starting Timestamp",
                        header->start_realtime_ns > 0 ? (uint64_t)header->start_realtime_ns / 1000 : 0);
    tau_put_number_fact(out, "CPU Cores", header->cores);
    tau_put_number_fact(out, "Threads at Most", header->threads_max);
    tau_put_number_fact(out, "Samples a Second", header->rate);
    tau_put_fact(out, "OpenMP Runtime", profile_text(profile, "runtime"));
    tau_put_fact(out, "Environment", header->environment ? "shared" : "dedicated");
    if (header->merged)
        tau_put_number_fact(out, "Processes Merged", header->merged);
    if (thread != LOCATION_NO_THREAD)
        tau_put_number_fact(out, "Row of threads.csv", thread);
    else
        tau_put_fact(out, "Threads", "all, added up");
}

static bool tau_put_file(struct tau *tau, struct tau_events *events, const struct location_rows *from,
                         const struct location *location, size_t part, const char *name)
{
    char *path = memory_text("%s/MULTI__%s/profile.%u.%zu.%u", tau->directory, name, location->rank,
                             location->process - tau->first_process, tau->threads);
    FILE *out = fopen(path, "w");
    free(path);
    if (!out)
        return false;
    /* each metric's file repeats calls, groups and facts, because readers take them from the first metric
     * that they find */
    fprintf(out, "%zu templated_functions_MULTI_%s\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata>",
            tau_events_lines(events), name);
    tau_put_fact(out, "Metric Name", name);
    tau_put_facts(out, from->profile ? from->profile : tau->locations->profile, location->thread);
    fputs("</metadata>\n", out);
    tau_events_put(events, out, part);
    fputs("0 aggregates\n", out);
    tau_events_put_exact(events, out);
    bool good = !ferror(out);
    tau->bytes += good ? (uint64_t)ftello(out) : 0;
    return fclose(out) == 0 && good;
}

static bool tau_part_is_written(const struct rows *rows, size_t part)
{
    return part < METRIC_ALWAYS_PARTS || part >= METRIC_ALL_PARTS ||
           metric_value(rows, rows->row[0].inclusive, metric_parts[part]) > 0;
}

static bool tau_put_rows(struct tau *tau, const struct location_rows *from, const struct location *location)
{
    struct tau_events events;
    bool good = true;
    tau_events_gather(&events, from->rows);
    for (size_t part = 0; part < tau_parts(tau->locations->rows) && good; part++)
        if (tau_part_is_written(tau->locations->rows, part)) {
            char *name = tau_part_name(tau->locations->rows, part);
            good = tau_put_file(tau, &events, from, location, part, name);
            free(name);
        }
    tau_events_free(&events);
    return good;
}

/* Makes the location's rank and process the current ones. Ranks are TAU's nodes, and the processes of a rank
 * are TAU's contexts. */
static void tau_go_to_location(struct tau *tau, const struct location *location)
{
    if (location->rank != tau->rank)
        tau->first_process = location->process;
    if (location->process != tau->process)
        tau->threads = 0;
    tau->rank = location->rank;
    tau->process = location->process;
}

/* Warns the user early if the output will be large, because each file contains every call path in full. The
 * total size is estimated from the locations that have been written. */
static void tau_note_size(struct tau *tau, size_t written)
{
    double whole = (double)tau->bytes / (double)written * (double)tau->locations->count;
    if (whole < LARGE_BYTES || tau->noted || !tau->locations->note)
        return;
    char *text =
        memory_text("tau: the output will be about %.0f GB, because TAU's files repeat every call path in full for "
                    "each thread and metric; the formats hpctoolkit and cube have the same values and are much smaller",
                    whole * 1e-9);
    tau->locations->note(text);
    tau->noted = true;
    free(text);
}

static bool tau_put_location(struct tau *tau, size_t index)
{
    struct location_rows read;
    tau_go_to_location(tau, &tau->locations->location[index]);
    if (!export_locations_read(tau->locations, index, &read))
        return false;
    bool good = tau_put_rows(tau, &read, &tau->locations->location[index]);
    export_location_rows_free(&read);
    tau->threads++;
    return good;
}

static bool tau_make_folders(const struct tau *tau)
{
    bool good = true;
    for (size_t part = 0; part < tau_parts(tau->locations->rows) && good; part++)
        if (tau_part_is_written(tau->locations->rows, part)) {
            char *name = tau_part_name(tau->locations->rows, part);
            char *path = memory_text("%s/MULTI__%s", tau->directory, name);
            good = mkdir(path, 0777) == 0;
            free(path);
            free(name);
        }
    return good;
}

bool export_tau(const char *directory, const struct export_input *input)
{
    struct locations *locations = input->locations;
    struct tau tau = {.directory = directory, .locations = locations, .rank = locations->location[0].rank};
    bool good = tau_make_folders(&tau);
    for (size_t i = 0; i < locations->count && good; i++)
        if ((good = tau_put_location(&tau, i)))
            tau_note_size(&tau, i + 1);
    return good;
}
