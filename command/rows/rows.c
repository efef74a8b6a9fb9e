#include "command/rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/build.h"
#include "command/rows/error.h"
#include "command/rows/make.h"
#include "command/rows/mpi_names.h"
#include "command/rows/own.h"
#include "command/text/memory.h"

void (*rows_progress)(size_t done, size_t total);

const char *const row_kind_name[ROW_KINDS] = {
    [ROW_ROOT] = "root",           [ROW_PROCEDURE] = "procedure", [ROW_INLINED] = "inlined",
    [ROW_PARALLEL] = "parallel",   [ROW_TASK] = "task",           [ROW_STATEMENT] = "statement",
    [ROW_RUNTIME] = "runtime",     [ROW_PSEUDO] = "pseudo",       [ROW_FILE] = "file",
    [ROW_MODULE] = "module",       [ROW_PHASE] = "phase",         [ROW_EVENT] = "event",
    [ROW_PARAMETER] = "parameter",
};

static const char *const pseudo_names[] = {
    [PROFILE_PSEUDO_BEFORE_START] = "<before OpenMP start>",
    [PROFILE_PSEUDO_UNRELEASED] = "<unreleased lock>",
    [PROFILE_PSEUDO_TRUNCATED] = "<truncated>",
    [PROFILE_PSEUDO_UNRESOLVED] = "<unresolved>",
    [PROFILE_PSEUDO_BARRIER] = "<region end>",
    [PROFILE_PSEUDO_HANDOFF] = "<lock handoff>",
    [PROFILE_PSEUDO_TABLE_FULL] = "<lock table full>",
    [PROFILE_PSEUDO_HELPER] = "<hidden helper>",
    [PROFILE_PSEUDO_NO_CORE] = ROW_NAME_NO_CORE,
    [PROFILE_PSEUDO_UNTOLD_WAIT] = ROW_NAME_UNTOLD_WAIT,
    [PROFILE_PSEUDO_NOBODY] = ROW_NAME_NOBODY,
    [PROFILE_PSEUDO_STOPPED] = "<stopped>",
    [PROFILE_PSEUDO_INTERPRETER_LOCK] = "<waiting for the interpreter's lock>",
    [PROFILE_PSEUDO_FIBER] = "<fiber>",
    [PROFILE_PSEUDO_TREE_FULL] = "<tree full>",
    [PROFILE_PSEUDO_NO_THREAD_RAN] = "<no thread ran>",
    [PROFILE_PSEUDO_SPINNING] = ROW_NAME_SPINNING,
};

const char *row_pseudo_name(uint64_t code)
{
    const char *name = code < sizeof pseudo_names / sizeof *pseudo_names ? pseudo_names[code] : NULL;
    return name ? name : "<unknown>";
}

const char *rows_pseudo_name(const struct rows *rows, uint64_t code)
{
    return code == PROFILE_PSEUDO_BEFORE_START && rows->without_openmp ? "<before the measurement>"
                                                                       : row_pseudo_name(code);
}

static enum row_kind row_kind_of_frame(const struct symbol_frame *frame)
{
    if (frame->construct == SYMBOL_PARALLEL)
        return ROW_PARALLEL;
    if (frame->construct == SYMBOL_TASK)
        return ROW_TASK;
    if (strcmp(frame->name, "<unknown function>") == 0)
        return ROW_PSEUDO;
    return frame->inlined ? ROW_INLINED : ROW_PROCEDURE;
}

/* What an address means for the node that stores it. */
enum use {
    USE_CODE,
    USE_ENTRY,  /* entry point of the runtime */
    USE_HOLDER, /* code of another thread, which held what the node's thread waited for */
    USES
};

static uint32_t row_holder_name(struct strings *strings, const char *function)
{
    char name[PROFILE_MODULE_BYTES];
    snprintf(name, sizeof name, ROW_NAME_HOLDER, function);
    return strings_intern(strings, name);
}

