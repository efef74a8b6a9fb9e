#include "command/profile/timeline_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

#define JOINED_AT_ONCE 65536 /* minimum number of new cells before all cells are sorted again */

static uint64_t profile_time_of_day(const struct profile_header *header, uint64_t ns)
{
    return (uint64_t)header->start_realtime_ns + (ns - header->start_ns);
}

/* Returns the number of the group to which a rank belongs at a level of detail. */
static uint64_t timeline_rank_group(uint32_t rank, uint32_t level)
{
    return (uint64_t)rank >> (level - 1);
}

/* The grid of a job's bins. The bins start at multiples of the width of a context's bin. */
struct grid {
    uint64_t origin;
    uint32_t shift, lane_shift, bins, lane_bins;
};

/* Returns the narrowest bins that cover the time from `begin` to `end` and are at least 2^shift and
 * 2^lane_shift ns wide. There are at most PROFILE_TIME_BINS bins of contexts. The bins of all lanes together
 * do not exceed the limit. */
static struct grid timeline_choose_grid(uint64_t begin, uint64_t end, uint32_t shift, uint32_t lane_shift, size_t lanes)
{
    struct grid grid = {.shift = shift};
    uint64_t last = end > begin ? end - 1 : begin;
    while ((last >> grid.shift) - (begin >> grid.shift) >= PROFILE_TIME_BINS)
        grid.shift++;
    grid.bins = (uint32_t)((last >> grid.shift) - (begin >> grid.shift)) + 1;
    grid.origin = begin >> grid.shift << grid.shift;
    grid.lane_shift = grid.shift - PROFILE_TIME_FINER > lane_shift ? grid.shift - PROFILE_TIME_FINER : lane_shift;
    while (grid.lane_shift < grid.shift && lanes * ((size_t)grid.bins << (grid.shift - grid.lane_shift)) >
                                               (size_t)TIMELINE_JOB_LANES * PROFILE_TIME_BINS)
        grid.lane_shift++;
    grid.lane_bins = grid.bins << (grid.shift - grid.lane_shift);
    return grid;
}

/* Returns the bin that contains a time. A time before the first bin or after the last belongs to that bin. */
static uint32_t timeline_bin_at(uint64_t origin, uint64_t at, uint32_t shift, uint32_t bins)
{
    uint64_t bin = at > origin ? (at - origin) >> shift : 0;
    return bin < bins ? (uint32_t)bin : bins - 1;
}

/* Adds all values into a grid whose bins are at least as wide as the current ones. */
static void timeline_regrid(struct timeline_join *join, struct timeline *timeline, const struct grid *grid)
{
    for (size_t i = 0; i < timeline->lane_count; i++) {
        double(*ns)[PROFILE_TIME_STATES] = memory_array(grid->lane_bins, sizeof *ns);
        for (uint32_t from = 0; from < timeline->lane_bins; from++) {
            uint32_t to = timeline_bin_at(grid->origin, join->origin + ((uint64_t)from << join->lane_shift),
                                          grid->lane_shift, grid->lane_bins);
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                ns[to][state] += timeline->lanes[i].ns[from][state];
        }
        free(timeline->lanes[i].ns);
        timeline->lanes[i].ns = ns;
    }
    for (size_t i = 0; i < timeline->cell_count; i++) {
        struct timeline_cell *cell = &timeline->cells[i];
        cell->bin =
            timeline_bin_at(grid->origin, join->origin + ((uint64_t)cell->bin << join->shift), grid->shift, grid->bins);
    }
    join->origin = grid->origin;
    join->shift = grid->shift;
    join->lane_shift = grid->lane_shift;
    timeline->bins = grid->bins;
    timeline->lane_bins = grid->lane_bins;
}

