/* Finds the rows that can show how the times of a job's ranks differ. Ranks are compared by nodes, that is by
 * addresses, because files have no names. Means of several nodes can be added up; deviations and extremes
 * cannot. So a row has them in two cases: it is one node that is not a frame, or it is all frames below one
 * node, that is a function called from one place, such as a region and what it calls. Rows of several calls
 * in one line have none, nor has a part of a function (an inlined one, a line). */
#include <stdlib.h>

#include "command/rows/build.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

struct finding {
    const struct builder *builder;
    struct row_spread *of; /* by row */
    uint8_t *sources;      /* by row: the number of its nodes, 2 for more */
    bool *mixed;           /* by row: its own time differs from the node's */
    bool *busy;            /* by node: it has own time */
    /* by node: 1 + the row that contains all frames below it; 0 if there is no such frame */
    uint32_t *common;
};

static void add_source(struct finding *finding, uint32_t row, uint32_t node, bool callee)
{
    finding->of[row] = (struct row_spread){.row = row, .node = node, .callee = callee};
    if (finding->sources[row] < 2)
        finding->sources[row]++;
}

/* Returns the innermost row that contains both. A parent's number is smaller than its children's. */
static uint32_t common_row(const struct rows *rows, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *inner = a > b ? &a : &b;
        *inner = rows->row[*inner].parent;
    }
    return a;
}

static void find_common(struct finding *finding)
{
    const struct builder *builder = finding->builder;
    const struct profile *profile = builder->profile;
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (!sums_are_zero(&profile->nodes[i].metric))
            finding->busy[profile->nodes[i].kind == PROFILE_NODE_LOCK ? profile->nodes[i].parent : i] = true;
    for (uint32_t i = 1; i < profile->node_count; i++) {
        uint32_t *common = &finding->common[profile->nodes[i].parent];
        if (profile->nodes[i].kind == PROFILE_NODE_FRAME)
            *common = 1 + (*common ? common_row(builder->rows, *common - 1, builder->anchor[i]) : builder->anchor[i]);
    }
}

/* Adds a node to each row from the one above it down to its own. */
static void spread_add_node(struct finding *finding, uint32_t i)
{
    const struct builder *builder = finding->builder;
    const struct merged_node *node = &builder->profile->nodes[i];
    uint32_t above = builder->anchor[node->parent], row = builder->anchor[i];
    bool frame = node->kind == PROFILE_NODE_FRAME;
    uint32_t common = frame ? finding->common[node->parent] - 1 : row;
    if (node->kind == PROFILE_NODE_LOCK || node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS)
        return;
    if (row == above) /* it is shown as part of its caller */
        finding->mixed[row] |= finding->busy[i];
    /* rows that contain only a part of the frames */
    for (; row != common; row = builder->rows->row[row].parent) {
        finding->sources[row] = 2;
        finding->mixed[common] |= finding->busy[i] && common != above;
    }
    for (; !frame && row != above; row = builder->rows->row[row].parent) {
        if (row != common)
            finding->mixed[row] = true;
        add_source(finding, row, i, false);
    }
}

static void add_callee(struct finding *finding, uint32_t i)
{
    const struct builder *builder = finding->builder;
    uint32_t above = builder->anchor[i], common = finding->common[i] - 1;
    for (uint32_t row = common; row != above; row = builder->rows->row[row].parent) {
        if (row != common)
            finding->mixed[row] = true;
        add_source(finding, row, i, true);
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
    find_common(&finding);
    add_source(&finding, 0, 0, false);
    for (uint32_t i = 1; i < builder->profile->node_count; i++)
        spread_add_node(&finding, i);
    for (uint32_t i = 0; i < builder->profile->node_count; i++)
        if (finding.common[i])
            add_callee(&finding, i);
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
