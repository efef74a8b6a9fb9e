#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/perfetto.pb-c.h"
#include "command/export/trace_stacks.h"
#include "command/export/traced.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

enum interned {
    INTERNED_EVENT,
    INTERNED_ANNOTATION,
    INTERNED_FUNCTION,
    INTERNED_SOURCE,
    INTERNED_MODULE,
    INTERNED_KINDS
};

struct perfetto {
    FILE *out;
    bool good; /* whether every write has succeeded so far */
    uint64_t last_uuid;
    struct strings *strings[INTERNED_KINDS];
    uint32_t string_count[INTERNED_KINDS]; /* number of texts of each kind that have been written */
    struct trace_stacks stacks;
    size_t frame_count; /* number of frames that have been written */
    uint64_t task_count;
    uint8_t *packed;
    size_t packed_room;
};

/* All packets belong to one sequence. Its interned data are valid until the end of the trace. */
#define SEQUENCE     1
#define STATE_NEEDED 2

typedef Perfetto__Protos__InternedData interned_data;
#define DATA_INIT PERFETTO__PROTOS__INTERNED_DATA__INIT

static void perfetto_start(struct perfetto *perfetto)
{
    for (int i = 0; i < INTERNED_KINDS; i++)
        perfetto->strings[i] = strings_new();
    export_trace_stacks_start(&perfetto->stacks);
}

static void perfetto_finish(struct perfetto *perfetto)
{
    for (int i = 0; i < INTERNED_KINDS; i++)
        strings_free(perfetto->strings[i]);
    export_trace_stacks_free(&perfetto->stacks);
    free(perfetto->packed);
}

/* Sets the sequence of a packet and writes the packet. */
static void perfetto_write(struct perfetto *perfetto, Perfetto__Protos__TracePacket *packet)
{
    Perfetto__Protos__Trace trace = PERFETTO__PROTOS__TRACE__INIT;
    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->sequence_flags |= STATE_NEEDED;
    packet->has_sequence_flags = true;
    trace.n_packet = 1;
    trace.packet = &packet;
    size_t bytes = perfetto__protos__trace__get_packed_size(&trace);
    if (bytes > perfetto->packed_room) {
        perfetto->packed_room = 2 * bytes;
        perfetto->packed = memory_check(realloc(perfetto->packed, perfetto->packed_room));
    }
    perfetto__protos__trace__pack(&trace, perfetto->packed);
    perfetto->good = perfetto->good && fwrite(perfetto->packed, 1, bytes, perfetto->out) == bytes;
}

static void perfetto_write_data(struct perfetto *perfetto, interned_data *data)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    packet.interned_data = data;
    perfetto_write(perfetto, &packet);
}

/* Writes an interned text. For a module, also writes a mapping that has the same number and refers to the
 * text as its path. */
static void perfetto_write_name(struct perfetto *perfetto, enum interned kind, uint64_t iid, const char *text)
{
    Perfetto__Protos__EventName event = PERFETTO__PROTOS__EVENT_NAME__INIT, *events = &event;
    Perfetto__Protos__DebugAnnotationName annotation = PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT,
                                          *annotations = &annotation;
    Perfetto__Protos__InternedString string = PERFETTO__PROTOS__INTERNED_STRING__INIT, *strings = &string;
    Perfetto__Protos__Mapping mapping = PERFETTO__PROTOS__MAPPING__INIT, *mappings = &mapping;
    interned_data data = DATA_INIT;
    event.has_iid = annotation.has_iid = string.has_iid = string.has_str = mapping.has_iid = true;
    event.iid = annotation.iid = string.iid = mapping.iid = iid;
    event.name = annotation.name = (char *)text;
    string.str = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
    mapping.n_path_string_ids = 1;
    mapping.path_string_ids = &iid;
    data.event_names = &events;
    data.debug_annotation_names = &annotations;
    data.function_names = data.source_paths = data.mapping_paths = &strings;
    data.mappings = &mappings;
    data.n_event_names = kind == INTERNED_EVENT;
    data.n_debug_annotation_names = kind == INTERNED_ANNOTATION;
    data.n_function_names = kind == INTERNED_FUNCTION;
    data.n_source_paths = kind == INTERNED_SOURCE;
    data.n_mapping_paths = data.n_mappings = kind == INTERNED_MODULE;
    perfetto_write_data(perfetto, &data);
}

