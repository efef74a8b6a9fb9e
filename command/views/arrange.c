#include "command/views/arrange.h"

#include <stdlib.h>
#include <string.h>

#include "command/profile/pair_map.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

/* A row of the tree whose cost a row of the view includes, with the caller up to which its call path has been
 * followed. */
struct instance {
    uint32_t row;
    uint32_t caller; /* the row of the tree that the view shows; equals `row` at the first level */
};

/* A row of the view and its instances, ordered by `row` (preorder). */
struct group {
    uint32_t view_row;
    uint32_t level;
    size_t count;
    struct instance *instances; /* owned by the group; NULL if the row is not expanded */
};

struct stack {
    struct group *groups;
    size_t count, capacity;
};

static struct rows *new_view_rows(const struct rows *rows)
{
    struct rows *view = rows_like(rows);
    view->by_exclusive = true;
    rows_append(view, ROW_NONE, ROW_ROOT);
    view->row[0] = rows->row[0];
    view->row[0].own_inclusive = view->row[0].own_exclusive = false;
    return view;
}

static void push_view_group(struct stack *stack, struct group group)
{
    memory_grow(&stack->groups, &stack->capacity, stack->count, sizeof group);
    stack->groups[stack->count++] = group;
}

/* Adds up the inclusive cost of instances, which are in preorder. An instance inside an earlier one adds
 * nothing. */
static void sum_instances(const struct rows *rows, struct rows *view, struct row *view_row,
                          const struct instance *instances, size_t count)
{
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows->row[instances[i].row];
        bool inside = instances[i].row < end;
        rows_add_exclusive(view, view_row, row->exclusive);
        rows_add_counters(view, view_row, inside ? NULL : row_counters(row, false), row_counters(row, true));
        if (inside)
            continue;
        rows_add_inclusive(view, view_row, row->inclusive);
        end = row->end;
    }
}

/* Instances that are to be divided into groups. */
struct keyed_instances {
    const struct instance *instances;
    uint64_t (*keys)[2]; /* each instance's group; an instance with keys[i][0] == ROW_NONE is left out */
    size_t count;
};

/* Appends one view row below view_parent for each group of instances, and pushes the groups, whose level is
 * `level`. A group keeps its instances' order. */
static void arrange_split(const struct rows *rows, struct rows *view, uint32_t view_parent, uint32_t level,
                          const struct keyed_instances *of, struct stack *stack)
{
    const struct instance *instances = of->instances;
    uint64_t(*keys)[2] = of->keys;
    size_t count = of->count;
    struct pair_map map = {0};
    size_t first = stack->count;
    for (size_t i = 0; i < count; i++) {
        if (keys[i][0] == ROW_NONE)
            continue;
        uint32_t *slot = pair_map_slot(&map, keys[i][0], keys[i][1]);
        if (*slot == PAIR_MAP_NEW) {
            *slot = (uint32_t)(stack->count - first);
            const struct row *like = &rows->row[instances[i].caller];
            uint32_t row = rows_append(view, view_parent, like->kind);
            push_view_group(stack, (struct group){.view_row = row, .level = level});
            struct row *to = &view->row[row];
            to->function = like->function;
            to->label = like->label;
            /* notes belong to calls, so rows of functions have none */
            to->note = level > 1 ? like->note : NULL;
            to->call_line = (int)keys[i][1];
        }
        stack->groups[first + *slot].count++;
    }
    for (size_t g = first; g < stack->count; g++) {
        struct group *group = &stack->groups[g];
        group->instances = memory_array(group->count, sizeof *group->instances);
        group->count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (keys[i][0] == ROW_NONE)
            continue;
        struct group *group = &stack->groups[first + *pair_map_slot(&map, keys[i][0], keys[i][1])];
        group->instances[group->count++] = instances[i];
        struct row *to = &view->row[group->view_row];
        if (rows->row[instances[i].caller].kind < to->kind)
            /* a function that is inlined in one instance and called in another is a procedure */
            to->kind = rows->row[instances[i].caller].kind;
    }
    for (size_t g = first; g < stack->count; g++)
        sum_instances(rows, view, &view->row[stack->groups[g].view_row], stack->groups[g].instances,
                      stack->groups[g].count);
    pair_map_free(&map);
}

