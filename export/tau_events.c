/* A function is TAU's [UNWIND] event, its own time its lines' [SAMPLE] events, as TAU's sampling writes them; each event is there by itself and by
 * each of its paths: `a => b`. */
#include "export/tau.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"
#include "report/text/memory.h"
#include "report/text/strings.h"

#define APPLICATION   ".TAU application"
#define CONTEXT       "[CONTEXT] " APPLICATION
#define NO_EVENT      0u /* the empty name's number */
#define ROUNDING      0.0005 /* less is written as 0 */
#define LINES_OF_ROOT 3u

struct numbers {
    double exclusive, inclusive;
    uint64_t calls, callees;
};

/* In microseconds, events, or as it was counted. */
static double value_of(const struct rows *rows, const struct row *row, bool inclusive, size_t part)
{
    double value = 0;
    if (part < METRIC_TOLD)
        value = metric_value(rows, inclusive ? row->inclusive : row->exclusive, metric_parts[part]) * (rows->events ? 1 : 1e6);
    else if (row->extra)
        value = (inclusive ? &row->extra->inclusive : &row->extra->exclusive)->value[part - METRIC_TOLD];
    return value > 0 ? value : 0;
}

/* What a row has itself, but for its statements: code of no line. */
static double own_value(const struct rows *rows, uint32_t index, size_t part)
{
    double all = value_of(rows, &rows->row[index], false, part), left = all;
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end)
        if (rows->row[child].kind == ROW_STATEMENT)
            left -= value_of(rows, &rows->row[child], false, part);
    return left > ROUNDING + 1e-12 * all ? left : 0;
}

static uint64_t own_samples(const struct rows *rows, uint32_t index)
{
    uint64_t samples = rows->row[index].exclusive->samples;
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end)
        if (rows->row[child].kind == ROW_STATEMENT)
            samples -= rows->row[child].exclusive->samples;
    return samples;
}

/* A name as part of a path: with no arrow of its own. */
static char *name_of(const char *name)
{
    char *clean = format_clean(name, true), *text;
    FILE *out = memory_stream(&text);
    for (const char *at = clean; *at; at++)
        fputs(strncmp(at, "=>", 2) == 0 ? "= " : (char[2]){*at, '\0'}, out);
    memory_stream_close(out);
    free(clean);
    return text;
}

static uint32_t add_event(struct tau_events *events, const char *name, const char *group, const char *path_group)
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

/* A function's event, or with a line: that of its own time there. */
static uint32_t event_of(struct tau_events *events, const struct row *row, const struct row_label *place, int line, bool own)
{
    char *name = name_of(row->label->name), *file = name_of(place->file && *place->file ? place->file : place->module), *text;
    bool plain = !own && (row_is_probe(row) || row->kind == ROW_PARALLEL || row->kind == ROW_TASK || row_is_mpi_wait(row));
    uint32_t number;
    if (plain)
        text = memory_text("%s", name);
    else
        text = memory_text("[%s] %s [{%s} {%d}]", own ? "SAMPLE" : "UNWIND", name, file, line);
    if (own)
        number = add_event(events, text, "TAU_SAMPLE", "TAU_SAMPLE|TAU_CALLPATH");
    else if (!plain)
        number = add_event(events, text, "TAU_UNWIND", "TAU_UNWIND|TAU_SAMPLE|TAU_CALLPATH");
    else if (row_is_probe(row))
        number = add_event(events, text, "TAU_USER", "TAU_USER|TAU_CALLPATH");
    else if (row_is_mpi_wait(row))
        number = add_event(events, text, "MPI", "MPI|TAU_CALLPATH");
    else
        number = add_event(events, text, "TAU_OPENMP", "TAU_OPENMP|TAU_CALLPATH");
    free(name);
    free(file);
    free(text);
    return number;
}

static bool has_own(const struct rows *rows, uint32_t index)
{
    bool has = own_samples(rows, index) > 0;
    for (size_t part = 0; part < tau_parts(rows); part++)
        has |= own_value(rows, index, part) > 0;
    return has;
}

static uint64_t calls_of(const struct row *row)
{
    return row_is_probe(row) && row->extra ? row->extra->probe.calls : row->inclusive->samples;
}

static uint64_t callees_of(const struct rows *rows, uint32_t index)
{
    uint64_t count = 0;
    for (uint32_t child = index + 1; child < rows->row[index].end; child = rows->row[child].end)
        count += rows->row[child].kind != ROW_STATEMENT;
    return count;
}

static void add_exact(struct profile_probe *sum, const struct profile_probe *probe)
{
    if (!probe->calls)
        return;
    sum->shortest_ns = !sum->calls || probe->shortest_ns < sum->shortest_ns ? probe->shortest_ns : sum->shortest_ns;
    sum->longest_ns = probe->longest_ns > sum->longest_ns ? probe->longest_ns : sum->longest_ns;
    sum->calls += probe->calls;
    sum->inclusive_ns += probe->inclusive_ns;
    sum->sum_of_squares += probe->sum_of_squares;
}

/* What an event has in all its paths. */
static void add_row(struct tau_events *events, uint32_t index)
{
    const struct rows *rows = events->rows;
    const struct row *row = &rows->row[index];
    struct tau_event *own = &events->event[events->own[index]], *event = &events->event[events->of_row[index]];
    for (size_t part = 0; part < tau_parts(rows) && events->own[index]; part++) {
        double value = own_value(rows, index, part);
        own->inclusive[part] += value;
        own->exclusive[part] += value;
    }
    if (events->own[index])
        own->calls += own_samples(rows, index);
    if (row->kind == ROW_STATEMENT)
        return;
    if (row_is_probe(row) && row->extra)
        add_exact(&event->exact, &row->extra->probe);
    event->callees += callees_of(rows, index);
    if (index < event->until && !row_is_probe(row))
        return;
    event->calls += calls_of(row);
    if (index < event->until)
        return;
    event->until = row->end;
    for (size_t part = 0; part < tau_parts(rows); part++)
        event->inclusive[part] += value_of(rows, row, true, part);
}

