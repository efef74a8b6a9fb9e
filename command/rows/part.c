#include "command/rows/part.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

struct part {
    const struct rows *rows;
    const struct profile *profile;
    const uint32_t *node;
    struct rows *view;
    /* for each row of the whole measurement: index of the same row in the view; ROW_NONE if the part has no
     * cost there */
    uint32_t *target;
};

/* Returns the whole's row for a node of the part; ROW_NONE if the part has no cost at the node or below it. */
static uint32_t rows_part_row_of(const struct part *part, uint32_t index)
{
    uint32_t node = part->node[index];
    return part->rows->node_row[node] != ROW_NONE ? part->rows->node_row[node] : part->rows->node_context[node];
}

/* Returns the child of a row that is the pseudo row with this code; the parent itself if there is none. */
static uint32_t rows_part_find_pseudo_row(const struct rows *rows, uint32_t parent, uint64_t code)
{
    for (uint32_t i = parent + 1; i < rows->row[parent].end; i = rows->row[i].end)
        if (rows->row[i].kind == ROW_PSEUDO && strcmp(rows->row[i].label->name, rows_pseudo_name(rows, code)) == 0)
            return i;
    return parent;
}

static void rows_part_want_row(struct part *part, uint32_t row)
{
    for (; row != ROW_NONE && part->target[row] == ROW_NONE; row = part->rows->row[row].parent)
        part->target[row] = 0; /* not ROW_NONE: the row is wanted; rows_part_copy_rows() sets its index */
}

static void rows_part_want_rows(struct part *part)
{
    const struct profile *profile = part->profile;
    memset(part->target, 0xff, part->rows->count * sizeof *part->target);
    rows_part_want_row(part, 0);
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (profile->nodes[i].kind != PROFILE_NODE_WAITERS && !rows_sums_are_zero(&profile->nodes[i].metric))
            rows_part_want_row(part, rows_part_row_of(part, i));
    for (size_t i = 0; i < profile->probe_count; i++)
        rows_part_want_row(part, rows_part_row_of(part, profile->probes[i].node));
    for (size_t i = 0; i < profile->counters_count; i++)
        rows_part_want_row(part, rows_part_row_of(part, profile->counters[i].node));
    if (!profile->header.before_start_ns)
        return;
    uint32_t before = rows_part_find_pseudo_row(part->rows, 0, PROFILE_PSEUDO_BEFORE_START);
    rows_part_want_row(part, before);
    if (profile->header.before_no_core_ns)
        rows_part_want_row(part, rows_part_find_pseudo_row(part->rows, before, PROFILE_PSEUDO_NO_CORE));
}

static uint32_t *rows_part_copy_rows(struct part *part)
{
    const struct rows *rows = part->rows;
    struct rows *view = part->view;
    size_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        count += part->target[i] != ROW_NONE;
    uint32_t *whole = memory_array(count, sizeof *whole);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (part->target[i] == ROW_NONE)
            continue;
        const struct row *from = &rows->row[i];
        uint32_t made = rows_append(view, i ? part->target[from->parent] : ROW_NONE, (enum row_kind)from->kind);
        struct row *row = &view->row[made];
        row->depth = from->depth;
        row->call_line = from->call_line;
        row->function = from->function;
        row->foreign = from->foreign;
        row->label = from->label;
        row->note = from->note;
        row->end = made + 1;
        part->target[i] = made;
        whole[made] = i;
    }
    for (size_t i = view->count; i-- > 1;)
        if (view->row[view->row[i].parent].end < view->row[i].end)
            view->row[view->row[i].parent].end = view->row[i].end;
    return whole;
}

static void rows_part_add_sums(struct part *part, uint32_t row, const struct profile_sums *sums)
{
    rows_add_exclusive(part->view, &part->view->row[part->target[row]], sums);
}

static void rows_part_add_before_start(struct part *part)
{
    if (!part->profile->header.before_start_ns)
        return;
    struct profile_sums *sums = rows_alloc(part->view, 2 * sizeof *sums);
    *sums = profile_sums_before_start(&part->profile->header, sums + 1);
    uint32_t row = rows_part_find_pseudo_row(part->rows, 0, PROFILE_PSEUDO_BEFORE_START);
    rows_part_add_sums(part, row, sums);
    if (sums[1].no_core > 0)
        rows_part_add_sums(part, rows_part_find_pseudo_row(part->rows, row, PROFILE_PSEUDO_NO_CORE), sums + 1);
}

static void rows_part_add_nodes(struct part *part)
{
    const struct profile *profile = part->profile;
    struct rows *view = part->view;
    view->node_count = profile->node_count;
    view->node_row = memory_array(profile->node_count, sizeof *view->node_row);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t row = rows_part_row_of(part, i);
        view->node_row[i] = row != ROW_NONE ? part->target[row] : ROW_NONE;
        if (view->node_row[i] != ROW_NONE &&
            /* the idleness of a WAITERS node is included in its parent's */
            profile->nodes[i].kind != PROFILE_NODE_WAITERS)
            rows_part_add_sums(part, row, &profile->nodes[i].metric);
    }
}

struct rows *rows_part(const struct rows *rows, const struct profile *part, const uint32_t *node, uint32_t **whole)
{
    struct part of = {.rows = rows,
                      .profile = part,
                      .node = node,
                      .view = rows_like(rows),
                      .target = memory_array(rows->count, sizeof *of.target)};
    rows_part_want_rows(&of);
    *whole = rows_part_copy_rows(&of);
    rows_part_add_nodes(&of);
    rows_part_add_before_start(&of);
    free(of.target);
    rows_sum(of.view);
    rows_add_extras(of.view, part);
    return of.view;
}
