#include "report/profile/timeline.h"

#include <stdlib.h>

#include "report/text/memory.h"

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->lane_count; i++)
        free(timeline->lanes[i].ns);
    free(timeline->lanes);
    free(timeline->cells);
    *timeline = (struct timeline){0};
}

static int compare_cells(const void *left, const void *right)
{
    const struct timeline_cell *a = left, *b = right;
    if (a->bin != b->bin)
        return a->bin < b->bin ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

static void add_value(struct profile_time_value *to, const struct profile_time_value *from)
{
    to->own += from->own;
    to->inverse_busy += from->inverse_busy;
    to->shared_idle += from->shared_idle;
    to->lock_wait += from->lock_wait;
}

/* Sorts those of one node; returns where the ones that are left end. */
static size_t join_node(struct timeline_cell *cell, size_t count, struct timeline_cell *cells, size_t at)
{
    qsort(cell, count, sizeof *cell, compare_cells);
    for (size_t i = 0; i < count; i++) {
        if (i && compare_cells(&cell[i], &cells[at - 1]) == 0)
            add_value(&cells[at - 1].value, &cell[i].value);
        else
            cells[at++] = cell[i];
    }
    return at;
}

void timeline_join_cells(struct timeline *timeline, size_t node_count)
{
    size_t *first = memory_array(node_count + 1, sizeof *first), at = 0;
    struct timeline_cell *cells = memory_array(timeline->cell_count, sizeof *cells);
    for (size_t i = 0; i < timeline->cell_count; i++)
        first[timeline->cells[i].node + 1]++;
    for (size_t i = 0; i < node_count; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < timeline->cell_count; i++)
        cells[first[timeline->cells[i].node]++] = timeline->cells[i]; /* from now on first[i] is where node i ends */
    for (size_t i = 0, begin = 0; i < node_count; begin = first[i++])
        if (first[i] > begin)
            at = join_node(&cells[begin], first[i] - begin, cells, at);
    free(first);
    free(timeline->cells);
    timeline->cells = cells;
    timeline->cell_count = at;
}

void timeline_add_at_end(struct timeline *timeline, uint32_t node, const struct profile_time_value *value)
{
    if (!timeline->bins)
        return;
    timeline->cells = memory_check(reallocarray(timeline->cells, timeline->cell_count + 1, sizeof *timeline->cells));
    timeline->cells[timeline->cell_count++] = (struct timeline_cell){.node = node, .bin = timeline->bins - 1, .value = *value};
}

void timeline_sum_lanes(const struct timeline *timeline, double sum[PROFILE_TIME_STATES])
{
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        sum[state] = 0;
    for (size_t i = 0; i < timeline->lane_count; i++)
        for (size_t bin = 0; bin < timeline->lane_bins; bin++)
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                sum[state] += timeline->lanes[i].ns[bin][state];
}

struct timeline_sum timeline_sum_cells(const struct timeline *timeline)
{
    struct timeline_sum sum = {0};
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct profile_time_value *value = &timeline->cells[i].value;
        sum.own += (double)value->own;
        sum.inverse_busy += (double)value->inverse_busy;
        sum.shared_idle += (double)value->shared_idle;
        sum.lock_wait += (double)value->lock_wait;
    }
    return sum;
}