/* Makes the first level of the bottom-up and flat views: the functions. */
static void split_functions(const struct rows *rows, struct rows *view, struct stack *stack)
{
    struct instance *instances = memory_array(rows->count, sizeof *instances);
    uint64_t(*keys)[2] = memory_array(rows->count, sizeof *keys);
    size_t count = 0;
    for (uint32_t i = 1; i < rows->count; i++) {
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        instances[count] = (struct instance){.row = i, .caller = i};
        keys[count++][0] = rows->row[i].function;
    }
    arrange_split(rows, view, 0, 1, &(struct keyed_instances){instances, keys, count}, stack);
    free(instances);
    free(keys);
}

static void expand_callers(const struct rows *rows, struct rows *view, struct group *group, struct stack *stack)
{
    uint64_t(*keys)[2] = memory_array(group->count, sizeof *keys);
    for (size_t i = 0; i < group->count; i++) {
        struct instance *instance = &group->instances[i];
        const struct row *callee = &rows->row[instance->caller];
        bool outermost = callee->parent == ROW_NONE || callee->parent == 0;
        keys[i][0] = outermost ? ROW_NONE : rows->row[callee->parent].function;
        keys[i][1] = (uint64_t)callee->call_line;
        if (!outermost)
            instance->caller = callee->parent;
    }
    arrange_split(rows, view, group->view_row, group->level + 1,
                  &(struct keyed_instances){group->instances, keys, group->count}, stack);
    free(keys);
}

static void free_stack(struct stack *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        free(stack->groups[i].instances);
    free(stack->groups);
}

struct rows *view_bottom_up(const struct rows *rows, enum metric metric, double least, uint32_t depth)
{
    uint32_t most = depth < VIEW_CALLERS_DEPTH ? depth : VIEW_CALLERS_DEPTH;
    struct rows *view = new_view_rows(rows);
    struct stack stack = {0};
    split_functions(rows, view, &stack);
    view->callers = true;
    while (stack.count) {
        struct group group = stack.groups[--stack.count];
        double value = row_value(view, &view->row[group.view_row], true, metric);
        bool wanted = group.level < most && value >= least;
        view->incomplete |= wanted && view->count > VIEW_CALLERS_ROWS;
        if (wanted && !view->incomplete)
            expand_callers(rows, view, &group, &stack);
        free(group.instances);
    }
    free_stack(&stack);
    rows_order(view, metric, true);
    return view;
}

/* Adds the cost of a statement row of the tree to the row of its source line, below its function. */
static void add_line_row(const struct rows *rows, struct rows *view, uint32_t view_function, uint32_t row,
                         struct pair_map *lines)
{
    const struct row *from = &rows->row[row];
    uint32_t *slot =
        pair_map_slot(lines, (uint64_t)view_function << 32 | from->function, (uint64_t)(unsigned)from->label->line);
    if (*slot == PAIR_MAP_NEW) {
        *slot = rows_append(view, view_function, ROW_STATEMENT);
        struct row *to = &view->row[*slot];
        to->function = from->function;
        to->label = from->label;
    }
    rows_add_exclusive(view, &view->row[*slot], from->exclusive);
    rows_add_inclusive(view, &view->row[*slot], from->exclusive);
    rows_add_counters(view, &view->row[*slot], row_counters(from, true), row_counters(from, true));
}

/* Adds the source lines of the functions on a stack. */
static void add_source_lines(const struct rows *rows, struct rows *view, const struct stack *stack)
{
    struct pair_map lines = {0};
    for (size_t g = 0; g < stack->count; g++)
        for (size_t i = 0; i < stack->groups[g].count; i++) {
            uint32_t instance = stack->groups[g].instances[i].row;
            for (uint32_t child = instance + 1; child < rows->row[instance].end; child = rows->row[child].end)
                if (rows->row[child].kind == ROW_STATEMENT)
                    add_line_row(rows, view, stack->groups[g].view_row, child, &lines);
        }
    pair_map_free(&lines);
}

static bool is_construct_row(const struct row *row)
{
    return row->kind == ROW_PARALLEL || row->kind == ROW_TASK || row->kind == ROW_RUNTIME;
}