static void rows_add_source_frame(struct builder *builder, uint64_t key, const struct symbol_frame *frame,
                                  enum row_kind kind, enum use use)
{
    struct strings *strings = builder->rows->strings;
    memory_grow(&builder->source_frames, &builder->source_frame_capacity, builder->source_frame_count,
                sizeof *builder->source_frames);
    bool known = frame->at_line > 0 && *frame->at_file;
    char name[MPI_NAME_BYTES];
    const char *module = symbols_code_module(builder->symbols, key);
    struct function function = {
        .name = use == USE_HOLDER ? row_holder_name(strings, frame->name)
                                  : strings_intern(strings, row_mpi_function_name(module, frame->name, name)),
        .module = strings_intern(strings, module),
        .file = strings_intern(strings, frame->file),
        .line = frame->line,
    };
    builder->source_frames[builder->source_frame_count++] = (struct source_frame){
        .function = rows_find_function(builder, kind, &function),
        .at_line = frame->at_line,
        .statement_file = strings_intern(strings, known ? frame->at_file : frame->file),
        /* The cost of code without a line is shown at the first line of the function. The cost of a function
         * is then the sum of its lines. */
        .statement_line = known                             ? frame->at_line
                          : *frame->file && frame->line > 0 ? frame->line
                                                            : 0,
        .kind = (uint8_t)kind,
        .merged = frame->merge_into_caller,
        .waits = frame->waits && use == USE_CODE,
        .updates = frame->updates && use == USE_CODE,
        .combines = frame->combines && use == USE_CODE,
    };
}

/* Returns the index of the innermost source frame at a key. Uses other than USE_CODE get only the function on
 * the stack. Each combination of key and use is looked up once. */
static uint32_t rows_find_source_frames(struct builder *builder, uint64_t key, enum use use)
{
    static const enum row_kind kinds[USES] = {[USE_ENTRY] = ROW_RUNTIME, [USE_HOLDER] = ROW_PSEUDO};
    uint32_t *slot = pair_map_slot(&builder->key_map, key, use);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    const struct symbol_frame *frames;
    size_t count = symbols_lookup(builder->symbols, key, &frames);
    uint32_t first = *slot = (uint32_t)builder->source_frame_count;
    for (size_t i = use == USE_CODE ? 0 : count - 1; i < count; i++)
        rows_add_source_frame(builder, key, &frames[i], use == USE_CODE ? row_kind_of_frame(&frames[i]) : kinds[use],
                              use);
    builder->source_frames[builder->source_frame_count - 1].outermost = true;
    return first;
}

static uint32_t rows_add_pseudo(struct builder *builder, uint32_t parent, uint64_t code, int call_line)
{
    bool runtime = code == PROFILE_PSEUDO_BARRIER,
         called = runtime || code == PROFILE_PSEUDO_INTERPRETER_LOCK || code == PROFILE_PSEUDO_SPINNING;
    return rows_find_named_row(builder, parent, runtime ? ROW_RUNTIME : ROW_PSEUDO,
                               rows_pseudo_name(builder->rows, code), called ? call_line : 0);
}

/* Returns whether a row has the name of a function. A compiler may make two functions of one construct; these
 * have the same name. */
static bool row_has_function_name(const struct builder *builder, uint32_t row, uint32_t function)
{
    return row && builder->rows->row[row].label->name == builder->functions[function]->name;
}

static uint32_t rows_outermost_frame(const struct builder *builder, uint32_t frame)
{
    while (!builder->source_frames[frame].outermost)
        frame++;
    return frame;
}

/* Creates the rows of all source frames at one address, from the function on the stack to the innermost
 * inlined one. Returns the row of the innermost one. */
