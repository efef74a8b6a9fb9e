/* The call path profile of each phase. The function that began a phase is part of the phase's own row: what
 * is below that is what its code calls. */
#include <stdlib.h>
#include <string.h>

#include "cct/sums.h"
#include "report/profile/pair_map.h"
#include "report/rows/make.h"
#include "report/text/memory.h"
#include "report/tables/phases.h"
#include "report/views/arrange.h"

struct arranging {
    const struct rows *rows;
    const struct phase_table *table;
    struct rows *view;
    struct pair_map children; /* (row of the view, function), kind -> row of the view */
    uint32_t *group;          /* by name: its place in the table, ROW_NONE: none */
    uint32_t *phase;          /* by row: 1 + the name of the phase that the row is, 0: it is none */
    bool *began;              /* by row: the function that began a phase, part of the phase's row */
    uint32_t *target;         /* by row: the row of the view that it adds to */
};

static uint32_t find_child(struct arranging *to, uint32_t parent, const struct row *like)
{
    uint32_t *slot = pair_map_slot(&to->children, (uint64_t)parent << 32 | like->function, like->kind);
    if (*slot == PAIR_MAP_NEW) {
        *slot = rows_append(to->view, parent, (enum row_kind)like->kind);
        struct row *row = &to->view->row[*slot];
        row->function = like->function;
        row->label = like->label;
    }
    return *slot;
}

static void add(struct arranging *to, uint32_t target, const struct profile_sums *sums)
{
    rows_add_exclusive(to->view, &to->view->row[target], sums);
}

static void add_exact(struct arranging *to, uint32_t target, const struct profile_probe *probe)
{
    struct row *row = &to->view->row[target];
    if (probe->calls == 0)
        return;
    struct row_extra *extra =
        row->extra ? (struct row_extra *)row->extra : rows_alloc(to->view, sizeof *extra);
    sums_add_probe(&extra->probe, probe);
    row->extra = extra;
}

/* What an event inside itself has by the clock is part of the outer one's already. */
static void add_event(struct arranging *to, uint32_t index)
{
    struct profile_probe probe = to->rows->row[index].extra->probe;
    uint32_t above = to->rows->row[index].parent;
    while (above && to->target[above] != to->target[index])
        above = to->rows->row[above].parent;
    if (above)
        probe.inclusive_ns = 0;
    add_exact(to, to->target[index], &probe);
}

/* Rows of the first level, the program's for 0. */
static uint32_t row_of(const struct arranging *to, uint32_t name)
{
    uint32_t group = name <= to->table->profile->name_count ? to->group[name] : ROW_NONE;
    return group == ROW_NONE ? to->view->node_row[0] : to->view->node_row[group];
}

/* The phase's row that a row of the view is below. */
static uint32_t first_level(const struct arranging *to, uint32_t view_row)
{
    while (to->view->row[view_row].parent != 0)
        view_row = to->view->row[view_row].parent;
    return view_row;
}

/* Whether a row is the function that began the phase around it: the one on the stack, and what is inlined
 * into it around the begin. */
static bool is_beginner(const struct arranging *to, const struct row *row)
{
    uint32_t group = to->target[row->parent] - to->view->node_row[0];
    uint32_t name = group < to->table->group_count ? to->table->group[group].name : 0;
    char wanted[300];
    if (row_is_probe(row) || row->kind == ROW_PSEUDO)
        return false;
    if (row->parent == 0 || to->phase[row->parent])
        return true;
    if (row->kind != ROW_INLINED || !to->began[row->parent] || !name || !to->rows->begun_in ||
        name > to->table->profile->name_count || !to->rows->begun_in[name - 1])
        return false;
    int bytes = snprintf(wanted, sizeof wanted, "\n%s\n", row->label->name);
    return bytes < (int)sizeof wanted && strstr(to->rows->begun_in[name - 1], wanted);
}

static void take_row(struct arranging *to, uint32_t index)
{
    const struct row *row = &to->rows->row[index];
    uint32_t above = to->target[row->parent];
    if (row->kind == ROW_STATEMENT)
        return;
    if (to->phase[index]) {
        bool instance = to->phase[row->parent] == to->phase[index];
        to->target[index] = row_of(to, to->phase[index] - 1);
        if (!instance && first_level(to, above) != to->target[index]) { /* seen from the phase around it */
            uint32_t nested = find_child(to, above, row);
            add(to, nested, row->inclusive);
            add_exact(to, nested, row->extra ? &row->extra->probe : &(struct profile_probe){0});
        }
        add(to, to->target[index], row->exclusive);
        return;
    }
    to->began[index] = is_beginner(to, row);
    to->target[index] = to->began[index] ? above : find_child(to, above, row);
    add(to, to->target[index], row->exclusive);
    if (row_is_probe(row) && row->extra)
        add_event(to, index);
}

static void add_phases(struct arranging *to)
{
    const struct phase_table *table = to->table;
    for (uint32_t g = 0; g < table->group_count; g++) {
        const struct phase_group *group = &table->group[g];
        uint32_t row = rows_append(to->view, 0, ROW_PHASE);
        struct row_label *label = rows_alloc(to->view, sizeof *label);
        struct row_extra *extra = rows_alloc(to->view, sizeof *extra);
        *label = row_no_label;
        label->name = phase_name(table, group->name);
        extra->probe = group->probe;
        to->view->row[row].label = label;
        to->view->row[row].extra = extra; /* keeps it, sampled or not */
        to->view->node_row[g] = row;
        if (group->name <= table->profile->name_count)
            to->group[group->name] = g;
    }
}

/* Which rows are phases, and of which name. */
static void find_phases(struct arranging *to)
{
    const struct profile *profile = to->table->profile;
    for (uint32_t n = 1; n < profile->node_count; n++) {
        const struct merged_node *node = &profile->nodes[n];
        uint32_t row = to->rows->node_row[n];
        if (row == ROW_NONE)
            continue;
        if (node->kind == PROFILE_NODE_INSTANCE)
            node = &profile->nodes[node->parent];
        if (node->kind == PROFILE_NODE_PHASE)
            to->phase[row] = 1 + (uint32_t)node->key;
    }
}

static void start(struct arranging *to)
{
    size_t names = to->table->profile->name_count + 1, groups = to->table->group_count;
    to->group = memory_array(names, sizeof *to->group);
    memset(to->group, 0xff, names * sizeof *to->group);
    to->phase = memory_array(to->rows->count, sizeof *to->phase);
    to->target = memory_array(to->rows->count, sizeof *to->target);
    to->began = memory_array(to->rows->count, sizeof *to->began);
    to->view->node_row = memory_array(groups, sizeof *to->view->node_row);
    to->view->node_count = groups;
    rows_append(to->view, ROW_NONE, ROW_ROOT);
    to->view->row[0].label = to->rows->row[0].label;
    add_phases(to);
}

struct rows *view_phases(const struct rows *rows, const struct phase_table *table)
{
    struct arranging to = {.rows = rows, .table = table, .view = rows_like(rows)};
    start(&to);
    find_phases(&to);
    to.target[0] = row_of(&to, 0);
    add(&to, to.target[0], rows->row[0].exclusive);
    for (uint32_t i = 1; i < rows->count; i++)
        take_row(&to, i);
    pair_map_free(&to.children);
    free(to.group);
    free(to.phase);
    free(to.target);
    free(to.began);
    rows_sum(to.view);
    rows_order(to.view, METRIC_ORDER, false);
    return to.view;
}
