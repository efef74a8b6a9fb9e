#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/perfetto.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define STATE_BEGINS      1
#define SLICE_BEGINS      1
#define SLICE_ENDS        2
#define COUNTER           4
#define UNIT_NANOSECONDS  1
#define UNIT_COUNT        9
#define BY_RANK           1
#define MOST_ANNOTATIONS  (SHARING_MOST + 2)

static void write_descriptor(struct perfetto *perfetto, Perfetto__Protos__TrackDescriptor *track)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    track->has_uuid = true;
    packet.track_descriptor = track;
    perfetto_write(perfetto, &packet);
}

/* A track below another one; `unit`: of a counter. Returns its uuid. */
static uint64_t write_track(struct perfetto *perfetto, uint64_t parent, const char *name, const char *description, const char *unit)
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
    write_descriptor(perfetto, &track);
    free(clean);
    return track.uuid;
}

static uint64_t write_process(struct perfetto *perfetto, const struct traced_process *process, size_t number)
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
    write_descriptor(perfetto, &track);
    return track.uuid;
}

static uint64_t write_thread(struct perfetto *perfetto, const struct traced_process *process, size_t number)
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
    write_descriptor(perfetto, &track);
    return track.uuid;
}

/* A slice's begin or end, or a counter's value. */
static void write_event(struct perfetto *perfetto, uint64_t time_ns, Perfetto__Protos__TrackEvent *event, int32_t type, uint64_t track)
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

static void write_slice(struct perfetto *perfetto, uint64_t track, uint64_t time_ns, const char *name)
{
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    event.has_name_iid = name != NULL;
    event.name_iid = name ? perfetto_name(perfetto, INTERNED_EVENT, name) : 0;
    write_event(perfetto, time_ns, &event, name ? SLICE_BEGINS : SLICE_ENDS, track);
}

static void write_counter(struct perfetto *perfetto, uint64_t track, uint64_t time_ns, double value)
{
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    event.has_double_counter_value = true;
    event.double_counter_value = value;
    write_event(perfetto, time_ns, &event, COUNTER, track);
}

static void write_phases(struct perfetto *perfetto, const struct traced_process *process, uint64_t parent)
{
    struct traced_phase *phases;
    size_t count = traced_phases(process, &phases);
    uint64_t track = count ? write_track(perfetto, parent, "phases", "As the samples of the first thread saw them.", NULL) : 0;
    for (size_t i = 0; i < count; i++)
        write_slice(perfetto, track, phases[i].time_ns, phases[i].begins ? phases[i].name : NULL);
    free(phases);
}

/* One counter: its value is what it is from then on; nothing is written while it stays. */
static void write_levels(struct perfetto *perfetto, uint64_t track, const struct sharing *culprits, size_t offset)
{
    double last = -1;
    for (size_t i = 0; i < culprits->level_count; i++) {
        double value = sharing_level(culprits, i, offset);
        if (value != last)
            write_counter(perfetto, track, culprits->begin_ns + i * culprits->window_ns, value);
        last = value;
    }
    if (last > 0)
        write_counter(perfetto, track, culprits->end_ns, 0);
}

static void write_counters(struct perfetto *perfetto, const struct sharing *culprits, uint64_t parent)
{
    write_levels(perfetto, write_track(perfetto, parent, "busy threads", "That work or wait for a lock or for other ranks.", "threads"), culprits,
                 offsetof(struct culprit_level, busy));
    write_levels(perfetto, write_track(perfetto, parent, "blamed idleness", "Threads that idle while another one is busy.", "threads"), culprits,
                 offsetof(struct culprit_level, blamed));
    for (size_t i = 0; i < culprits->count; i++) {
        char *name = culprit_name(&culprits->top[i]), *title = memory_text("idle because of %s", name);
        write_levels(perfetto, write_track(perfetto, parent, title, "Its part of blamed idleness.", "threads"), culprits,
                     offsetof(struct culprit_level, culprit) + i * sizeof(double));
        free(title);
        free(name);
    }
}

static void annotate(struct perfetto *perfetto, Perfetto__Protos__DebugAnnotation *annotation, const char *name, double ns)
{
    *annotation = (Perfetto__Protos__DebugAnnotation)PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
    annotation->has_name_iid = annotation->has_double_value = true;
    annotation->name_iid = perfetto_name(perfetto, INTERNED_ANNOTATION, name);
    annotation->double_value = ns / 1e6;
}