static uint32_t rows_add_source_frames(struct builder *builder, uint32_t first, uint32_t row, int call_line)
{
    for (uint32_t i = rows_outermost_frame(builder, first) + 1; i-- > first;) {
        const struct source_frame *frame = &builder->source_frames[i];
        if (!frame->merged || !row_has_function_name(builder, row, frame->function))
            row = rows_find_function_row(builder, row, frame->kind, frame->function, call_line);
        call_line = frame->at_line;
    }
    return row;
}

static uint32_t rows_add_frame(struct builder *builder, uint32_t node_idx, uint32_t row, int call_line, enum use use)
{
    uint32_t first = rows_find_source_frames(builder, builder->profile->nodes[node_idx].key, use);
    builder->innermost[node_idx] = first;
    return rows_add_source_frames(builder, first, row, call_line);
}

static uint32_t rows_add_candidates(struct builder *builder, const char *candidates, uint32_t parent, int call_line)
{
    struct strings *strings = builder->rows->strings;
    uint32_t row = rows_find_named_row(builder, parent, ROW_PSEUDO, "<tail call>", call_line);
    builder->rows->row[row].note = strings_text(strings, strings_intern(strings, candidates));
    return row;
}

/* Creates the row of a function that left the stack by a tail call, and rows for the functions inlined at its
 * jump. Returns the last of these rows. */
static uint32_t rows_add_tail_call(struct builder *builder, const struct tail_frame *frame, uint32_t parent,
                                   int *call_line)
{
    int line = *call_line;
    *call_line = 0;
    if (frame->candidates)
        return rows_add_candidates(builder, frame->candidates, parent, line);
    uint32_t first = rows_find_source_frames(builder, frame->key, USE_CODE);
    uint32_t outermost = rows_outermost_frame(builder, first);
    uint32_t row = rows_find_function_row(builder, parent, builder->source_frames[outermost].kind,
                                          builder->source_frames[outermost].function, line);
    builder->rows->row[row].note = "tail call";
    if (!frame->at_jump) /* several jumps are possible, so the inlined functions are unknown */
        return row;
    for (uint32_t i = outermost; i-- > first;)
        row = rows_find_function_row(builder, row, builder->source_frames[i].kind, builder->source_frames[i].function,
                                     builder->source_frames[i + 1].at_line);
    *call_line = builder->source_frames[first].at_line;
    return row;
}

/* Returns whether no frame can be missing between a caller and the next frame. This is certain if the call
 * leads to the next frame's function, and assumed if the target of the call is unknown. Most calls pass this
 * test. They need no search, and no result in the cache. */
static bool rows_call_is_whole(const struct builder *builder, uint64_t caller, uint64_t callee)
{
    struct symbols *symbols = builder->symbols;
    const struct symbol_call *call = symbols_call_at(symbols, caller);
    if (!call || !call->target)
        return !call || !*call->name;
    uint64_t entry = symbols_function_entry(symbols, call->target);
    return entry && entry == symbols_function_entry(symbols, callee);
}

/* Creates the rows of the functions that are missing on the stack between a frame and its caller. Returns the
 * last of these rows. If the user's code called a runtime entry that jumped to another function of the
 * runtime, sets *key to the entry, which gives the row its name. */
static uint32_t rows_add_tail_calls(struct builder *builder, uint32_t node_idx, uint64_t callee, uint32_t parent,
                                    int *call_line, uint64_t *key)
{
    const struct merged_node *node = &builder->profile->nodes[node_idx];
    const struct merged_node *caller = rows_caller_of(builder->profile, node);
    const struct tail_frame *frames;
    if (caller->kind != PROFILE_NODE_FRAME || rows_call_is_whole(builder, caller->key, callee))
        return parent;
    bool runtime = node->kind == PROFILE_NODE_RUNTIME;
    size_t count =
        (runtime ? tail_calls_into_runtime : tail_calls_between)(builder->symbols, caller->key, callee, &frames);
    for (size_t i = 0; i < count; i++) {
        if (runtime && PROFILE_KEY_MODULE(frames[i].key) == PROFILE_KEY_MODULE(node->key)) {
            *key = frames[i].key;
            break;
        }
        parent = rows_add_tail_call(builder, &frames[i], parent, call_line);
    }
    return parent;
}

