/* Writes trace.db of an HPCToolkit database: the context of each thread over time. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/export/locations.h"
#include "command/export/trace_stacks.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/profile/trace.h"
#include "command/rows/row.h"
#include "command/text/memory.h"

/* hpcviewer shows a line for each thread, which consists of samples. A sample's colour extends halfway to the
 * samples before and after it. Spans begin and end halfway between two samples, so the first and the last
 * sample of a span are enough to draw the span. */

#define UNKNOWN_STATE PROFILE_TIME_STATES

struct trace_head {
    uint64_t traces;
    uint32_t count;
    uint8_t trace_bytes, none[3];
    uint64_t first_ns, last_ns;
};

struct hpc_trace_line {
    uint32_t profile, none;
    uint64_t begin, end;
};

struct element {
    uint64_t time_ns;
    uint32_t context;
} __attribute__((packed));

struct line {
    struct hpc_file *file;
    uint64_t period_ns;          /* sampling period */
    uint64_t start_ns, epoch_ns; /* the same instant on the clock of the trace and in ns since the epoch */
    uint64_t first_ns, last_ns;  /* times of the first and the last element; 0: no element yet */
};

/* Returns the number of the child with that name, or 0 if there is none. */
static uint32_t hpc_find_child(const struct hpc_contexts *contexts, uint32_t parent, const char *name)
{
    for (uint32_t child = contexts->context[parent].first; child; child = contexts->context[child].next) {
        const struct hpc_context *context = &contexts->context[child];
        if (context->row != ROW_NONE && strcmp(contexts->rows->row[context->row].label->name, name) == 0)
            return child;
    }
    return 0;
}

static uint32_t hpc_number_label(struct hpc_contexts *contexts, const struct row_label *label)
{
    uint32_t i = 0;
    while (i < contexts->trace_labels && contexts->trace_label[i] != label)
        i++;
    if (i == contexts->trace_labels)
        contexts->trace_label[contexts->trace_labels++] = label;
    return i + 1;
}

/* Returns the child context for a thread state, and adds it if necessary. */
static uint32_t hpc_find_state_context(struct hpc_trace *trace, uint32_t parent, size_t state)
{
    static const struct row_label unknown = {"<not sampled>", "", "", 0};
    struct hpc_contexts *contexts = trace->contexts;
    const struct row_label *label = state == UNKNOWN_STATE ? &unknown : &trace_state_label[state];
    uint32_t *slot = pair_map_slot(&trace->known, parent, PROFILE_TIME_STATES + state);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    uint32_t child = hpc_find_child(contexts, parent, label->name);
    /* a state's row is a child of the function, not of the line */
    if (!child && hpc_is_line(&contexts->context[parent]))
        child = hpc_find_child(contexts, contexts->context[parent].parent, label->name);
    if (!child)
        child = hpc_add_context(
            contexts,
            (struct hpc_context){.parent = parent, .row = ROW_NONE, .traced = hpc_number_label(contexts, label)});
    return *slot = child;
}

static uint32_t hpc_find_span_context(struct hpc_trace *trace, const struct trace_span *span)
{
    /* contexts are keys of the same map; the complement of a node is larger than any context's number */
    const uint64_t node = ~(uint64_t)span->node;
    uint32_t known = *pair_map_slot(&trace->known, node, span->state);
    if (known != PAIR_MAP_NEW)
        return known;
    const struct rows *rows = trace->contexts->rows;
    const char *state = trace_state_label[span->state].name;
    uint32_t row = export_trace_row(rows, span->node), context = trace->contexts->of_row[row];
    if (state && strcmp(rows->row[row].label->name, state) != 0) /* the row is not that of the state itself */
        context = hpc_find_state_context(trace, context, span->state);
    return *pair_map_slot(&trace->known, node, span->state) = context;
}

/* Writes an element. If its time is not later than that of the previous element, the time is increased to the
 * next possible value. */
static void hpc_put_trace_element(struct line *line, uint64_t time_ns, uint32_t context)
{
    struct element element = {line->epoch_ns + (time_ns > line->start_ns ? time_ns - line->start_ns : 0), context};
    if (line->last_ns && element.time_ns <= line->last_ns)
        element.time_ns = line->last_ns + 1;
    hpc_put(line->file, &element, sizeof element);
    line->first_ns = line->last_ns ? line->first_ns : element.time_ns;
    line->last_ns = element.time_ns;
}

/* Writes the time that a thread spent in a context as two elements, in the middle of the first and of the
 * last sampling period. If the time is not longer than a sampling period, it becomes one element. */
static void hpc_put_trace_time(struct line *line, uint64_t begin_ns, uint64_t end_ns, uint32_t context)
{
    uint64_t length_ns = end_ns - begin_ns, half_ns = (length_ns < line->period_ns ? length_ns : line->period_ns) / 2;
    if (!length_ns)
        return;
    hpc_put_trace_element(line, begin_ns + half_ns, context);
    if (length_ns > line->period_ns)
        hpc_put_trace_element(line, end_ns - half_ns, context);
}