static void timeline_fit_grid(struct timeline_join *join, struct profile *job, uint32_t shift, uint32_t lane_shift)
{
    const struct profile_header *header = &job->header;
    struct timeline *timeline = &job->timeline;
    /* If lanes are already ranks, assume the maximum number of lanes. Otherwise the result would depend on
     * when the lanes became ranks. */
    size_t lanes = timeline->level == TIMELINE_THREADS ? timeline->lane_count : TIMELINE_JOB_LANES;
    struct grid grid =
        timeline_choose_grid(profile_time_of_day(header, header->tool_start_ns),
                             profile_time_of_day(header, header->end_ns), shift > join->shift ? shift : join->shift,
                             lane_shift > join->lane_shift ? lane_shift : join->lane_shift, lanes);
    if (grid.origin != join->origin || grid.shift != join->shift || grid.lane_shift != join->lane_shift ||
        grid.bins != timeline->bins)
        timeline_regrid(join, timeline, &grid);
}

/* Returns the map's entry for the group to which a rank belongs. */
static uint32_t *timeline_rank_group_slot(struct pair_map *map, uint32_t rank, uint32_t level)
{
    return pair_map_slot(map, timeline_rank_group(rank, level), 0);
}

static void timeline_set_cell_lane(struct timeline_join *join, struct timeline *timeline, uint32_t lane)
{
    timeline->lanes[lane].cell_lane = lane;
    if (timeline->cell_level == TIMELINE_THREADS)
        return;
    uint32_t *slot = timeline_rank_group_slot(&join->cell_lanes, timeline->lanes[lane].rank, timeline->cell_level);
    if (*slot == PAIR_MAP_NEW)
        *slot = lane;
    timeline->lanes[lane].cell_lane = *slot;
}

/* Returns the job's lane for a lane of a rank. Creates the job's lane if there is none. */
static uint32_t timeline_find_job_lane(struct timeline_join *join, struct timeline *timeline,
                                       const struct timeline_lane *from)
{
    uint32_t *slot = timeline->level == TIMELINE_THREADS
                         ? NULL
                         : timeline_rank_group_slot(&join->lanes, from->rank, timeline->level);
    if (slot && *slot != PAIR_MAP_NEW) {
        timeline->lanes[*slot].threads += from->threads;
        return *slot;
    }
    uint32_t lane = (uint32_t)timeline->lane_count;
    memory_grow(&timeline->lanes, &join->lane_room, timeline->lane_count, sizeof *timeline->lanes);
    timeline->lanes[timeline->lane_count++] = *from;
    if (slot)
        *slot = lane;
    timeline_set_cell_lane(join, timeline, lane);
    return lane;
}

/* Changes the levels of detail, and merges lanes and cells to match them. */
static void timeline_regroup(struct timeline_join *join, struct timeline *timeline, uint8_t level, uint8_t cell_level)
{
    struct timeline_lane *old = timeline->lanes;
    size_t count = timeline->lane_count;
    uint32_t *lane_map = memory_array(count, sizeof *lane_map);
    pair_map_free(&join->lanes);
    pair_map_free(&join->cell_lanes);
    timeline->level = level;
    timeline->cell_level = cell_level;
    timeline->lanes = NULL;
    timeline->lane_count = join->lane_room = 0;
    for (size_t i = 0; i < count; i++) {
        lane_map[i] = timeline_find_job_lane(join, timeline, &old[i]);
        double(*ns)[PROFILE_TIME_STATES] = timeline->lanes[lane_map[i]].ns;
        for (size_t bin = 0; ns != old[i].ns && bin < timeline->lane_bins; bin++)
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                ns[bin][state] += old[i].ns[bin][state];
        if (ns != old[i].ns)
            free(old[i].ns);
    }
    for (size_t i = 0; i < timeline->cell_count; i++)
        timeline->cells[i].lane = timeline->lanes[lane_map[timeline->cells[i].lane]].cell_lane;
    free(lane_map);
    free(old);
}

/* Returns the number of different pairs of a context and a lane that have cells. Sets *contexts to the number
 * of contexts. */
static size_t timeline_count_pairs(const struct timeline *timeline, size_t *contexts)
{
    /* for each lane: 1 + index of the last node that has a cell in the lane */
    uint32_t *seen = memory_array(timeline->lane_count, sizeof *seen);
    size_t pairs = 0;
    *contexts = 0;
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        *contexts += i == 0 || cell->node != cell[-1].node;
        pairs += seen[cell->lane] != cell->node + 1;
        seen[cell->lane] = cell->node + 1;
    }
    free(seen);
    return pairs;
}