/* Returns the function that a call passes to the runtime. The call may do this itself, or its callee may do
 * it by a tail call. Returns 0 if there is none or if it is unknown. */
static uint64_t rows_launched_body(struct symbols *symbols, uint64_t caller)
{
    const struct symbol_call *call = symbols_call_at(symbols, caller), *list;
    uint64_t body = call && call->launches ? call->body : 0;
    size_t count = call && call->target ? symbols_calls(symbols, call->target, &list) : 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].tail && list[i].launches)
            body = body ? 0 : list[i].body;
    return body;
}

/* Creates the rows of code on a fiber's stack. The region's function, inside which this code runs, is not on
 * that stack. */
static uint32_t rows_add_fiber(struct builder *builder, uint32_t node_idx, uint32_t parent, int call_line)
{
    const struct profile *profile = builder->profile;
    const struct merged_node *node = &profile->nodes[node_idx], *caller = &profile->nodes[node->parent];
    uint64_t body = caller->kind == PROFILE_NODE_FRAME ? rows_launched_body(builder->symbols, caller->key) : 0, key = 0;
    if (!body)
        return rows_add_pseudo(builder, parent, PROFILE_PSEUDO_FIBER, 0);
    parent = rows_add_tail_calls(builder, node_idx, body, parent, &call_line, &key);
    return rows_add_source_frames(builder, rows_find_source_frames(builder, body, USE_CODE), parent, call_line);
}

static uint32_t rows_add_runtime(struct builder *builder, uint64_t key, uint32_t parent, int call_line)
{
    if (key == PROFILE_PSEUDO_BARRIER)
        return rows_add_pseudo(builder, parent, key, call_line);
    uint32_t frame = rows_find_source_frames(builder, key, USE_ENTRY);
    return rows_find_function_row(builder, parent, ROW_RUNTIME, builder->source_frames[frame].function, call_line);
}

/* Returns the row that shows a node's own metrics. For user code with a known line, this is the row of the
 * statement. */
static uint32_t rows_find_metric_row(struct builder *builder, uint32_t node_idx)
{
    uint32_t innermost = builder->innermost[node_idx];
    if (innermost == ROW_NONE || rows_node_is_probe(&builder->profile->nodes[node_idx]) ||
        builder->source_frames[innermost].statement_line <= 0)
        return builder->anchor[node_idx];
    return rows_find_statement_row(builder, builder->anchor[node_idx], &builder->source_frames[innermost]);
}

/* Creates the row of a function that called the runtime by a tail call, which took or released the lock of the
 * node. Returns the row of the jump, or ROW_NONE if the code on the stack made the call. */
static uint32_t rows_add_lock_jump(struct builder *builder, uint32_t node_idx)
{
    const struct merged_node *nodes = builder->profile->nodes;
    uint32_t context = nodes[node_idx].parent, innermost = builder->innermost[context];
    const struct tail_frame *frames = NULL;
    bool is_code = nodes[context].kind == PROFILE_NODE_FRAME;
    size_t count = is_code ? tail_calls_to_lock(builder->symbols, nodes[context].key, &frames) : 0;
    if (!count)
        return ROW_NONE;
    int call_line = builder->source_frames[innermost].at_line;
    uint32_t row = builder->anchor[context];
    for (size_t i = 0; i < count; i++)
        row = rows_add_tail_call(builder, &frames[i], row, &call_line);
    if (!frames[count - 1].at_jump)
        return row;
    uint32_t jump = rows_find_source_frames(builder, frames[count - 1].key, USE_CODE);
    const struct source_frame *frame = &builder->source_frames[jump];
    return frame->statement_line > 0 ? rows_find_statement_row(builder, row, frame) : row;
}