/* Writes the line of a thread. Adjacent spans in the same context are combined. */
static void hpc_put_lane(struct line *line, struct hpc_trace *trace, const struct trace_lane *lane)
{
    uint64_t begin_ns = lane->spans[0].begin_ns, end_ns = begin_ns;
    uint32_t now = HPC_GLOBAL;
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct trace_span *span = &lane->spans[i];
        uint32_t context = hpc_find_span_context(trace, span);
        if (span->begin_ns > end_ns || context != now) {
            hpc_put_trace_time(line, begin_ns, end_ns, now);
            if (span->begin_ns > end_ns)
                hpc_put_trace_time(line, end_ns, span->begin_ns,
                                   hpc_find_state_context(trace, HPC_ENTRY, UNKNOWN_STATE));
            begin_ns = span->begin_ns;
            now = context;
        }
        end_ns = span->end_ns;
    }
    hpc_put_trace_time(line, begin_ns, end_ns, now);
}

bool hpc_put_trace(struct hpc_trace *trace, uint32_t profile, const struct profile_header *header,
                   const struct trace_lane *lane)
{
    if (!trace->file.stream && !hpc_open(&trace->file, trace->directory, "trace.db", 1))
        return false;
    hpc_align(&trace->file, 8);
    struct hpc_trace_line entry = {.profile = profile, .begin = trace->file.at};
    struct line line = {.file = &trace->file,
                        .period_ns = header->period_ns,
                        .start_ns = header->start_ns,
                        .epoch_ns = header->start_realtime_ns > 0 ? (uint64_t)header->start_realtime_ns : 0};
    hpc_put_lane(&line, trace, lane);
    entry.end = trace->file.at;
    if (entry.end == entry.begin)
        return true;
    memory_grow(&trace->line, &trace->room, trace->count, sizeof *trace->line);
    trace->line[trace->count++] = entry;
    trace->first_ns = trace->count == 1 || line.first_ns < trace->first_ns ? line.first_ns : trace->first_ns;
    trace->last_ns = line.last_ns > trace->last_ns ? line.last_ns : trace->last_ns;
    return true;
}

static bool hpc_finish_trace(struct hpc_trace *trace)
{
    struct hpc_file *file = &trace->file;
    hpc_align(file, 8);
    struct hpc_section section = {.at = file->at,
                                  .bytes = sizeof(struct trace_head) + trace->count * sizeof *trace->line};
    const struct trace_head head = {section.at + sizeof head, (uint32_t)trace->count, sizeof *trace->line, {0},
                                    trace->first_ns,          trace->last_ns};
    hpc_put(file, &head, sizeof head);
    hpc_put(file, trace->line, trace->count * sizeof *trace->line);
    return hpc_close(file, "trce", &section, 1, "trace.db");
}

bool hpc_close_trace(struct hpc_trace *trace)
{
    bool good = !trace->file.stream || hpc_finish_trace(trace);
    int why = errno;
    pair_map_free(&trace->known);
    free(trace->line);
    errno = why;
    return good;
}

/* Writes the traces of one process, whose first location is `from`. */
static bool hpc_put_process(struct hpc_trace *trace, const struct locations *locations, size_t from,
                            const struct profile_header *header, const struct trace *read)
{
    struct pair_map lanes = {0};
    size_t process = locations->location[from].process;
    bool good = true;
    for (uint32_t i = 0; i < read->lane_count; i++)
        if (read->lanes[i].span_count)
            *pair_map_slot(&lanes, read->lanes[i].tree, 0) = i;
    for (size_t i = from; good && i < locations->count && locations->location[i].process == process; i++) {
        const struct profile_thread *record = locations->location[i].record;
        uint32_t lane = record ? *pair_map_slot(&lanes, record->tree, 0) : PAIR_MAP_NEW;
        if (lane != PAIR_MAP_NEW)
            good = hpc_put_trace(trace, (uint32_t)i + 1, header, &read->lanes[lane]);
    }
    pair_map_free(&lanes);
    return good;
}

bool hpc_write_trace(const char *directory, struct locations *locations, struct hpc_contexts *contexts)
{
    struct hpc_trace trace = {.directory = directory, .contexts = contexts};
    bool good = true;
    for (size_t i = 0; good && i < locations->count; i++) {
        struct profile_header header;
        if (i && locations->location[i].process == locations->location[i - 1].process)
            continue;
        struct trace *read = export_locations_read_trace(locations, locations->location[i].process, &header);
        good = !read || hpc_put_process(&trace, locations, i, &header, read);
        int why = errno;
        trace_free(read);
        errno = why;
    }
    return hpc_close_trace(&trace) && good;
}