/* Returns the number of an interned text, and writes the text if it is new. */
static uint64_t perfetto_name(struct perfetto *perfetto, enum interned kind, const char *text)
{
    /* an empty text would have the number 0, which means that there is no text */
    char *clean = format_clean(*text ? text : "?", false);
    uint32_t id = strings_intern(perfetto->strings[kind], clean);
    if (id > perfetto->string_count[kind]) {
        perfetto->string_count[kind] = id;
        perfetto_write_name(perfetto, kind, id, clean);
    }
    free(clean);
    return id;
}

/* Writes a frame. It has no address, because a row combines many addresses. It has a source line, or, if the
 * line is unknown, a module. Readers then distinguish the module's frames by name. */
static void perfetto_write_frame(struct perfetto *perfetto, const struct trace_frame *entry, uint64_t iid)
{
    const struct row_label *label = perfetto->stacks.functions[entry->function - 1];
    Perfetto__Protos__Frame frame = PERFETTO__PROTOS__FRAME__INIT, *frames = &frame;
    interned_data data = DATA_INIT;
    frame.has_iid = frame.has_function_name_id = true;
    frame.iid = iid;
    frame.function_name_id = perfetto_name(perfetto, INTERNED_FUNCTION, label->name);
    if (*label->file) {
        frame.has_source_path_iid = true;
        frame.source_path_iid = perfetto_name(perfetto, INTERNED_SOURCE, label->file);
        frame.has_line_number = entry->line > 0;
        frame.line_number = (uint32_t)entry->line;
    } else if (*label->module) {
        frame.has_mapping_id = frame.has_rel_pc = true;
        frame.mapping_id = perfetto_name(perfetto, INTERNED_MODULE, label->module);
    }
    data.n_frames = 1;
    data.frames = &frames;
    perfetto_write_data(perfetto, &data);
}

static void perfetto_write_stack(struct perfetto *perfetto, uint32_t number)
{
    const struct trace_stack *stacks = perfetto->stacks.stacks;
    Perfetto__Protos__Callstack stack = PERFETTO__PROTOS__CALLSTACK__INIT, *callstacks = &stack;
    interned_data data = DATA_INIT;
    size_t depth = 0;
    for (uint32_t at = number; at; at = stacks[at - 1].parent)
        depth++;
    uint64_t *frames = memory_array(depth, sizeof *frames);
    for (uint32_t at = number, i = (uint32_t)depth; at; at = stacks[at - 1].parent)
        frames[--i] = stacks[at - 1].frame;
    stack.has_iid = true;
    stack.iid = number;
    stack.n_frame_ids = depth;
    stack.frame_ids = frames;
    data.n_callstacks = 1;
    data.callstacks = &callstacks;
    perfetto_write_data(perfetto, &data);
    free(frames);
}

/* Writes a stack that is used for the first time, with those of its frames that are new. */
static void perfetto_stack(struct perfetto *perfetto, uint32_t stack)
{
    for (; perfetto->frame_count < perfetto->stacks.frame_count; perfetto->frame_count++)
        perfetto_write_frame(perfetto, &perfetto->stacks.frames[perfetto->frame_count], perfetto->frame_count + 1);
    if (!perfetto->stacks.stacks[stack - 1].written)
        perfetto_write_stack(perfetto, stack);
    perfetto->stacks.stacks[stack - 1].written = true;
}

/* Writes the record of a thread and returns the record's number. */
static uint64_t perfetto_task(struct perfetto *perfetto, int32_t pid, int32_t tid)
{
    Perfetto__Protos__StackSampleTaskContext task = PERFETTO__PROTOS__STACK_SAMPLE_TASK_CONTEXT__INIT, *tasks = &task;
    interned_data data = DATA_INIT;
    task.has_iid = task.has_pid = task.has_tid = true;
    task.iid = ++perfetto->task_count;
    task.pid = (uint32_t)pid;
    task.tid = (uint32_t)tid;
    data.n_stack_sample_task_contexts = 1;
    data.stack_sample_task_contexts = &tasks;
    perfetto_write_data(perfetto, &data);
    return task.iid;
}

/* ---- the trace ---- */

#define STATE_BEGINS     1
#define SLICE_BEGINS     1
#define SLICE_ENDS       2
#define COUNTER          4
#define UNIT_NANOSECONDS 1
#define UNIT_COUNT       9
#define BY_RANK          1
#define MOST_ANNOTATIONS (SHARING_MOST + 2)