/* Returns whether a node has counters. The nodes must be passed in ascending order. */
static bool rows_node_has_counters(struct builder *builder, uint32_t node_idx)
{
    const struct profile *profile = builder->profile;
    while (builder->next_counters < profile->counters_count &&
           profile->counters[builder->next_counters].node < node_idx)
        builder->next_counters++;
    return builder->next_counters < profile->counters_count &&
           profile->counters[builder->next_counters].node == node_idx;
}

static void rows_add_node(struct builder *builder, uint32_t node_idx)
{
    const struct merged_node *node = &builder->profile->nodes[node_idx];
    uint32_t parent_frame = builder->innermost[node->parent];
    uint32_t parent = builder->anchor[node->parent], shown_as = node_idx;
    uint64_t key = node->key;
    int call_line = parent_frame != ROW_NONE ? builder->source_frames[parent_frame].at_line : 0;
    switch (node->kind) {
    case PROFILE_NODE_FRAME:
        parent = rows_add_tail_calls(builder, node_idx, node->key, parent, &call_line, &key);
        parent = rows_add_frame(builder, node_idx, parent, call_line, USE_CODE);
        break;
    case PROFILE_NODE_HOLDER:
        parent = rows_add_frame(builder, node_idx, parent, 0, USE_HOLDER);
        break;
    case PROFILE_NODE_RUNTIME:
        if (node->key != PROFILE_PSEUDO_BARRIER)
            parent = rows_add_tail_calls(builder, node_idx, node->key, parent, &call_line, &key);
        parent = rows_add_runtime(builder, key, parent, call_line);
        break;
    case PROFILE_NODE_MPI:
        parent = rows_find_named_row(builder, parent, ROW_RUNTIME, row_mpi_call_name(node->key), call_line);
        break;
    case PROFILE_NODE_PSEUDO:
        parent = node->key == PROFILE_PSEUDO_FIBER ? rows_add_fiber(builder, node_idx, parent, call_line)
                                                   : rows_add_pseudo(builder, parent, node->key, call_line);
        break;
    case PROFILE_NODE_LOCK:
    case PROFILE_NODE_WAITERS:
    case PROFILE_NODE_RANKS:
        shown_as = node->parent;
        break;
    case PROFILE_NODE_PHASE:
    case PROFILE_NODE_EVENT:
    case PROFILE_NODE_PARAMETER:
    case PROFILE_NODE_INSTANCE:
        parent = rows_add_probe(builder, node_idx, parent);
        builder->rows->node_row[node_idx] = parent;
        break;
    }
    uint32_t innermost = builder->innermost[node_idx];
    builder->rows->node_waits[node_idx] =
        builder->rows->node_waits[node->parent] || (innermost != ROW_NONE && builder->source_frames[innermost].waits);
    builder->rows->node_updates[node_idx] =
        innermost != ROW_NONE ? builder->source_frames[innermost].updates
                              : node->kind == PROFILE_NODE_PSEUDO && builder->rows->node_updates[node->parent];
    builder->rows->node_combines[node_idx] = innermost != ROW_NONE && builder->source_frames[innermost].combines;
    builder->anchor[node_idx] = builder->rows->node_context[node_idx] = parent;
    if (rows_sums_are_zero(&node->metric) && !rows_node_has_counters(builder, node_idx))
        return;
    uint32_t row = node->kind == PROFILE_NODE_LOCK ? rows_add_lock_jump(builder, node_idx) : ROW_NONE;
    if (row == ROW_NONE)
        row = builder->rows->node_context[shown_as] = rows_find_metric_row(builder, shown_as);
    builder->rows->node_row[node_idx] = builder->rows->node_context[node_idx] = row;
    if (node->kind != PROFILE_NODE_WAITERS) /* the idleness of a WAITERS node is included in its parent's */
        rows_add_exclusive(builder->rows, &builder->rows->row[row], &node->metric);
}