/* An idle slice says in milliseconds because of whom. */
static void write_idle(struct perfetto *perfetto, const struct sharing *culprits, const struct idle_share *share, uint64_t track, uint64_t time_ns)
{
    Perfetto__Protos__DebugAnnotation entries[MOST_ANNOTATIONS], *list[MOST_ANNOTATIONS], blamed = PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
    Perfetto__Protos__DebugAnnotation *annotations = &blamed;
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    size_t count = 0;
    for (size_t i = 0; i < culprits->count; i++)
        if (share->culprit[i] > 0) {
            char *name = culprit_name(&culprits->top[i]);
            annotate(perfetto, &entries[count++], name, share->culprit[i]);
            free(name);
        }
    if (share->others > 0)
        annotate(perfetto, &entries[count++], "others", share->others);
    if (share->nobody > 0)
        annotate(perfetto, &entries[count++], "nobody was busy", share->nobody);
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
    write_event(perfetto, time_ns, &event, SLICE_BEGINS, track);
}

static void write_samples(struct perfetto *perfetto, const struct trace_lane *lane, const struct trace_span *span, uint64_t task)
{
    uint32_t pieces = traced_pieces(lane, span), stack = trace_stack(&perfetto->stacks, span->node, span->state);
    perfetto_stack(perfetto, stack);
    for (uint32_t i = 0; i < pieces; i++) {
        struct trace_span piece = traced_piece(span, pieces, i);
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

/* Slices of the thread's states, and samples; `share`: of its next idle span, moved on. */
static void write_spans(struct perfetto *perfetto, const struct sharing *culprits, const struct trace_lane *lane, uint64_t track, uint64_t task,
                        const struct idle_share **share)
{
    for (size_t i = 0, end; i < lane->span_count && perfetto->good; i = end) {
        struct idle_share sum = {0};
        end = traced_run_end(lane, i);
        uint8_t state = lane->spans[i].state;
        for (size_t j = i; j < end; j++)
            sharing_add_share(&lane->spans[j], share, &sum);
        if (state == PROFILE_TIME_IDLE)
            write_idle(perfetto, culprits, &sum, track, lane->spans[i].begin_ns);
        else
            write_slice(perfetto, track, lane->spans[i].begin_ns, trace_state_name[state]);
        for (size_t j = i; j < end; j++)
            write_samples(perfetto, lane, &lane->spans[j], task);
        write_slice(perfetto, track, lane->spans[end - 1].end_ns, NULL);
    }
}

static void write_traced_process(struct perfetto *perfetto, const struct traced_process *process, size_t number)
{
    const struct idle_share *share = process->culprits.share;
    if (!process->thread_count)
        return;
    trace_stacks_of(&perfetto->stacks, process->rows);
    uint64_t parent = write_process(perfetto, process, number);
    write_phases(perfetto, process, parent);
    write_counters(perfetto, &process->culprits, parent);
    for (size_t i = 0; i < process->thread_count && perfetto->good; i++) {
        const struct traced_thread *thread = &process->threads[i];
        uint64_t track = write_thread(perfetto, process, i);
        write_spans(perfetto, &process->culprits, thread->lane, track, perfetto_task(perfetto, process->pid, thread->tid), &share);
    }
}

static void write_beginning(struct perfetto *perfetto)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    Perfetto__Protos__TracePacketDefaults defaults = PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
    Perfetto__Protos__StackSampleDefaults samples = PERFETTO__PROTOS__STACK_SAMPLE_DEFAULTS__INIT;
    Perfetto__Protos__StackSampleCounterDescriptor time = PERFETTO__PROTOS__STACK_SAMPLE_COUNTER_DESCRIPTOR__INIT, count = time;
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
    write_descriptor(perfetto, &root);
}

bool export_perfetto(FILE *out, struct traced_process *processes, size_t count)
{
    struct traced traced;
    struct perfetto perfetto = {.out = out, .good = true};
    traced_make(&traced, processes, count);
    perfetto_start(&perfetto);
    write_beginning(&perfetto);
    for (size_t i = 0; i < count && perfetto.good; i++)
        write_traced_process(&perfetto, &processes[i], i);
    int error = errno;
    perfetto_finish(&perfetto);
    traced_free(&traced);
    errno = error;
    return perfetto.good;
}