static size_t timeline_count_cell_lanes(const struct timeline *timeline)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->lane_count; i++)
        count += timeline->lanes[i].cell_lane == i;
    return count;
}

static void timeline_limit_cells(struct timeline_join *join, struct profile *job)
{
    struct timeline *timeline = &job->timeline;
    size_t contexts;
    timeline_join_cells(timeline, job->node_count);
    while (timeline_count_cell_lanes(timeline) > 1 && timeline_count_pairs(timeline, &contexts) > TIMELINE_JOB_PAIRS) {
        timeline_regroup(join, timeline, timeline->level,
                         contexts > TIMELINE_JOB_PAIRS ? TIMELINE_ONE : (uint8_t)(timeline->cell_level + 1));
        timeline_join_cells(timeline, job->node_count);
    }
    join->cell_room = timeline->cell_count;
    join->joined = timeline->cell_count;
}

/* An interval in the time of day, in ns. */
struct stretch {
    uint64_t begin, end;
};

/* Returns the fraction of an interval that lies in a bin. The interval covers the bins `first` to `last`. */
static double timeline_part_in_bin(const struct stretch *stretch, uint64_t origin, uint32_t bin, uint32_t shift,
                                   uint32_t first, uint32_t last)
{
    if (first == last)
        return 1;
    uint64_t begin = origin + ((uint64_t)bin << shift), end = begin + (1ull << shift);
    begin = bin == first ? stretch->begin : begin;
    end = bin == last ? stretch->end : end;
    return (double)(end - begin) / (double)(stretch->end - stretch->begin);
}

/* Returns the interval that a rank's timeline covers. It lasts from the timeline's origin to the rank's end,
 * because nothing was measured later. For a part of a job, it lasts to the end of the last bin. */
static struct stretch timeline_run_of(const struct profile *rank)
{
    const struct timeline *timeline = &rank->timeline;
    uint64_t begin = profile_time_of_day(&rank->header, timeline->origin_ns), end_ns = rank->header.end_ns;
    if (rank->header.merged)
        return (struct stretch){begin, begin + timeline->bin_ns * timeline->bins};
    for (size_t i = 0; i < rank->thread_count && rank->header.end_ns == 0; i++)
        end_ns = profile_thread_end_ns(&rank->threads[i]) > end_ns ? profile_thread_end_ns(&rank->threads[i]) : end_ns;
    uint64_t end = profile_time_of_day(&rank->header, end_ns);
    return (struct stretch){begin, end > begin ? end : begin + 1};
}

static struct stretch timeline_stretch_of_bin(const struct stretch *run, uint64_t width, uint32_t bin)
{
    struct stretch stretch = {run->begin + width * bin, run->begin + width * (bin + 1)};
    stretch.end = stretch.end < run->end ? stretch.end : run->end;
    stretch.begin = stretch.begin < stretch.end ? stretch.begin : stretch.end - 1;
    return stretch;
}

static void timeline_join_lane(struct timeline_join *join, struct timeline *timeline, const struct profile *rank,
                               const struct timeline_lane *from, uint32_t lane)
{
    struct stretch run = timeline_run_of(rank);
    for (uint32_t i = 0; i < rank->timeline.lane_bins; i++) {
        struct stretch stretch = timeline_stretch_of_bin(&run, rank->timeline.lane_bin_ns, i);
        uint32_t first = timeline_bin_at(join->origin, stretch.begin, join->lane_shift, timeline->lane_bins);
        uint32_t last = timeline_bin_at(join->origin, stretch.end - 1, join->lane_shift, timeline->lane_bins);
        for (uint32_t bin = first; bin <= last; bin++) {
            double part = timeline_part_in_bin(&stretch, join->origin, bin, join->lane_shift, first, last);
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                timeline->lanes[lane].ns[bin][state] += part * from->ns[i][state];
        }
    }
}