/* Returns, by row, the innermost construct on the row's path; 0 if there is none. */
static uint32_t *find_constructs(const struct rows *rows)
{
    uint32_t *nearest = memory_array(rows->count, sizeof *nearest);
    for (uint32_t i = 1; i < rows->count; i++)
        nearest[i] = is_construct_row(&rows->row[i]) ? i : nearest[rows->row[i].parent];
    return nearest;
}

/* Returns a key for a text. Equal names have the same address, so the address can be the key. */
static uint64_t address_key(const char *text)
{
    return *text ? (uintptr_t)text : 0;
}

/* Turns a row that was made for a function into the row of the function's file or module. */
static void name_view_group(struct rows *view, uint32_t index, enum flat_by by)
{
    struct row *row = &view->row[index];
    struct row_label *label = rows_alloc(view, sizeof *label);
    const char *name = by == FLAT_FILE ? row->label->file : row->label->module;
    bool construct = by == FLAT_CONSTRUCT && is_construct_row(row);
    row->call_line = 0;
    if (construct)
        return;
    *label = (struct row_label){.name = name, .module = "", .file = by == FLAT_FILE ? name : ""};
    row->label = label;
    row->kind = by == FLAT_FILE ? ROW_FILE : ROW_MODULE;
    row->function = ROW_NONE;
    if (by == FLAT_CONSTRUCT || !*name) {
        row->kind = ROW_PSEUDO;
        label->file = "";
        label->name = by == FLAT_FILE ? "<no source file>" : by == FLAT_MODULE ? "<no module>" : "<outside constructs>";
    }
}

/* Makes the first level of flat views of files, modules or constructs. */
static void split_groups(const struct rows *rows, struct rows *view, enum flat_by by, struct stack *stack)
{
    struct instance *instances = memory_array(rows->count, sizeof *instances);
    uint64_t(*keys)[2] = memory_array(rows->count, sizeof *keys);
    uint32_t *nearest = find_constructs(rows);
    size_t count = 0;
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row_label *label = rows->row[i].label;
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        bool construct = by == FLAT_CONSTRUCT && nearest[i];
        instances[count] = (struct instance){.row = i, .caller = construct ? nearest[i] : i};
        keys[count][0] = construct;
        keys[count][1] = by == FLAT_FILE     ? address_key(label->file)
                         : by == FLAT_MODULE ? address_key(label->module)
                         : construct         ? rows->row[nearest[i]].function
                                             : 0;
        count++;
    }
    arrange_split(rows, view, 0, 1, &(struct keyed_instances){instances, keys, count}, stack);
    for (size_t g = 0; g < stack->count; g++)
        name_view_group(view, stack->groups[g].view_row, by);
    free(instances);
    free(keys);
    free(nearest);
}

/* Adds the functions of a group, and their lines. */
static void add_functions_of_group(const struct rows *rows, struct rows *view, const struct group *group)
{
    struct stack functions = {0};
    struct instance *instances = memory_array(group->count, sizeof *instances);
    uint64_t(*keys)[2] = memory_array(group->count, sizeof *keys);
    for (size_t i = 0; i < group->count; i++) {
        uint32_t row = group->instances[i].row;
        instances[i] = (struct instance){.row = row, .caller = row};
        keys[i][0] = rows->row[row].function;
    }
    arrange_split(rows, view, group->view_row, 1, &(struct keyed_instances){instances, keys, group->count}, &functions);
    add_source_lines(rows, view, &functions);
    free_stack(&functions);
    free(instances);
    free(keys);
}

struct rows *view_flat(const struct rows *rows, enum flat_by by, enum metric metric)
{
    struct rows *view = new_view_rows(rows);
    struct stack stack = {0};
    if (by == FLAT_FUNCTION) {
        split_functions(rows, view, &stack);
        add_source_lines(rows, view, &stack);
    } else {
        split_groups(rows, view, by, &stack);
        for (size_t g = 0; g < stack.count; g++)
            add_functions_of_group(rows, view, &stack.groups[g]);
    }
    free_stack(&stack);
    rows_order(view, metric, true);
    return view;
}