static void perfetto_write_descriptor(struct perfetto *perfetto, Perfetto__Protos__TrackDescriptor *track)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    track->has_uuid = true;
    packet.track_descriptor = track;
    perfetto_write(perfetto, &packet);
}

/* Writes a track below the track `parent`, and returns its uuid. Only the track of a counter has a `unit`. */
static uint64_t perfetto_write_track(struct perfetto *perfetto, uint64_t parent, const char *name,
                                     const char *description, const char *unit)
{
    Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__CounterDescriptor counter = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;
    char *clean = format_clean(name, false);
    track.uuid = ++perfetto->last_uuid;
    track.has_parent_uuid = true;
    track.parent_uuid = parent;
    track.name = clean;
    track.description = (char *)description;
    counter.unit_name = (char *)unit;
    counter.y_axis_share_key = (char *)unit;
    track.counter = unit ? &counter : NULL;
    perfetto_write_descriptor(perfetto, &track);
    free(clean);
    return track.uuid;
}

static uint64_t perfetto_write_process(struct perfetto *perfetto, const struct traced_process *process, size_t number)
{
    Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ProcessDescriptor descriptor = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
    track.uuid = ++perfetto->last_uuid;
    track.has_sibling_order_rank = true;
    track.sibling_order_rank = (int32_t)number;
    track.process = &descriptor;
    descriptor.has_pid = true;
    descriptor.pid = process->pid;
    descriptor.process_name = process->name;
    perfetto_write_descriptor(perfetto, &track);
    return track.uuid;
}

static uint64_t perfetto_write_thread(struct perfetto *perfetto, const struct traced_process *process, size_t number)
{
    const struct traced_thread *thread = &process->threads[number];
    Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ThreadDescriptor descriptor = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
    track.uuid = ++perfetto->last_uuid;
    track.has_sibling_order_rank = true;
    track.sibling_order_rank = (int32_t)number;
    track.thread = &descriptor;
    descriptor.has_pid = descriptor.has_tid = true;
    descriptor.pid = process->pid;
    descriptor.tid = thread->tid;
    descriptor.thread_name = thread->name;
    perfetto_write_descriptor(perfetto, &track);
    return track.uuid;
}

/* Writes the start or the end of a slice, or a value of a counter. */
static void perfetto_write_event(struct perfetto *perfetto, uint64_t time_ns, Perfetto__Protos__TrackEvent *event,
                                 int32_t type, uint64_t track)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    packet.has_timestamp = true;
    packet.timestamp = time_ns;
    event->has_type = event->has_track_uuid = true;
    event->type = type;
    event->track_uuid = track;
    packet.track_event = event;
    perfetto_write(perfetto, &packet);
}

static void perfetto_write_slice(struct perfetto *perfetto, uint64_t track, uint64_t time_ns, const char *name)
{
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    event.has_name_iid = name != NULL;
    event.name_iid = name ? perfetto_name(perfetto, INTERNED_EVENT, name) : 0;
    perfetto_write_event(perfetto, time_ns, &event, name ? SLICE_BEGINS : SLICE_ENDS, track);
}

static void perfetto_write_counter(struct perfetto *perfetto, uint64_t track, uint64_t time_ns, double value)
{
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    event.has_double_counter_value = true;
    event.double_counter_value = value;
    perfetto_write_event(perfetto, time_ns, &event, COUNTER, track);
}

static void perfetto_write_phases(struct perfetto *perfetto, const struct traced_process *process, uint64_t parent)
{
    struct traced_phase *phases;
    size_t count = export_traced_phases(process, &phases);
    uint64_t track = count ? perfetto_write_track(perfetto, parent, "phases",
                                                  "Phases, as seen in the samples of the first thread.", NULL)
                           : 0;
    for (size_t i = 0; i < count; i++)
        perfetto_write_slice(perfetto, track, phases[i].time_ns, phases[i].begins ? phases[i].name : NULL);
    free(phases);
}

/* Writes the values of one counter. A value holds until the next one, so only changes are written. */
static void perfetto_write_levels(struct perfetto *perfetto, uint64_t track, const struct sharing *culprits,
                                  size_t offset)
{
    double last = -1;
    for (size_t i = 0; i < culprits->level_count; i++) {
        double value = export_sharing_level(culprits, i, offset);
        if (value != last)
            perfetto_write_counter(perfetto, track, culprits->begin_ns + i * culprits->window_ns, value);
        last = value;
    }
    if (last > 0)
        perfetto_write_counter(perfetto, track, culprits->end_ns, 0);
}

