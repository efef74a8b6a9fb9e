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
};

const char *row_pseudo_name(uint64_t code)
{
    const char *name = code < sizeof pseudo_names / sizeof *pseudo_names ? pseudo_names[code] : NULL;
    return name ? name : "<unknown>";
}

static enum row_kind frame_kind(const struct symbol_frame *frame)
{
    if (frame->construct == SYMBOL_PARALLEL)
        return ROW_PARALLEL;
    if (frame->construct == SYMBOL_TASK)
        return ROW_TASK;
    if (strcmp(frame->name, "<unknown function>") == 0)
        return ROW_PSEUDO;
    return frame->inlined ? ROW_INLINED : ROW_PROCEDURE;
}

/* The meaning of an address for its node. */
enum use {
    USE_CODE,
    USE_ENTRY,  /* entry of the runtime */
    USE_HOLDER, /* code of a thread that held what the node's thread waited for */
    USES
};

static uint32_t holder_name(struct strings *strings, const char *function)
{
    char name[PROFILE_MODULE_BYTES];
    snprintf(name, sizeof name, ROW_NAME_HOLDER, function);
    return strings_intern(strings, name);
}

static void add_place(struct builder *builder, uint64_t key, const struct symbol_frame *frame, enum row_kind kind,
                      enum use use)
{
    struct strings *strings = builder->rows->strings;
    memory_grow(&builder->places, &builder->place_capacity, builder->place_count, sizeof *builder->places);
    bool known = frame->at_line > 0 && *frame->at_file;
    char name[MPI_NAME_BYTES];
    const char *module = symbols_code_module(builder->symbols, key);
    struct function function = {
        .name = use == USE_HOLDER ? holder_name(strings, frame->name)
                                  : strings_intern(strings, mpi_function_name(module, frame->name, name)),
        .module = strings_intern(strings, module),
        .file = strings_intern(strings, frame->file),
        .line = frame->line,
    };
    builder->places[builder->place_count++] = (struct place){
        .function = rows_find_function(builder, kind, &function),
        .at_line = frame->at_line,
        .statement_file = strings_intern(strings, known ? frame->at_file : frame->file),
        /* Some code has no line. It counts for the function's first line, so that a function's cost is the
         * sum of its lines. */
        .statement_line = known                             ? frame->at_line
                          : *frame->file && frame->line > 0 ? frame->line
                                                            : 0,
        .kind = (uint8_t)kind,
        .fold = frame->merge_into_caller,
    };
}

/* Returns the innermost of the places at key; for other uses than code only the function on the stack. Looks
 * each key and use up once. */
static uint32_t rows_find_places(struct builder *builder, uint64_t key, enum use use)
{
    static const enum row_kind kinds[USES] = {[USE_ENTRY] = ROW_RUNTIME, [USE_HOLDER] = ROW_PSEUDO};
    uint32_t *slot = pair_map_slot(&builder->key_map, key, use);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    const struct symbol_frame *frames;
    size_t count = symbols_lookup(builder->symbols, key, &frames);
    uint32_t first = *slot = (uint32_t)builder->place_count;
    for (size_t i = use == USE_CODE ? 0 : count - 1; i < count; i++)
        add_place(builder, key, &frames[i], use == USE_CODE ? frame_kind(&frames[i]) : kinds[use], use);
    builder->places[builder->place_count - 1].outermost = true;
    return first;
}

static uint32_t add_pseudo_row(struct builder *builder, uint32_t parent, uint64_t code, int call_line)
{
    bool runtime = code == PROFILE_PSEUDO_BARRIER, called = runtime || code == PROFILE_PSEUDO_INTERPRETER_LOCK;
    return rows_find_named_row(builder, parent, runtime ? ROW_RUNTIME : ROW_PSEUDO, row_pseudo_name(code),
                               called ? call_line : 0);
}

/* Returns whether a row has a function's name. The two functions that a compiler makes of one construct have
 * the same name. */
static bool has_name_of(const struct builder *builder, uint32_t row, uint32_t function)
{
    return row && builder->rows->row[row].label->name == builder->functions[function]->name;
}

static uint32_t outermost_place(const struct builder *builder, uint32_t place)
{
    while (!builder->places[place].outermost)
        place++;
    return place;
}

/* Makes the rows of the places at one address, from the function on the stack to the deepest inlined one. */
static uint32_t add_place_rows(struct builder *builder, uint32_t first, uint32_t row, int call_line)
{
    for (uint32_t i = outermost_place(builder, first) + 1; i-- > first;) {
        const struct place *place = &builder->places[i];
        if (!place->fold || !has_name_of(builder, row, place->function))
            row = rows_find_function_row(builder, row, place->kind, place->function, call_line);
        call_line = place->at_line;
    }
    return row;
}

static uint32_t add_frame_rows(struct builder *builder, uint32_t node_idx, uint32_t row, int call_line, enum use use)
{
    uint32_t first = rows_find_places(builder, builder->profile->nodes[node_idx].key, use);
    builder->innermost[node_idx] = first;
    return add_place_rows(builder, first, row, call_line);
}