static void timeline_join_add_cells(struct timeline_join *join, struct timeline *timeline, const struct profile *rank,
                                    const uint32_t *node_map, const uint32_t *lane_map)
{
    float threads = (float)rank->header.threads_max;
    struct stretch run = timeline_run_of(rank);
    for (size_t i = 0; i < rank->timeline.cell_count; i++) {
        const struct timeline_cell *from = &rank->timeline.cells[i];
        struct stretch stretch = timeline_stretch_of_bin(&run, rank->timeline.bin_ns, from->bin);
        uint32_t first = timeline_bin_at(join->origin, stretch.begin, join->shift, timeline->bins);
        uint32_t last = timeline_bin_at(join->origin, stretch.end - 1, join->shift, timeline->bins);
        for (uint32_t bin = first; bin <= last; bin++) {
            float part = (float)timeline_part_in_bin(&stretch, join->origin, bin, join->shift, first, last);
            memory_grow(&timeline->cells, &join->cell_room, timeline->cell_count, sizeof *timeline->cells);
            timeline->cells[timeline->cell_count++] =
                (struct timeline_cell){.node = node_map[from->node],
                                       .lane = timeline->lanes[lane_map[from->lane]].cell_lane,
                                       .bin = bin,
                                       .value = {part * from->value.own, part * threads * from->value.inverse_busy,
                                                 part * from->value.shared_idle, part * from->value.lock_wait}};
        }
    }
}

/* Returns a copy of a rank's lane for the job, with empty bins. */
static struct timeline_lane timeline_job_lane_of(const struct timeline *timeline, const struct profile *job,
                                                 const struct profile *rank, const struct timeline_lane *from,
                                                 size_t threads)
{
    struct timeline_lane lane = *from;
    lane.tree = 0;
    lane.thread = (uint32_t)threads + from->thread;
    lane.rank = rank->header.merged ? from->rank : rank->header.rank;
    lane.rank_record = (uint32_t)job->rank_count + (rank->header.merged ? from->rank_record : 1);
    lane.ns = memory_array(timeline->lane_bins, sizeof *lane.ns);
    return lane;
}

static uint32_t timeline_bin_shift(uint64_t width)
{
    return (uint32_t)__builtin_ctzll(width);
}

void timeline_join_add(struct timeline_join *join, struct profile *job, const struct profile *rank,
                       const uint32_t *node_map, size_t threads)
{
    struct timeline *timeline = &job->timeline;
    const struct timeline *from = &rank->timeline;
    if (!from->bins) {
        timeline->without += rank->header.merged ? rank->header.merged : 1;
        return;
    }
    timeline->without += from->without;
    if (from->level > timeline->level || from->cell_level > timeline->cell_level)
        timeline_regroup(join, timeline, from->level > timeline->level ? from->level : timeline->level,
                         from->cell_level > timeline->cell_level ? from->cell_level : timeline->cell_level);
    timeline_fit_grid(join, job, timeline_bin_shift(from->bin_ns),
                      rank->header.merged ? timeline_bin_shift(from->lane_bin_ns) : 0);
    uint32_t *lane_map = memory_array(from->lane_count, sizeof *lane_map);
    for (size_t i = 0; i < from->lane_count; i++) {
        struct timeline_lane lane = timeline_job_lane_of(timeline, job, rank, &from->lanes[i], threads);
        lane_map[i] = timeline_find_job_lane(join, timeline, &lane);
        if (timeline->lanes[lane_map[i]].ns != lane.ns)
            free(lane.ns);
        timeline_join_lane(join, timeline, rank, &from->lanes[i], lane_map[i]);
    }
    timeline_join_add_cells(join, timeline, rank, node_map, lane_map);
    free(lane_map);
    while (timeline->lane_count > TIMELINE_JOB_LANES) {
        uint8_t level = (uint8_t)(timeline->level + 1);
        timeline_regroup(join, timeline, level, level > timeline->cell_level ? level : timeline->cell_level);
    }
    timeline_fit_grid(join, job, 0, 0);
    if (timeline->cell_count >= 2 * join->joined + JOINED_AT_ONCE)
        timeline_limit_cells(join, job);
}

