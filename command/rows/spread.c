/* Which rows show how the times of a job's ranks differ. Ranks are compared by nodes, addresses, as files have no names: a mean can be
 * added up of several nodes, a deviation and extremes cannot. So a row has them where it is one node that is no frame, or all frames below one
 * node: a function called from one place, as regions and what they call are. Rows of several calls in one line, and those of a part of a
 * function (an inlined one, a line), have none. */
#include <stdlib.h>

#include "command/rows/build.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

struct finding {
    const struct builder *builder;
    struct row_spread *of; /* by row */
    uint8_t *sources;      /* by row: of how many nodes it is, 2 for more */
    bool *mixed;           /* by row: its own time is not that of the node */
    bool *busy;            /* by node: it has time of its own */
    uint32_t *common; /* by node: the row that all frames below it are in, 1 + its number; 0: there is no such frame */
};

static void add_source(struct finding *finding, uint32_t row, uint32_t node, bool callee)
{
    finding->of[row] = (struct row_spread){.row = row, .node = node, .callee = callee};
    if (finding->sources[row] < 2)
        finding->sources[row]++;
}

/* The innermost row around both; a parent's number is smaller than its children's. */
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

/* Each row between the one that a node hangs below and its own. */
static void add_node(struct finding *finding, uint32_t i)
{
    const struct builder *builder = finding->builder;
    const struct merged_node *node = &builder->profile->nodes[i];
    uint32_t above = builder->anchor[node->parent], row = builder->anchor[i];
    bool frame = node->kind == PROFILE_NODE_FRAME;
    uint32_t common = frame ? finding->common[node->parent] - 1 : row;
    if (node->kind == PROFILE_NODE_LOCK || node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS)
        return;
    if (row == above) /* it is shown as part of what calls it */
        finding->mixed[row] |= finding->busy[i];
    for (; row != common; row = builder->rows->row[row].parent) { /* of a part of the frames */
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
        add_node(&finding, i);
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