static void rows_add_before_start(struct builder *builder)
{
    if (!builder->profile->header.before_start_ns)
        return;
    struct profile_sums *sums = rows_alloc(builder->rows, 2 * sizeof *sums);
    *sums = profile_sums_before_start(&builder->profile->header, sums + 1);
    uint32_t row = rows_add_pseudo(builder, 0, PROFILE_PSEUDO_BEFORE_START, 0);
    rows_add_exclusive(builder->rows, &builder->rows->row[row], sums);
    if (!(sums[1].no_core > 0))
        return;
    row = rows_add_pseudo(builder, row, PROFILE_PSEUDO_NO_CORE, 0);
    rows_add_exclusive(builder->rows, &builder->rows->row[row], sums + 1);
}

static struct rows *rows_new(const struct profile *profile)
{
    static const struct row_label root_label = {.name = "<program root>", .module = "", .file = ""};
    struct rows *rows = memory_array(1, sizeof *rows);
    rows->threads = profile->header.threads_max ? profile->header.threads_max : 1;
    rows->cores = profile->header.cores ? profile->header.cores : 1;
    rows->cores_ns = 1e9 * rows->cores * profile_wall_s(profile);
    rows->job = profile->header.merged;
    rows->without_team = profile->header.without_team;
    rows->without_openmp = profile_without_openmp(profile);
    rows->shared = profile->header.environment == 1;
    rows->events = profile_text(profile, "sample") != NULL;
    rows->error = error_terms_of(profile);
    rows->node_count = profile->node_count;
    rows->node_row = memory_array(profile->node_count, sizeof *rows->node_row);
    rows->node_context = memory_array(profile->node_count, sizeof *rows->node_context);
    rows->node_waits = memory_array(profile->node_count, sizeof *rows->node_waits);
    rows->node_updates = memory_array(profile->node_count, sizeof *rows->node_updates);
    rows->node_combines = memory_array(profile->node_count, sizeof *rows->node_combines);
    rows->strings = strings_new();
    rows_append(rows, ROW_NONE, ROW_ROOT);
    memset(rows->node_row, 0xff, profile->node_count * sizeof *rows->node_row);
    rows->row[0].label = &root_label;
    return rows;
}

static void rows_builder_free(struct builder *builder)
{
    pair_map_free(&builder->function_map);
    pair_map_free(&builder->key_map);
    pair_map_free(&builder->line_map);
    index_map_free(&builder->children);
    free(builder->functions);
    free(builder->lines);
    free(builder->source_frames);
    free(builder->anchor);
    free(builder->innermost);
}

struct rows *rows_build(const struct profile *profile, struct symbols *symbols)
{
    struct rows *rows = rows_new(profile);
    struct builder builder = {.profile = profile,
                              .symbols = symbols,
                              .rows = rows,
                              .anchor = memory_array(profile->node_count, sizeof *builder.anchor),
                              .innermost = memory_array(profile->node_count, sizeof *builder.innermost)};
    memset(builder.innermost, 0xff, profile->node_count * sizeof *builder.innermost);
    rows->node_row[0] = 0;
    rows_add_exclusive(rows, &rows->row[0], &profile->nodes[0].metric);
    for (uint32_t i = 1; i < profile->node_count; i++) {
        rows_add_node(&builder, i);
        if (rows_progress && i % 1024 == 0)
            rows_progress(i, profile->node_count);
    }
    for (size_t i = 0; i < profile->wake_count; i++)
        rows->row[row_of_node(rows, profile->wakes[i].waker)].kept = true;
    rows_add_before_start(&builder);
    rows_read_misnested(&builder);
    rows_find_spreads(&builder);
    rows_builder_free(&builder); /* frees memory before the next steps need more */
    rows_mark_foreign(rows, profile);
    rows_sum(rows);
    rows_add_extras(rows, profile);
    rows_order(rows, METRIC_ORDER, false);
    return rows;
}