void timeline_join_end(struct timeline_join *join, struct profile *job)
{
    struct timeline *timeline = &job->timeline;
    if (timeline->lane_count) {
        timeline_fit_grid(join, job, 0, 0);
        timeline_limit_cells(join, job);
        timeline->origin_ns = join->origin - (uint64_t)job->header.start_realtime_ns + job->header.start_ns;
        timeline->bin_ns = 1ull << join->shift;
        timeline->lane_bin_ns = 1ull << join->lane_shift;
    }
    for (size_t i = 0; i < timeline->cell_count; i++)
        timeline->cells[i].value.inverse_busy /= (float)job->header.threads_max;
    pair_map_free(&join->lanes);
    pair_map_free(&join->cell_lanes);
}

/* A context and a lane that have cells in common. */
struct pair {
    uint32_t node, lane, bins;
    bool kept;
    double weight;
};

static int timeline_compare_pairs(const void *left, const void *right)
{
    const struct pair *a = *(const struct pair *const *)left, *b = *(const struct pair *const *)right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a > b) - (a < b);
}

/* Returns the pairs of a context and a lane, sorted by node. Fills *map, which gives the index of the pair
 * (node, lane). */
static struct pair *timeline_gather_pairs(const struct timeline *timeline, struct pair_map *map, size_t *count)
{
    struct pair *pairs = NULL;
    size_t room = 0;
    *count = 0;
    struct pair *last = NULL;
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        uint32_t *slot = last && last->node == cell->node && last->lane == cell->lane
                             ? NULL
                             : pair_map_slot(map, cell->node, cell->lane);
        if (slot && *slot == PAIR_MAP_NEW) {
            memory_grow(&pairs, &room, *count, sizeof *pairs);
            *slot = (uint32_t)*count;
            pairs[(*count)++] = (struct pair){.node = cell->node, .lane = cell->lane};
        }
        last = slot ? &pairs[*slot] : last;
        last->bins++;
        last->weight +=
            fabs((double)cell->value.own) + (double)cell->value.inverse_busy + (double)cell->value.lock_wait;
    }
    return pairs;
}

/* Marks the pairs to keep: the pairs with few bins, the pairs of the root, and the largest of the other
 * pairs. */
static void timeline_mark_kept_pairs(struct pair *pairs, size_t count)
{
    struct pair **dense = memory_array(count, sizeof *dense);
    size_t dense_count = 0;
    for (size_t i = 0; i < count; i++) {
        pairs[i].kept = pairs[i].bins <= PROFILE_FEW_BINS || pairs[i].node == 0;
        if (!pairs[i].kept)
            dense[dense_count++] = &pairs[i];
    }
    qsort(dense, dense_count, sizeof *dense, timeline_compare_pairs);
    for (size_t i = 0; i < dense_count && i < TIMELINE_JOB_DENSE; i++)
        dense[i]->kept = true;
    free(dense);
}

/* Returns the nearest ancestor of the node that is kept and has many bins in the lane; the root if there is
 * none. */
static uint32_t timeline_kept_ancestor(const struct profile *job, struct pair_map *map, const struct pair *pairs,
                                       uint32_t node, uint32_t lane)
{
    while (node) {
        node = job->nodes[node].parent;
        uint32_t *slot = pair_map_slot(map, node, lane);
        if (*slot != PAIR_MAP_NEW && pairs[*slot].kept && pairs[*slot].bins > PROFILE_FEW_BINS)
            break;
    }
    return node;
}

void timeline_join_prune(struct profile *job)
{
    struct timeline *timeline = &job->timeline;
    struct pair_map map = {0};
    size_t count;
    struct pair *pairs = timeline_gather_pairs(timeline, &map, &count);
    timeline_mark_kept_pairs(pairs, count);
    for (size_t i = 0; i < timeline->cell_count; i++) {
        struct timeline_cell *cell = &timeline->cells[i];
        if (!pairs[*pair_map_slot(&map, cell->node, cell->lane)].kept)
            cell->node = timeline_kept_ancestor(job, &map, pairs, cell->node, cell->lane);
    }
    timeline_join_cells(timeline, job->node_count);
    pair_map_free(&map);
    free(pairs);
}