static uint32_t add_candidates_row(struct builder *builder, const char *candidates, uint32_t parent, int call_line)
{
    struct strings *strings = builder->rows->strings;
    uint32_t row = rows_find_named_row(builder, parent, ROW_PSEUDO, "<tail call>", call_line);
    builder->rows->row[row].note = strings_text(strings, strings_intern(strings, candidates));
    return row;
}

/* Makes the rows of a function that left the stack by a tail call; its inlined functions that jumped come
 * last. */
static uint32_t add_tail_row(struct builder *builder, const struct tail_frame *frame, uint32_t parent, int *call_line)
{
    int line = *call_line;
    *call_line = 0;
    if (frame->candidates)
        return add_candidates_row(builder, frame->candidates, parent, line);
    uint32_t first = rows_find_places(builder, frame->key, USE_CODE);
    uint32_t outermost = outermost_place(builder, first);
    uint32_t row = rows_find_function_row(builder, parent, builder->places[outermost].kind,
                                          builder->places[outermost].function, line);
    builder->rows->row[row].note = "tail call";
    if (!frame->at_jump) /* one of several possible jumps */
        return row;
    for (uint32_t i = outermost; i-- > first;)
        row = rows_find_function_row(builder, row, builder->places[i].kind, builder->places[i].function,
                                     builder->places[i + 1].at_line);
    *call_line = builder->places[first].at_line;
    return row;
}

/* Returns whether no frame can be missing between a caller and the next frame: the call leads there, or its
 * target is unknown. Most calls pass this test and need no search and no cached result. */
static bool is_whole(const struct builder *builder, uint64_t caller, uint64_t callee)
{
    struct symbols *symbols = builder->symbols;
    const struct symbol_call *call = symbols_call_at(symbols, caller);
    if (!call || !call->target)
        return !call || !*call->name;
    uint64_t entry = symbols_function_entry(symbols, call->target);
    return entry && entry == symbols_function_entry(symbols, callee);
}

/* Makes the rows of functions that are missing on the stack between a frame and its caller. If the user's
 * code called a runtime entry that jumped to another function of the runtime, *key becomes that entry, which
 * names the row. */
static uint32_t add_tail_rows(struct builder *builder, uint32_t node_idx, uint64_t callee, uint32_t parent,
                              int *call_line, uint64_t *key)
{
    const struct merged_node *node = &builder->profile->nodes[node_idx];
    const struct merged_node *caller = rows_caller_of(builder->profile, node);
    const struct tail_frame *frames;
    if (caller->kind != PROFILE_NODE_FRAME || is_whole(builder, caller->key, callee))
        return parent;
    size_t count = tail_calls_between(builder->symbols, caller->key, callee, &frames);
    for (size_t i = 0; i < count; i++) {
        if (node->kind == PROFILE_NODE_RUNTIME && PROFILE_KEY_MODULE(frames[i].key) == PROFILE_KEY_MODULE(node->key)) {
            *key = frames[i].key;
            break;
        }
        parent = add_tail_row(builder, &frames[i], parent, call_line);
    }
    return parent;
}

/* Returns the function that this call, or a tail call in its callee, passes to the runtime; 0 for none or
 * unknown. */
static uint64_t launched_body(struct symbols *symbols, uint64_t caller)
{
    const struct symbol_call *call = symbols_call_at(symbols, caller), *list;
    uint64_t body = call && call->launches ? call->body : 0;
    size_t count = call && call->target ? symbols_calls(symbols, call->target, &list) : 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].tail && list[i].launches)
            body = body ? 0 : list[i].body;
    return body;
}

/* Makes the rows of code on a fiber's stack: it is inside the region's function, which is not on that stack. */
static uint32_t add_fiber_rows(struct builder *builder, uint32_t node_idx, uint32_t parent, int call_line)
{
    const struct profile *profile = builder->profile;
    const struct merged_node *node = &profile->nodes[node_idx], *caller = &profile->nodes[node->parent];
    uint64_t body = caller->kind == PROFILE_NODE_FRAME ? launched_body(builder->symbols, caller->key) : 0, key = 0;
    if (!body)
        return add_pseudo_row(builder, parent, PROFILE_PSEUDO_FIBER, 0);
    parent = add_tail_rows(builder, node_idx, body, parent, &call_line, &key);
    return add_place_rows(builder, rows_find_places(builder, body, USE_CODE), parent, call_line);
}

static uint32_t add_runtime_row(struct builder *builder, uint64_t key, uint32_t parent, int call_line)
{
    if (key == PROFILE_PSEUDO_BARRIER)
        return add_pseudo_row(builder, parent, key, call_line);
    uint32_t place = rows_find_places(builder, key, USE_ENTRY);
    return rows_find_function_row(builder, parent, ROW_RUNTIME, builder->places[place].function, call_line);
}