static void perfetto_write_counters(struct perfetto *perfetto, const struct sharing *culprits, uint64_t parent)
{
    perfetto_write_levels(perfetto,
                          perfetto_write_track(perfetto, parent, "busy threads",
                                               "Threads that work, or wait for a lock or for other ranks.", "threads"),
                          culprits, offsetof(struct culprit_level, busy));
    perfetto_write_levels(perfetto,
                          perfetto_write_track(perfetto, parent, "blamed idleness",
                                               "Threads that are idle while another thread is busy.", "threads"),
                          culprits, offsetof(struct culprit_level, blamed));
    for (size_t i = 0; i < culprits->count; i++) {
        char *name = export_culprit_name(&culprits->top[i]), *title = memory_text("idle because of %s", name);
        perfetto_write_levels(perfetto,
                              perfetto_write_track(perfetto, parent, title,
                                                   "The part of blamed idleness that is due to this function.",
                                                   "threads"),
                              culprits, offsetof(struct culprit_level, culprit) + i * sizeof(double));
        free(title);
        free(name);
    }
}

static void perfetto_annotate(struct perfetto *perfetto, Perfetto__Protos__DebugAnnotation *annotation,
                              const char *name, double ns)
{
    *annotation = (Perfetto__Protos__DebugAnnotation)PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
    annotation->has_name_iid = annotation->has_double_value = true;
    annotation->name_iid = perfetto_name(perfetto, INTERNED_ANNOTATION, name);
    annotation->double_value = ns / 1e6;
}

/* Starts a slice for idle time, with the milliseconds blamed on each culprit. */
static void perfetto_write_idle(struct perfetto *perfetto, const struct sharing *culprits,
                                const struct idle_share *share, uint64_t track, uint64_t time_ns)
{
    Perfetto__Protos__DebugAnnotation entries[MOST_ANNOTATIONS], *list[MOST_ANNOTATIONS],
        blamed = PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
    Perfetto__Protos__DebugAnnotation *annotations = &blamed;
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    size_t count = 0;
    for (size_t i = 0; i < culprits->count; i++)
        if (share->culprit[i] > 0) {
            char *name = export_culprit_name(&culprits->top[i]);
            perfetto_annotate(perfetto, &entries[count++], name, share->culprit[i]);
            free(name);
        }
    if (share->others > 0)
        perfetto_annotate(perfetto, &entries[count++], "others", share->others);
    if (share->nobody > 0)
        perfetto_annotate(perfetto, &entries[count++], "nobody was busy", share->nobody);
    for (size_t i = 0; i < count; i++)
        list[i] = &entries[i];
    blamed.has_name_iid = true;
    blamed.name_iid = perfetto_name(perfetto, INTERNED_ANNOTATION, "because of, ms");
    blamed.n_dict_entries = count;
    blamed.dict_entries = list;
    event.n_debug_annotations = count > 0;
    event.debug_annotations = &annotations;
    event.has_name_iid = true;
    event.name_iid = perfetto_name(perfetto, INTERNED_EVENT, trace_state_name[PROFILE_TIME_IDLE]);
    perfetto_write_event(perfetto, time_ns, &event, SLICE_BEGINS, track);
}

static void perfetto_write_samples(struct perfetto *perfetto, const struct trace_lane *lane,
                                   const struct trace_span *span, uint64_t task)
{
    uint32_t pieces = export_traced_pieces(lane, span),
             stack = export_trace_stack(&perfetto->stacks, span->node, span->state);
    perfetto_stack(perfetto, stack);
    for (uint32_t i = 0; i < pieces; i++) {
        struct trace_span piece = export_traced_piece(span, pieces, i);
        Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
        Perfetto__Protos__StackSample sample = PERFETTO__PROTOS__STACK_SAMPLE__INIT;
        uint64_t samples = piece.samples;
        packet.has_timestamp = true;
        packet.timestamp = piece.begin_ns + (piece.end_ns - piece.begin_ns) / 2;
        packet.stack_sample = &sample;
        sample.has_task_context_iid = sample.has_callstack_iid = sample.has_primary_weight = true;
        sample.task_context_iid = task;
        sample.callstack_iid = stack;
        sample.primary_weight = piece.end_ns - piece.begin_ns;
        sample.n_follower_weights = 1;
        sample.follower_weights = &samples;
        perfetto_write(perfetto, &packet);
    }
}

