#include <stdlib.h>
#include <string.h>

#include "export/perfetto.h"
#include "report/text/format.h"
#include "report/text/memory.h"

/* All packets are of one sequence, whose interned data is never thrown away. */
#define SEQUENCE     1
#define STATE_NEEDED 2

typedef Perfetto__Protos__InternedData interned_data;
#define DATA_INIT PERFETTO__PROTOS__INTERNED_DATA__INIT

void perfetto_start(struct perfetto *perfetto)
{
    for (int i = 0; i < INTERNED_KINDS; i++)
        perfetto->strings[i] = strings_new();
    trace_stacks_start(&perfetto->stacks);
}

void perfetto_finish(struct perfetto *perfetto)
{
    for (int i = 0; i < INTERNED_KINDS; i++)
        strings_free(perfetto->strings[i]);
    trace_stacks_free(&perfetto->stacks);
    free(perfetto->packed);
}

void perfetto_write(struct perfetto *perfetto, Perfetto__Protos__TracePacket *packet)
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

static void write_data(struct perfetto *perfetto, interned_data *data)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    packet.interned_data = data;
    perfetto_write(perfetto, &packet);
}

/* A module is known by its path alone: a text, and a mapping of the same number. */
static void write_name(struct perfetto *perfetto, enum interned kind, uint64_t iid, const char *text)
{
    Perfetto__Protos__EventName event = PERFETTO__PROTOS__EVENT_NAME__INIT, *events = &event;
    Perfetto__Protos__DebugAnnotationName annotation = PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT, *annotations = &annotation;
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
    write_data(perfetto, &data);
}

uint64_t perfetto_name(struct perfetto *perfetto, enum interned kind, const char *text)
{
    char *clean = format_clean(*text ? text : "?", false); /* number 0 is none */
    uint32_t id = strings_intern(perfetto->strings[kind], clean);
    if (id > perfetto->string_count[kind]) {
        perfetto->string_count[kind] = id;
        write_name(perfetto, kind, id, clean);
    }
    free(clean);
    return id;
}

/* Rows join many addresses, so a frame has none: it has its source line, or, where that is not known, its module, in which readers tell frames
 * apart by their names then. */
static void write_frame(struct perfetto *perfetto, const struct trace_frame *entry, uint64_t iid)
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
    write_data(perfetto, &data);
}

static void write_stack(struct perfetto *perfetto, uint32_t number)
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
    write_data(perfetto, &data);
    free(frames);
}

void perfetto_stack(struct perfetto *perfetto, uint32_t stack)
{
    for (; perfetto->frame_count < perfetto->stacks.frame_count; perfetto->frame_count++)
        write_frame(perfetto, &perfetto->stacks.frames[perfetto->frame_count], perfetto->frame_count + 1);
    if (!perfetto->stacks.stacks[stack - 1].written)
        write_stack(perfetto, stack);
    perfetto->stacks.stacks[stack - 1].written = true;
}

uint64_t perfetto_task(struct perfetto *perfetto, int32_t pid, int32_t tid)
{
    Perfetto__Protos__StackSampleTaskContext task = PERFETTO__PROTOS__STACK_SAMPLE_TASK_CONTEXT__INIT, *tasks = &task;
    interned_data data = DATA_INIT;
    task.has_iid = task.has_pid = task.has_tid = true;
    task.iid = ++perfetto->task_count;
    task.pid = (uint32_t)pid;
    task.tid = (uint32_t)tid;
    data.n_stack_sample_task_contexts = 1;
    data.stack_sample_task_contexts = &tasks;
    write_data(perfetto, &data);
    return task.iid;
}
