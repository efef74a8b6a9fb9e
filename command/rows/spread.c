/* Finds the rows that can show how the times of a job's ranks differ. Ranks are compared by node, because
 * measurement files have addresses but no names. Means of several nodes can be added up, but deviations and
 * extremes cannot. A row has them in two cases. The first is a row for one node that is not a frame. The
 * second is a row for all frames below one node: a function called at one point, such as a region and what it
 * calls. A row of several calls in one line has none, nor has a part of a function (an inlined function, a
 * line). */
#include <stdlib.h>

#include "command/rows/build.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

struct finding {
    const struct builder *builder;
    struct row_spread *of; /* indexed by row */
    uint8_t *sources;      /* indexed by row: number of the row's nodes; 2: two or more */
    bool *mixed;           /* indexed by row: the row's own time is not that of its node */
    bool *busy;            /* indexed by node: the node has time of its own */
    /* indexed by node: 1 + the row that contains all frames below it; 0: no such frame */
    uint32_t *common;
};

static void spread_add_source(struct finding *finding, uint32_t row, uint32_t node, bool callee)
{
    finding->of[row] = (struct row_spread){.row = row, .node = node, .callee = callee};
    if (finding->sources[row] < 2)
        finding->sources[row]++;
}

/* Returns the innermost row that contains both rows. A parent's index is smaller than its children's. */
static uint32_t rows_common_ancestor(const struct rows *rows, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *inner = a > b ? &a : &b;
        *inner = rows->row[*inner].parent;
    }
    return a;
}

static void spread_find_common_rows(struct finding *finding)
{
    const struct builder *builder = finding->builder;
    const struct profile *profile = builder->profile;
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (!sums_are_zero(&profile->nodes[i].metric))
            finding->busy[profile->nodes[i].kind == PROFILE_NODE_LOCK ? profile->nodes[i].parent : i] = true;
    for (uint32_t i = 1; i < profile->node_count; i++) {
        uint32_t *common = &finding->common[profile->nodes[i].parent];
        if (profile->nodes[i].kind == PROFILE_NODE_FRAME)
            *common = 1 + (*common ? rows_common_ancestor(builder->rows, *common - 1, builder->anchor[i])
                                   : builder->anchor[i]);
    }
}

/* Adds a node to its own row and to the rows between it and the parent's row. */
static void spread_add_node(struct finding *finding, uint32_t i)
{
    const struct builder *builder = finding->builder;
    const struct merged_node *node = &builder->profile->nodes[i];
    uint32_t above = builder->anchor[node->parent], row = builder->anchor[i];
    bool frame = node->kind == PROFILE_NODE_FRAME;
    uint32_t common = frame ? finding->common[node->parent] - 1 : row;
    if (node->kind == PROFILE_NODE_LOCK || node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS)
        return;
    if (row == above) /* the caller's row shows this node as well */
        finding->mixed[row] |= finding->busy[i];
    /* rows that contain only some of the frames */
    for (; row != common; row = builder->rows->row[row].parent) {
        finding->sources[row] = 2;
        finding->mixed[common] |= finding->busy[i] && common != above;
    }
    for (; !frame && row != above; row = builder->rows->row[row].parent) {
        if (row != common)
            finding->mixed[row] = true;
        spread_add_source(finding, row, i, false);
    }
}

static void spread_add_callee(struct finding *finding, uint32_t i)
{
    const struct builder *builder = finding->builder;
    uint32_t above = builder->anchor[i], common = finding->common[i] - 1;
    for (uint32_t row = common; row != above; row = builder->rows->row[row].parent) {
        if (row != common)
            finding->mixed[row] = true;
        spread_add_source(finding, row, i, true);
    }
}

void rows_find_spreads(struct builder *builder)
{
    struct rows *rows = builder->rows;
    struct finding finding = {.builder = builder};
    if (!builder->profile->spread_count)
        return;
    finding.of = memory_array(rows->count, sizeof *finding.of);
    finding.sources = memory_array(rows->count, sizeof *finding.sources);
    finding.mixed = memory_array(rows->count, sizeof *finding.mixed);
    finding.busy = memory_array(builder->profile->node_count, sizeof *finding.busy);
    finding.common = memory_array(builder->profile->node_count, sizeof *finding.common);
    spread_find_common_rows(&finding);
    spread_add_source(&finding, 0, 0, false);
    for (uint32_t i = 1; i < builder->profile->node_count; i++)
        spread_add_node(&finding, i);
    for (uint32_t i = 0; i < builder->profile->node_count; i++)
        if (finding.common[i])
            spread_add_callee(&finding, i);
    for (size_t row = 0; row < rows->count; row++)
        if (finding.sources[row] == 1) {
            finding.of[row].exclusive = !finding.mixed[row];
            finding.of[rows->spread_count++] = finding.of[row];
        }
    rows->spread = finding.of;
    free(finding.sources);
    free(finding.mixed);
    free(finding.busy);
    free(finding.common);
}