/* Writes the samples of a thread, and a slice for each time in one state. *share is the share of the thread's
 * first idle span, and is advanced past its last. */
static void perfetto_write_spans(struct perfetto *perfetto, const struct sharing *culprits,
                                 const struct trace_lane *lane, uint64_t track, uint64_t task,
                                 const struct idle_share **share)
{
    for (size_t i = 0, end; i < lane->span_count && perfetto->good; i = end) {
        struct idle_share sum = {0};
        end = export_traced_run_end(lane, i);
        uint8_t state = lane->spans[i].state;
        for (size_t j = i; j < end; j++)
            export_sharing_add_share(&lane->spans[j], share, &sum);
        if (state == PROFILE_TIME_IDLE)
            perfetto_write_idle(perfetto, culprits, &sum, track, lane->spans[i].begin_ns);
        else
            perfetto_write_slice(perfetto, track, lane->spans[i].begin_ns, trace_state_name[state]);
        for (size_t j = i; j < end; j++)
            perfetto_write_samples(perfetto, lane, &lane->spans[j], task);
        perfetto_write_slice(perfetto, track, lane->spans[end - 1].end_ns, NULL);
    }
}

static void perfetto_write_traced_process(struct perfetto *perfetto, const struct traced_process *process,
                                          size_t number)
{
    const struct idle_share *share = process->culprits.share;
    if (!process->thread_count)
        return;
    export_trace_stacks_of(&perfetto->stacks, process->rows);
    uint64_t parent = perfetto_write_process(perfetto, process, number);
    perfetto_write_phases(perfetto, process, parent);
    perfetto_write_counters(perfetto, &process->culprits, parent);
    for (size_t i = 0; i < process->thread_count && perfetto->good; i++) {
        const struct traced_thread *thread = &process->threads[i];
        uint64_t track = perfetto_write_thread(perfetto, process, i);
        perfetto_write_spans(perfetto, &process->culprits, thread->lane, track,
                             perfetto_task(perfetto, process->pid, thread->tid), &share);
    }
}

static void perfetto_write_defaults(struct perfetto *perfetto)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    Perfetto__Protos__TracePacketDefaults defaults = PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
    Perfetto__Protos__StackSampleDefaults samples = PERFETTO__PROTOS__STACK_SAMPLE_DEFAULTS__INIT;
    Perfetto__Protos__StackSampleCounterDescriptor time = PERFETTO__PROTOS__STACK_SAMPLE_COUNTER_DESCRIPTOR__INIT,
                                                   count = time;
    Perfetto__Protos__StackSampleCounterDescriptor *followers = &count;
    Perfetto__Protos__TrackDescriptor root = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    time.name = "thread time";
    count.name = "samples";
    time.has_unit = count.has_unit = true;
    time.unit = UNIT_NANOSECONDS;
    count.unit = UNIT_COUNT;
    samples.source = "blame";
    samples.primary_descriptor = &time;
    samples.n_follower_descriptors = 1;
    samples.follower_descriptors = &followers;
    defaults.stack_sample_defaults = &samples;
    packet.trace_packet_defaults = &defaults;
    packet.has_sequence_flags = true;
    packet.sequence_flags = STATE_BEGINS;
    perfetto_write(perfetto, &packet);
    root.has_process_ordering = root.has_thread_ordering = true;
    root.process_ordering = root.thread_ordering = BY_RANK;
    perfetto_write_descriptor(perfetto, &root);
}

bool export_perfetto(FILE *out, const struct export_input *input)
{
    struct traced traced;
    struct perfetto perfetto = {.out = out, .good = true};
    export_traced_make(&traced, input->processes, input->process_count);
    perfetto_start(&perfetto);
    perfetto_write_defaults(&perfetto);
    for (size_t i = 0; i < input->process_count && perfetto.good; i++)
        perfetto_write_traced_process(&perfetto, &input->processes[i], i);
    int error = errno;
    perfetto_finish(&perfetto);
    export_traced_free(&traced);
    errno = error;
    return perfetto.good;
}
