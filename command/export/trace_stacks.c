#include "command/export/trace_stacks.h"

#include <stdlib.h>

#include "command/text/memory.h"

const char *const trace_state_name[PROFILE_TIME_STATES] = {
    [PROFILE_TIME_WORK] = "work",           [PROFILE_TIME_OVERHEAD] = "overhead", [PROFILE_TIME_IDLE] = "idle",
    [PROFILE_TIME_LOCK_WAIT] = "lock wait", [PROFILE_TIME_MPI_WAIT] = "mpi wait", [PROFILE_TIME_NO_CORE] = "no core",
    [PROFILE_TIME_BLOCKED] = "blocked",     [PROFILE_TIME_STOPPED] = "stopped",
};

const struct row_label trace_state_label[PROFILE_TIME_STATES] = {
    [PROFILE_TIME_OVERHEAD] = {"<overhead>", "", "", 0},    [PROFILE_TIME_IDLE] = {"<idle>", "", "", 0},
    [PROFILE_TIME_LOCK_WAIT] = {"<lock wait>", "", "", 0},  [PROFILE_TIME_MPI_WAIT] = {"<mpi wait>", "", "", 0},
    [PROFILE_TIME_NO_CORE] = {ROW_NAME_NO_CORE, "", "", 0}, [PROFILE_TIME_BLOCKED] = {"<blocked>", "", "", 0},
    [PROFILE_TIME_STOPPED] = {"<stopped>", "", "", 0},
};

static uint32_t export_trace_function_of(struct trace_stacks *stacks, const struct row_label *label)
{
    uint32_t *known = pair_map_slot(&stacks->label_map, (uintptr_t)label, 0);
    if (*known != PAIR_MAP_NEW)
        return *known;
    uint64_t name = strings_intern(stacks->texts, label->name), module = strings_intern(stacks->texts, label->module);
    uint64_t file = strings_intern(stacks->texts, label->file);
    uint32_t *function = pair_map_slot(&stacks->function_map, name << 32 | file, module << 32 | (uint32_t)label->line);
    if (*function == PAIR_MAP_NEW) {
        memory_grow(&stacks->functions, &stacks->function_room, stacks->function_count, sizeof *stacks->functions);
        stacks->functions[stacks->function_count++] = label;
        *function = (uint32_t)stacks->function_count;
    }
    return *known = *function;
}

static uint32_t export_trace_stack_push(struct trace_stacks *stacks, uint32_t parent, const struct row_label *label,
                                        int line, uint8_t state)
{
    uint32_t function = export_trace_function_of(stacks, label);
    uint32_t *frame = pair_map_slot(&stacks->frame_map, function, (uint32_t)line);
    if (*frame == PAIR_MAP_NEW) {
        memory_grow(&stacks->frames, &stacks->frame_room, stacks->frame_count, sizeof *stacks->frames);
        stacks->frames[stacks->frame_count++] = (struct trace_frame){function, line, state};
        *frame = (uint32_t)stacks->frame_count;
    }
    uint32_t *stack = pair_map_slot(&stacks->stack_map, parent, *frame);
    if (*stack == PAIR_MAP_NEW) {
        memory_grow(&stacks->stacks, &stacks->stack_room, stacks->stack_count, sizeof *stacks->stacks);
        stacks->stacks[stacks->stack_count++] = (struct trace_stack){parent, *frame, false};
        *stack = (uint32_t)stacks->stack_count;
    }
    return *stack;
}

/* Adds the functions around a row to the tree of stacks, outermost first. The root is the whole program, so
 * it is left out unless it is the only row. */
static uint32_t export_trace_stack_push_rows(struct trace_stacks *stacks, uint32_t leaf)
{
    const struct row *rows = stacks->rows->row;
    int line = 0;
    if (rows[leaf].kind == ROW_STATEMENT) {
        line = rows[leaf].label->line;
        leaf = rows[leaf].parent;
    }
    uint32_t *path = memory_array(rows[leaf].depth + 1u, sizeof *path), depth = 0, stack = 0;
    for (uint32_t row = leaf; row != 0; row = rows[row].parent)
        path[depth++] = row;
    if (!depth)
        path[depth++] = 0;
    while (depth-- > 0)
        stack = export_trace_stack_push(stacks, stack, rows[path[depth]].label,
                                        depth ? rows[path[depth - 1]].call_line : line, PROFILE_TIME_WORK);
    free(path);
    return stack;
}

uint32_t export_trace_stack(struct trace_stacks *stacks, uint32_t node, uint8_t state)
{
    uint32_t *known = pair_map_slot(&stacks->span_map, node, state);
    if (*known != PAIR_MAP_NEW)
        return *known;
    uint32_t row = row_of_node(stacks->rows, node), stack = 0;
    const struct row_label *label = &trace_state_label[state];
    /* the row itself is named after the state */
    if (label->name && strcmp(stacks->rows->row[row].label->name, label->name) == 0)
        row = stacks->rows->row[row].parent;
    if (node != 0 || !label->name)
        stack = export_trace_stack_push_rows(stacks, row);
    if (label->name)
        stack = export_trace_stack_push(stacks, stack, label, 0, state);
    return *pair_map_slot(&stacks->span_map, node, state) = stack;
}

void export_trace_stacks_start(struct trace_stacks *stacks)
{
    *stacks = (struct trace_stacks){.texts = strings_new()};
}

void export_trace_stacks_of(struct trace_stacks *stacks, const struct rows *rows)
{
    pair_map_free(&stacks->span_map);
    pair_map_free(&stacks->label_map);
    stacks->span_map = stacks->label_map = (struct pair_map){0};
    stacks->rows = rows;
}

void export_trace_stacks_free(struct trace_stacks *stacks)
{
    strings_free(stacks->texts);
    pair_map_free(&stacks->label_map);
    pair_map_free(&stacks->function_map);
    pair_map_free(&stacks->frame_map);
    pair_map_free(&stacks->stack_map);
    pair_map_free(&stacks->span_map);
    free(stacks->functions);
    free(stacks->frames);
    free(stacks->stacks);
}