/* Returns the row that shows a node's own metrics: for user code with a known line its statement. */
static uint32_t find_metric_row(struct builder *builder, uint32_t node_idx)
{
    uint32_t innermost = builder->innermost[node_idx];
    if (innermost == ROW_NONE || node_is_probe(&builder->profile->nodes[node_idx]) ||
        builder->places[innermost].statement_line <= 0)
        return builder->anchor[node_idx];
    return rows_find_statement_row(builder, builder->anchor[node_idx], &builder->places[innermost]);
}

/* Returns whether a node has counters. Callers must ask for nodes in order. */
static bool has_counters(struct builder *builder, uint32_t node_idx)
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
    uint32_t parent_place = builder->innermost[node->parent];
    uint32_t parent = builder->anchor[node->parent], shown_as = node_idx;
    uint64_t key = node->key;
    int call_line = parent_place != ROW_NONE ? builder->places[parent_place].at_line : 0;
    switch (node->kind) {
    case PROFILE_NODE_FRAME:
        parent = add_tail_rows(builder, node_idx, node->key, parent, &call_line, &key);
        parent = add_frame_rows(builder, node_idx, parent, call_line, USE_CODE);
        break;
    case PROFILE_NODE_HOLDER:
        parent = add_frame_rows(builder, node_idx, parent, 0, USE_HOLDER);
        break;
    case PROFILE_NODE_RUNTIME:
        if (node->key != PROFILE_PSEUDO_BARRIER)
            parent = add_tail_rows(builder, node_idx, node->key, parent, &call_line, &key);
        parent = add_runtime_row(builder, key, parent, call_line);
        break;
    case PROFILE_NODE_MPI:
        parent = rows_find_named_row(builder, parent, ROW_RUNTIME, mpi_call_name(node->key), call_line);
        break;
    case PROFILE_NODE_PSEUDO:
        parent = node->key == PROFILE_PSEUDO_FIBER ? add_fiber_rows(builder, node_idx, parent, call_line)
                                                   : add_pseudo_row(builder, parent, node->key, call_line);
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
    builder->anchor[node_idx] = builder->rows->node_context[node_idx] = parent;
    if (sums_are_zero(&node->metric) && !has_counters(builder, node_idx))
        return;
    uint32_t row = find_metric_row(builder, shown_as);
    builder->rows->node_row[node_idx] = builder->rows->node_context[node_idx] = builder->rows->node_context[shown_as] =
        row;
    if (node->kind != PROFILE_NODE_WAITERS) /* its idleness is included in its parent's */
        rows_add_exclusive(builder->rows, &builder->rows->row[row], &node->metric);
}

static void rows_add_before_start(struct builder *builder)
{
    if (!builder->profile->header.before_start_ns)
        return;
    struct profile_sums *sums = rows_alloc(builder->rows, 2 * sizeof *sums);
    *sums = profile_sums_before_start(&builder->profile->header, sums + 1);
    uint32_t row = add_pseudo_row(builder, 0, PROFILE_PSEUDO_BEFORE_START, 0);
    rows_add_exclusive(builder->rows, &builder->rows->row[row], sums);
    if (!(sums[1].no_core > 0))
        return;
    row = add_pseudo_row(builder, row, PROFILE_PSEUDO_NO_CORE, 0);
    rows_add_exclusive(builder->rows, &builder->rows->row[row], sums + 1);
}

static struct rows *new_rows(const struct profile *profile)
{
    static const struct row_label root_label = {.name = "<program root>", .module = "", .file = ""};
    struct rows *rows = memory_array(1, sizeof *rows);
    rows->threads = profile->header.threads_max ? profile->header.threads_max : 1;
    rows->cores = profile->header.cores ? profile->header.cores : 1;
    rows->job = profile->header.merged;
    rows->shared = profile->header.environment == 1;
    rows->events = profile_text(profile, "sample") != NULL;
    rows->error = error_terms_of(profile);
    rows->node_count = profile->node_count;
    rows->node_row = memory_array(profile->node_count, sizeof *rows->node_row);
    rows->node_context = memory_array(profile->node_count, sizeof *rows->node_context);
    rows->strings = strings_new();
    rows_append(rows, ROW_NONE, ROW_ROOT);
    memset(rows->node_row, 0xff, profile->node_count * sizeof *rows->node_row);
    rows->row[0].label = &root_label;
    return rows;
}

static void free_builder(struct builder *builder)
{
    pair_map_free(&builder->function_map);
    pair_map_free(&builder->key_map);
    pair_map_free(&builder->line_map);
    index_map_free(&builder->children);
    free(builder->functions);
    free(builder->lines);
    free(builder->places);
    free(builder->anchor);
    free(builder->innermost);
}

struct rows *rows_build(const struct profile *profile, struct symbols *symbols)
{
    struct rows *rows = new_rows(profile);
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
    rows_add_before_start(&builder);
    rows_read_misnested(&builder);
    rows_find_spreads(&builder);
    free_builder(&builder); /* frees memory before more is needed */
    rows_mark_foreign(rows, profile);
    rows_sum(rows);
    rows_add_extras(rows, profile);
    rows_order(rows, METRIC_ORDER, false);
    return rows;
}
