#include "command/profile/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->lane_count; i++)
        free(timeline->lanes[i].ns);
    free(timeline->lanes);
    free(timeline->cells);
    *timeline = (struct timeline){0};
}

static void timeline_add_value(struct profile_time_value *to, const struct profile_time_value *from)
{
    to->own += from->own;
    to->inverse_busy += from->inverse_busy;
    to->shared_idle += from->shared_idle;
    to->lock_wait += from->lock_wait;
}

/* Sorts cells by one of their numeric fields, whose values are all less than `end`. The sort is stable. */
static struct timeline_cell *timeline_sort_cells(struct timeline_cell *cells, size_t count, size_t member, size_t end)
{
#define NUMBER_OF(cell) (*(const uint32_t *)((const char *)(cell) + member))
    size_t *first = memory_array(end + 1, sizeof *first);
    struct timeline_cell *sorted = memory_check(reallocarray(NULL, count + 1, sizeof *sorted));
    for (size_t i = 0; i < count; i++)
        first[NUMBER_OF(&cells[i]) + 1]++;
    for (size_t i = 0; i < end; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < count; i++)
        sorted[first[NUMBER_OF(&cells[i])]++] = cells[i];
#undef NUMBER_OF
    free(first);
    free(cells);
    return sorted;
}

static size_t timeline_count_lanes(const struct timeline *timeline)
{
    uint32_t lanes = 1;
    for (size_t i = 0; i < timeline->cell_count; i++)
        lanes = timeline->cells[i].lane >= lanes ? timeline->cells[i].lane + 1 : lanes;
    return lanes;
}

struct timeline_cell *timeline_cells_by_lane(const struct timeline *timeline, size_t node_count)
{
    size_t count = timeline->cell_count, lanes = timeline_count_lanes(timeline);
    struct timeline_cell *cells = memory_check(reallocarray(NULL, count + 1, sizeof *cells));
    if (count)
        memcpy(cells, timeline->cells, count * sizeof *cells);
    if (lanes == 1)
        return cells;
    cells = timeline_sort_cells(cells, count, offsetof(struct timeline_cell, lane), lanes);
    return timeline_sort_cells(cells, count, offsetof(struct timeline_cell, node), node_count);
}

/* Adds up, bin by bin, the cells [first, end) of one node, for a timeline with one lane. Stores the sums from
 * index `at` on and returns the index after the last one. */
static size_t timeline_add_up_bins(struct timeline_cell *cells, size_t first, size_t end, size_t at)
{
    struct timeline_cell sum[PROFILE_TIME_BINS];
    bool used[PROFILE_TIME_BINS] = {false};
    for (size_t i = first; i < end; i++) {
        uint32_t bin = cells[i].bin;
        if (used[bin])
            timeline_add_value(&sum[bin].value, &cells[i].value);
        else
            sum[bin] = cells[i];
        used[bin] = true;
    }
    for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++)
        if (used[bin])
            cells[at++] = sum[bin];
    return at;
}

void timeline_join_cells(struct timeline *timeline, size_t node_count)
{
    size_t count = timeline->cell_count, lanes = timeline_count_lanes(timeline), at = 0;
    struct timeline_cell *cells = timeline->cells;
    if (lanes > 1) {
        cells = timeline_sort_cells(cells, count, offsetof(struct timeline_cell, lane), lanes);
        cells = timeline_sort_cells(cells, count, offsetof(struct timeline_cell, bin), PROFILE_TIME_BINS);
    }
    cells = timeline_sort_cells(cells, count, offsetof(struct timeline_cell, node), node_count);
    for (size_t i = 0, end; lanes == 1 && i < count; i = end) {
        for (end = i + 1; end < count && cells[end].node == cells[i].node;)
            end++;
        at = timeline_add_up_bins(cells, i, end, at);
    }
    for (size_t i = 0; lanes > 1 && i < count; i++) {
        if (i && cells[i].node == cells[at - 1].node && cells[i].bin == cells[at - 1].bin &&
            cells[i].lane == cells[at - 1].lane)
            timeline_add_value(&cells[at - 1].value, &cells[i].value);
        else
            cells[at++] = cells[i];
    }
    timeline->cells = cells;
    timeline->cell_count = at;
}

void timeline_add_at_end(struct timeline *timeline, uint32_t node, const struct profile_time_value *value)
{
    if (!timeline->bins)
        return;
    timeline->cells = memory_check(reallocarray(timeline->cells, timeline->cell_count + 1, sizeof *timeline->cells));
    timeline->cells[timeline->cell_count++] =
        (struct timeline_cell){.node = node, .bin = timeline->bins - 1, .value = *value};
}

static double bin_ns(const struct timeline_lane *lane, size_t bin)
{
    double sum = 0;
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        sum += lane->ns[bin][state];
    return sum;
}

/* Moves up to `most_ns` from one bin to another, as far as that has room. Returns the ns moved. */
static double move_ns(const struct timeline_lane *lane, size_t from, size_t to, double most_ns, double whole_ns)
{
    double room_ns = whole_ns - bin_ns(lane, to), has_ns = bin_ns(lane, from);
    double moved_ns = room_ns < most_ns ? room_ns : most_ns;
    for (size_t state = 0; moved_ns > 0 && state < PROFILE_TIME_STATES; state++) {
        double part_ns = lane->ns[from][state] * moved_ns / has_ns;
        lane->ns[from][state] -= part_ns;
        lane->ns[to][state] += part_ns;
    }
    return moved_ns > 0 ? moved_ns : 0;
}

static void spread_bin(const struct timeline *timeline, const struct timeline_lane *lane, size_t bin)
{
    double whole_ns = (double)lane->threads * (double)timeline->lane_bin_ns, has_ns = bin_ns(lane, bin);
    /* as far as it could reach if there were nothing else, twice as far as needed */
    double reach = whole_ns > 0 ? fmin(has_ns / whole_ns, (double)timeline->lane_bins) : 0;
    double left_ns = has_ns - whole_ns;
    for (size_t far = 1; (double)far <= reach && left_ns > 0; far++) {
        if (bin >= far)
            left_ns -= move_ns(lane, bin, bin - far, left_ns, whole_ns);
        if (bin + far < timeline->lane_bins && left_ns > 0)
            left_ns -= move_ns(lane, bin, bin + far, left_ns, whole_ns);
    }
}

void timeline_spread_lanes(struct timeline *timeline)
{
    timeline_sum_lanes(timeline, timeline->lane_sum);
    timeline->spread = true;
    for (size_t i = 0; i < timeline->lane_count; i++)
        for (size_t bin = 0; bin < timeline->lane_bins; bin++)
            spread_bin(timeline, &timeline->lanes[i], bin);
}

void timeline_sum_lanes(const struct timeline *timeline, double sum[PROFILE_TIME_STATES])
{
    if (timeline->spread) {
        memcpy(sum, timeline->lane_sum, sizeof timeline->lane_sum);
        return;
    }
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