void tau_events_gather(struct tau_events *events, const struct rows *rows)
{
    uint32_t depth = 0;
    *events = (struct tau_events){.rows = rows, .names = strings_new(), .of_row = memory_array(rows->count, sizeof *events->of_row),
                              .own = memory_array(rows->count, sizeof *events->own)};
    add_event(events, "", NULL, NULL);
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        depth = row->depth > depth ? row->depth : depth;
        if (row->kind == ROW_STATEMENT) {
            events->own[i] = event_of(events, &rows->row[row->parent], row->label, row->label->line, true);
        } else {
            events->of_row[i] = event_of(events, row, row->label, row->label->line, false);
            events->own[i] = has_own(rows, i) ? event_of(events, row, row->label, 0, true) : NO_EVENT;
        }
    }
    for (uint32_t i = 1; i < rows->count; i++)
        add_row(events, i);
    events->length = memory_array((size_t)depth + 1, sizeof *events->length);
}

void tau_events_free(struct tau_events *events)
{
    strings_free(events->names);
    free(events->event);
    free(events->of_row);
    free(events->own);
    free(events->length);
}

/* `path`: what is in front of the name. */
static void put_event(FILE *out, const char *path, size_t path_bytes, const char *name, const struct numbers *numbers, const char *group)
{
    putc('"', out);
    if (path_bytes)
        fwrite(path, 1, path_bytes, out);
    fprintf(out, "%s%s\" %" PRIu64 " %" PRIu64 " %s %s 0 GROUP=\"%s\" \n", path_bytes ? " => " : "", name, numbers->calls, numbers->callees,
            numbers->exclusive > 0 ? DECIMAL(numbers->exclusive, 3) : "0", numbers->inclusive > 0 ? DECIMAL(numbers->inclusive, 3) : "0", group);
}

static void put_flat(const struct tau_events *events, FILE *out, size_t part)
{
    const struct rows *rows = events->rows;
    const struct row *root = rows->row;
    struct numbers whole = {value_of(rows, root, false, part), value_of(rows, root, true, part), 1, 1};
    struct numbers sampled = {0, whole.inclusive - whole.exclusive, root->inclusive->samples - root->exclusive->samples, callees_of(rows, 0)};
    put_event(out, NULL, 0, APPLICATION, &whole, "TAU_DEFAULT");
    put_event(out, NULL, 0, CONTEXT, &sampled, "TAU_SAMPLE_CONTEXT");
    put_event(out, APPLICATION, strlen(APPLICATION), CONTEXT, &sampled, "TAU_SAMPLE_CONTEXT|TAU_CALLPATH");
    for (uint32_t i = 1; i < events->count; i++) {
        const struct tau_event *event = &events->event[i];
        struct numbers numbers = {event->exclusive[part], event->inclusive[part], event->calls, event->callees};
        put_event(out, NULL, 0, strings_text(events->names, i), &numbers, event->group);
    }
}

static void put_paths(struct tau_events *events, FILE *out, size_t part)
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
            struct numbers numbers = {0, value_of(rows, row, true, part), calls_of(row), callees_of(rows, i)};
            put_event(out, path, bytes, name, &numbers, events->event[events->of_row[i]].path_group);
            for (const char *text[] = {" => ", name}, **at = text; at < text + 2; bytes += strlen(*at++)) {
                while (room < bytes + strlen(*at) + 1)
                    path = memory_check(realloc(path, room *= 2));
                memcpy(path + bytes, *at, strlen(*at) + 1);
            }
            events->length[row->depth] = bytes;
        }
        if (events->own[i]) {
            double own = own_value(rows, i, part);
            put_event(out, path, bytes, strings_text(events->names, events->own[i]), &(struct numbers){own, own, own_samples(rows, i), 0},
                      events->event[events->own[i]].path_group);
        }
    }
    free(path);
}

void tau_events_put(struct tau_events *events, FILE *out, size_t part)
{
    put_flat(events, out, part);
    put_paths(events, out, part);
}

size_t tau_events_lines(const struct tau_events *events)
{
    size_t count = LINES_OF_ROOT + events->count - 1;
    for (uint32_t i = 1; i < events->rows->count; i++)
        count += (events->rows->row[i].kind != ROW_STATEMENT) + (events->own[i] != NO_EVENT);
    return count;
}

void tau_events_put_exact(const struct tau_events *events, FILE *out)
{
    size_t count = 0;
    for (size_t i = 1; i < events->count; i++)
        count += events->event[i].exact.calls > 0;
    if (count)
        fprintf(out, "%zu userevents\n# eventname numevents max min mean sumsqr\n", count);
    for (uint32_t i = 1; i < events->count; i++) {
        const struct profile_probe *exact = &events->event[i].exact;
        if (exact->calls)
            fprintf(out, "\"%s, microseconds by the clock\" %" PRIu64 " %s %s %s %s\n", strings_text(events->names, i), exact->calls,
                    DECIMAL(exact->longest_ns * 1e-3, 3), DECIMAL(exact->shortest_ns * 1e-3, 3),
                    DECIMAL(exact->inclusive_ns / (double)exact->calls * 1e-3, 3), DECIMAL(exact->sum_of_squares * 1e-6, 6));
    }
}
