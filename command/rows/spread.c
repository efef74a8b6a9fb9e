/* Finds the rows that can show how the times of a job's ranks differ. Ranks are compared by node, because
 * measurement files have addresses but no names. Means of several nodes can be added up, but deviations and
 * extremes cannot.
 * A row has statistics in two cases: it is the row of one node that is not a frame, or it is the row of all
 * frames below one node. The second is a function called at one point, such as a region and what it calls. A
 * row of several calls in one line has no statistics, nor has a part of a function (an inlined function, a
 * line). */
#include <stdlib.h>

#include "command/rows/build.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

struct spread_search {
    const struct builder *builder;
    struct row_spread *of; /* for each row, its statistics */
    uint8_t *sources;      /* for each row, how many nodes it shows; 2: two or more */
    bool *mixed;           /* for each row, whether its own time differs from its node's */
    bool *busy;            /* for each node, whether it has time of its own */
    /* for each node, 1 + index of the row that contains all frames below the node; 0: no such frame */
    uint32_t *common;
};

static void rows_spread_add_source(struct spread_search *search, uint32_t row, uint32_t node, bool callee)
{
    search->of[row] = (struct row_spread){.row = row, .node = node, .callee = callee};
    if (search->sources[row] < 2)
        search->sources[row]++;
}

/* Returns the innermost row that contains two rows. A parent's index is smaller than the indices of its
 * children. */
static uint32_t rows_common_ancestor(const struct rows *rows, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *inner = a > b ? &a : &b;
        *inner = rows->row[*inner].parent;
    }
    return a;
}

static void rows_spread_find_common_rows(struct spread_search *search)
{
    const struct builder *builder = search->builder;
    const struct profile *profile = builder->profile;
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (!rows_sums_are_zero(&profile->nodes[i].metric))
            search->busy[profile->nodes[i].kind == PROFILE_NODE_LOCK ? profile->nodes[i].parent : i] = true;
    for (uint32_t i = 1; i < profile->node_count; i++) {
        uint32_t *common = &search->common[profile->nodes[i].parent];
        if (profile->nodes[i].kind == PROFILE_NODE_FRAME)
            *common = 1 + (*common ? rows_common_ancestor(builder->rows, *common - 1, builder->anchor[i])
                                   : builder->anchor[i]);
    }
}

/* Adds a node to its own row, and to the rows between its own row and its parent's. */
static void rows_spread_add_node(struct spread_search *search, uint32_t i)
{
    const struct builder *builder = search->builder;
    const struct merged_node *node = &builder->profile->nodes[i];
    uint32_t above = builder->anchor[node->parent], row = builder->anchor[i];
    bool frame = node->kind == PROFILE_NODE_FRAME;
    uint32_t common = frame ? search->common[node->parent] - 1 : row;
    if (node->kind == PROFILE_NODE_LOCK || node->kind == PROFILE_NODE_WAITERS || node->kind == PROFILE_NODE_RANKS)
        return;
    if (row == above) /* the node has the same row as its caller */
        search->mixed[row] |= search->busy[i];
    /* these rows contain only some of the frames */
    for (; row != common; row = builder->rows->row[row].parent) {
        search->sources[row] = 2;
        search->mixed[common] |= search->busy[i] && common != above;
    }
    for (; !frame && row != above; row = builder->rows->row[row].parent) {
        if (row != common)
            search->mixed[row] = true;
        rows_spread_add_source(search, row, i, false);
    }
}

static void rows_spread_add_callee(struct spread_search *search, uint32_t i)
{
    const struct builder *builder = search->builder;
    uint32_t above = builder->anchor[i], common = search->common[i] - 1;
    for (uint32_t row = common; row != above; row = builder->rows->row[row].parent) {
        if (row != common)
            search->mixed[row] = true;
        rows_spread_add_source(search, row, i, true);
    }
}

void rows_find_spreads(struct builder *builder)
{
    struct rows *rows = builder->rows;
    struct spread_search search = {.builder = builder};
    if (!builder->profile->spread_count)
        return;
    search.of = memory_array(rows->count, sizeof *search.of);
    search.sources = memory_array(rows->count, sizeof *search.sources);
    search.mixed = memory_array(rows->count, sizeof *search.mixed);
    search.busy = memory_array(builder->profile->node_count, sizeof *search.busy);
    search.common = memory_array(builder->profile->node_count, sizeof *search.common);
    rows_spread_find_common_rows(&search);
    rows_spread_add_source(&search, 0, 0, false);
    for (uint32_t i = 1; i < builder->profile->node_count; i++)
        rows_spread_add_node(&search, i);
    for (uint32_t i = 0; i < builder->profile->node_count; i++)
        if (search.common[i])
            rows_spread_add_callee(&search, i);
    for (size_t row = 0; row < rows->count; row++)
        if (search.sources[row] == 1) {
            search.of[row].exclusive = !search.mixed[row];
            search.of[rows->spread_count++] = search.of[row];
        }
    rows->spread = search.of;
    free(search.sources);
    free(search.mixed);
    free(search.busy);
    free(search.common);
}
