/* Reads timelines. Records are checked before use, because they may come from a process that was killed while
 * it wrote them, or from an untrusted source. */
#include "command/profile/timeline_read.h"

#include <stdlib.h>
#include <string.h>

#include "command/profile/pair_map.h"
#include "command/profile/timeline_record.h"
#include "command/text/memory.h"

/* binary logarithm of the width of the widest bins, in ns; wider bins would exceed any clock */
#define MOST_SHIFT 58u
#define NO_LANE    (PAIR_MAP_NEW - 1)
#define NO_BIN     UINT32_MAX

static const char damaged[] = "damaged: a bin of the timeline has an impossible value";

/* A LANE or TIME node of the file. */
struct item {
    const void *record;
    /* index of the merged node to which the time belongs: for a TIME node, the merged node of its parent */
    uint32_t node;
    uint32_t owner; /* number of the tree; in a job, 1 + number of the lane */
    bool lane, few;
};

struct reading {
    const struct profile_chunks *chunks;
    const uint32_t *node_map;
    struct profile *profile;
    struct item *item;
    size_t count, room;
    /* one bit for each unit of the file: whether a node has claimed the record there */
    uint8_t *taken;
    struct pair_map lanes; /* maps a tree's number (owner, 0) to the lane; NO_LANE: no thread used the tree */
    uint32_t shift, lane_shift;
    size_t cell_room;
};

/* Returns the record that starts at a unit of a TIME chunk; NULL if `bytes` bytes do not fit there. */
static const void *profile_time_at(const struct profile_chunks *chunks, uint32_t unit_idx, size_t bytes)
{
    uint32_t chunk_no = unit_idx / PROFILE_UNITS_PER_CHUNK, unit = unit_idx % PROFILE_UNITS_PER_CHUNK;
    if (chunk_no >= chunks->count || unit == 0 || unit + bytes / PROFILE_UNIT_BYTES > PROFILE_UNITS_PER_CHUNK)
        return NULL;
    const struct profile_chunk *chunk = profile_chunk_at(chunks, chunk_no);
    return chunk->kind == PROFILE_CHUNK_TIME ? (const struct profile_node *)chunk + unit : NULL;
}

static const void *timeline_lane_record_at(const struct reading *reading, uint32_t unit_idx)
{
    if (!reading->profile->header.merged)
        return profile_time_at(reading->chunks, unit_idx, sizeof(struct profile_lane));
    const struct timeline_lane_record *lane = profile_time_at(reading->chunks, unit_idx, sizeof *lane);
    bool sane = lane && lane->bins <= PROFILE_LANE_BINS;
    return sane ? profile_time_at(reading->chunks, unit_idx, sizeof *lane + lane->bins * sizeof *lane->ns) : NULL;
}

/* Returns the context to which a node belongs. The timeline has times only for contexts, not for their locks
 * and waiters. */
static uint32_t timeline_context_of_node(const struct profile *profile, uint32_t node)
{
    uint8_t kind = profile->nodes[node].kind;
    while (kind == PROFILE_NODE_LOCK || kind == PROFILE_NODE_WAITERS || kind == PROFILE_NODE_RANKS) {
        node = profile->nodes[node].parent;
        kind = profile->nodes[node].kind;
    }
    return node;
}

/* Claims a record for one node. Returns false if another node has claimed the record. Otherwise, a small file
 * with many nodes for one record could need any amount of memory. */
static bool timeline_claim_record(struct reading *reading, uint32_t unit_idx)
{
    uint8_t bit = (uint8_t)(1u << unit_idx % 8), *byte = &reading->taken[unit_idx / 8];
    bool first = !(*byte & bit);
    *byte |= bit;
    return first;
}

static void timeline_gather_item(struct reading *reading, const struct profile_node *node, uint32_t owner)
{
    bool lane = node->kind == PROFILE_NODE_LANE;
    if ((!lane && node->kind != PROFILE_NODE_TIME) || !node->metric ||
        !profile_node_at(reading->chunks, node->parent) || reading->node_map[node->parent] < PROFILE_MAP_MERGED)
        return;
    struct item item = {.lane = lane, .owner = reading->profile->header.merged ? (uint32_t)node->key : owner};
    item.node = timeline_context_of_node(reading->profile, reading->node_map[node->parent] - PROFILE_MAP_MERGED);
    const struct profile_few_bins *few = lane ? NULL : (const void *)profile_metric_at(reading->chunks, node->metric);
    item.few = few != NULL;
    item.record = few    ? (const void *)few
                  : lane ? timeline_lane_record_at(reading, node->metric)
                         : profile_time_at(reading->chunks, node->metric, sizeof(struct profile_bins));
    if (!item.record || (!item.few && !timeline_claim_record(reading, node->metric)))
        return;
    memory_grow(&reading->item, &reading->room, reading->count, sizeof *reading->item);
    reading->item[reading->count++] = item;
}

static void timeline_gather_items(struct reading *reading)
{
    for (uint32_t n = 0; n < reading->chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(reading->chunks, n);
        if (!profile_chunk_may_have(reading->chunks, n,
                                    PROFILE_KIND_BIT(PROFILE_NODE_TIME) | PROFILE_KIND_BIT(PROFILE_NODE_LANE)))
            continue;
        for (uint32_t unit = 1; unit < chunk->used && unit < PROFILE_UNITS_PER_CHUNK; unit++)
            timeline_gather_item(reading, (const struct profile_node *)chunk + unit, chunk->owner);
    }
}

static bool timeline_value_sane(const struct profile_time_value *value)
{
    return profile_number_sane((double)value->own) && profile_number_sane((double)value->inverse_busy) &&
           value->inverse_busy >= 0 && profile_number_sane((double)value->shared_idle) &&
           profile_number_sane((double)value->lock_wait) && value->lock_wait >= 0;
}

static bool timeline_few_bins_sane(const struct profile_few_bins *few)
{
    bool sane = few->form == PROFILE_TIME_FEW && few->shift <= MOST_SHIFT && few->count <= PROFILE_FEW_BINS;
    for (size_t i = 0; sane && i < few->count; i++)
        sane = few->entry[i].bin < PROFILE_TIME_BINS && timeline_value_sane(&few->entry[i].value);
    return sane;
}

static bool timeline_bins_sane(const struct profile_bins *bins)
{
    bool sane = bins->form == PROFILE_TIME_DENSE && bins->shift <= MOST_SHIFT && bins->merged <= PROFILE_TIME_BINS / 2;
    for (size_t i = 0; sane && i < PROFILE_TIME_BINS; i++)
        sane = timeline_value_sane(&bins->bin[i]);
    return sane;
}

static bool timeline_lane_states_sane(const float (*ns)[PROFILE_TIME_STATES], size_t bins)
{
    for (size_t i = 0; i < bins * PROFILE_TIME_STATES; i++) {
        float value = ns[i / PROFILE_TIME_STATES][i % PROFILE_TIME_STATES];
        if (!profile_number_sane((double)value) || value < 0)
            return false;
    }
    return true;
}

static bool timeline_lane_sane(const struct profile_lane *lane)
{
    return lane->shift <= MOST_SHIFT - PROFILE_TIME_FINER && lane->merged <= PROFILE_LANE_BINS / 2 &&
           timeline_lane_states_sane(lane->ns, PROFILE_LANE_BINS);
}

/* Returns whether a job's lane is valid. All lanes of a job must have the same bins as the first lane. */
static bool timeline_job_lane_sane(const struct timeline_lane_record *lane, const struct timeline_lane_record *first)
{
    bool narrow = lane->shift <= lane->cell_shift && lane->cell_shift <= MOST_SHIFT &&
                  lane->shift + PROFILE_TIME_FINER >= lane->cell_shift;
    return narrow && lane->bins > 0 && lane->cell_bins <= PROFILE_TIME_BINS &&
           lane->bins == lane->cell_bins << (lane->cell_shift - lane->shift) && lane->level <= TIMELINE_ONE &&
           lane->cell_level <= TIMELINE_ONE && lane->level == first->level && lane->cell_level == first->cell_level &&
           lane->shift == first->shift && lane->cell_shift == first->cell_shift && lane->bins == first->bins &&
           lane->origin_ns == first->origin_ns && lane->threads > 0 && timeline_lane_states_sane(lane->ns, lane->bins);
}

/* Checks all records, and finds the width of the widest bins. */
static const char *timeline_check_items(struct reading *reading)
{
    bool job = reading->profile->header.merged;
    const struct timeline_lane_record *first = NULL;
    for (size_t i = 0; i < reading->count; i++) {
        const struct item *item = &reading->item[i];
        const struct profile_few_bins *few = item->record;
        uint32_t shift = few->shift; /* all kinds of records have `shift` at the same offset */
        first = item->lane && !first ? item->record : first;
        bool sane = item->lane  ? (job ? timeline_job_lane_sane(item->record, first) : timeline_lane_sane(item->record))
                    : item->few ? timeline_few_bins_sane(few)
                                : timeline_bins_sane(item->record);
        if (!sane)
            return damaged;
        uint32_t *widest = item->lane ? &reading->lane_shift : &reading->shift;
        *widest = shift > *widest ? shift : *widest;
    }
    return NULL;
}

_Static_assert(offsetof(struct profile_few_bins, shift) == offsetof(struct profile_bins, shift) &&
                   offsetof(struct profile_few_bins, shift) == offsetof(struct profile_lane, shift) &&
                   offsetof(struct profile_few_bins, shift) == offsetof(struct timeline_lane_record, shift),
               "both records have `shift` at the same offset");

/* Returns the time in ns from the tool's start to the end of the run. If the run did not end, returns the
 * time to the last sample. */
static uint64_t timeline_run_length_ns(const struct profile *profile)
{
    uint64_t begin = profile->header.tool_start_ns, end = profile->header.end_ns;
    for (size_t i = 0; i < profile->thread_count && profile->header.end_ns == 0; i++) {
        uint64_t last = profile_thread_end_ns(&profile->threads[i]);
        end = last > end ? last : end;
    }
    return end > begin ? end - begin : 0;
}

/* Chooses the width of the bins for the length of the run. The width is at least the largest width in the
 * file. */
static void timeline_choose_widths(struct reading *reading)
{
    uint32_t shift = profile_time_shift(timeline_run_length_ns(reading->profile));
    struct timeline *timeline = &reading->profile->timeline;
    shift = reading->shift > shift ? reading->shift : shift;
    if (reading->lane_shift + PROFILE_TIME_FINER > shift)
        shift = reading->lane_shift + PROFILE_TIME_FINER;
    reading->shift = shift;
    reading->lane_shift = shift - PROFILE_TIME_FINER;
    timeline->origin_ns = reading->profile->header.tool_start_ns;
    timeline->bin_ns = 1ull << reading->shift;
    timeline->lane_bin_ns = 1ull << reading->lane_shift;
}

/* Creates a lane for each tree that has records and that a thread used, in the order of the threads. */
static void timeline_make_lanes(struct reading *reading)
{
    struct profile *profile = reading->profile;
    struct timeline *timeline = &profile->timeline;
    size_t room = 0;
    timeline_choose_widths(reading);
    for (size_t i = 0; i < reading->count; i++)
        *pair_map_slot(&reading->lanes, reading->item[i].owner, 0) = NO_LANE;
    for (size_t i = 0; i < profile->thread_count; i++) {
        uint64_t tree = profile->threads[i].tree;
        uint32_t *slot = pair_map_slot(&reading->lanes, tree, 0);
        if (*slot == NO_LANE && tree) {
            memory_grow(&timeline->lanes, &room, timeline->lane_count, sizeof *timeline->lanes);
            *slot = (uint32_t)timeline->lane_count;
            timeline->lanes[timeline->lane_count++] =
                (struct timeline_lane){.tree = tree,
                                       .thread = (uint32_t)i,
                                       .threads = 1,
                                       .cell_lane = *slot,
                                       .ns = memory_array(PROFILE_LANE_BINS, sizeof *timeline->lanes->ns)};
        }
    }
}

/* Converts a record's bin number to the number of the bin in the common width. Returns NO_BIN if the record's
 * bin was merged into an earlier one. `shift` and `merged` are as in struct profile_bins. */
static uint32_t timeline_bin_of_common_width(uint32_t bin, uint32_t shift, uint32_t merged, uint32_t widest)
{
    if (merged && bin >= merged && bin < 2 * merged)
        return NO_BIN;
    return (uint32_t)((uint64_t)(merged && bin >= merged ? bin / 2 : bin) >> (widest - shift));
}

static void timeline_add_states(struct reading *reading, const struct profile_lane *from, struct timeline_lane *to)
{
    struct timeline *timeline = &reading->profile->timeline;
    for (uint32_t i = 0; i < PROFILE_LANE_BINS; i++) {
        uint32_t bin = timeline_bin_of_common_width(i, from->shift, from->merged, reading->lane_shift);
        for (size_t state = 0; bin != NO_BIN && state < PROFILE_TIME_STATES; state++) {
            if (from->ns[i][state] > 0 && bin >= timeline->lane_bins)
                timeline->lane_bins = bin + 1;
            to->ns[bin][state] += (double)from->ns[i][state];
        }
    }
}

static void timeline_add_cell(struct reading *reading, const struct item *item, uint32_t lane, uint32_t bin,
                              const struct profile_time_value *value)
{
    static const struct profile_time_value nothing;
    struct timeline *timeline = &reading->profile->timeline;
    if (bin == NO_BIN || memcmp(value, &nothing, sizeof nothing) == 0)
        return;
    memory_grow(&timeline->cells, &reading->cell_room, timeline->cell_count, sizeof *timeline->cells);
    timeline->cells[timeline->cell_count++] =
        (struct timeline_cell){.node = item->node, .lane = lane, .bin = bin, .value = *value};
    timeline->bins = bin >= timeline->bins ? bin + 1 : timeline->bins;
}

/* Returns the index of each rank's first thread, for each rank record. The caller frees the list. */
static uint32_t *timeline_first_threads(const struct profile *profile)
{
    uint32_t *first = memory_array(profile->rank_count + 1, sizeof *first);
    for (size_t i = profile->thread_count; i-- > 0;)
        if (profile->threads[i].rank_record <= profile->rank_count)
            first[profile->threads[i].rank_record] = (uint32_t)i;
    return first;
}

/* Returns the first thread of a job's lane, which has the rank, thread id and start that the lane's record
 * stores. */
static uint32_t timeline_lane_find_thread(const struct profile *profile, const struct timeline_lane_record *from,
                                          uint32_t first)
{
    for (size_t i = first; from->level == TIMELINE_THREADS && i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->rank_record == from->rank_record && thread->tid == from->tid && thread->begin_ns == from->begin_ns)
            return (uint32_t)i;
    }
    return first;
}

/* Creates a lane of a job. Returns false if the lane's number is too large or already used, or if the rank or
 * the cell_lane of the lane does not exist. */
static bool timeline_make_job_lane(struct reading *reading, const struct item *item, const uint32_t *first_thread)
{
    struct timeline *timeline = &reading->profile->timeline;
    const struct timeline_lane_record *from = item->record;
    if (item->owner == 0 || item->owner > timeline->lane_count)
        return false;
    *pair_map_slot(&reading->lanes, item->owner, 0) = item->owner - 1;
    if (!item->lane)
        return true;
    struct timeline_lane *lane = &timeline->lanes[item->owner - 1];
    if (lane->ns || from->cell_lane >= timeline->lane_count || from->rank_record == 0 ||
        from->rank_record > reading->profile->rank_count)
        return false;
    *lane = (struct timeline_lane){
        .thread = timeline_lane_find_thread(reading->profile, from, first_thread[from->rank_record]),
        .threads = from->threads,
        .rank_record = from->rank_record,
        .rank = from->rank,
        .cell_lane = from->cell_lane,
        .ns = memory_array(from->bins, sizeof *lane->ns)};
    timeline->lane_bins = from->bins;
    timeline->bins = from->cell_bins;
    timeline->origin_ns = from->origin_ns;
    timeline->level = from->level;
    timeline->cell_level = from->cell_level;
    timeline->without = from->without;
    timeline->bin_ns = 1ull << from->cell_shift;
    timeline->lane_bin_ns = 1ull << from->shift;
    return true;
}

static bool timeline_make_job_lanes(struct reading *reading)
{
    struct timeline *timeline = &reading->profile->timeline;
    uint32_t *first_thread = timeline_first_threads(reading->profile);
    size_t count = 0;
    for (size_t i = 0; i < reading->count; i++)
        count += reading->item[i].lane;
    timeline->lanes = memory_array(count, sizeof *timeline->lanes);
    timeline->lane_count = count;
    bool good = reading->profile->thread_count > 0;
    for (size_t i = 0; good && i < reading->count; i++)
        good = timeline_make_job_lane(reading, &reading->item[i], first_thread);
    free(first_thread);
    /* all records of a job have the same width; a record with another width is damaged */
    good = good && timeline->bin_ns >> reading->shift;
    reading->shift = good ? (uint32_t)__builtin_ctzll(timeline->bin_ns) : 0;
    return good;
}

/* Adds the states in a record of a job's lane. Its bins already have the job's width. */
static void timeline_add_job_states(const struct timeline *timeline, const struct timeline_lane_record *from,
                                    struct timeline_lane *to)
{
    for (uint32_t i = 0; i < timeline->lane_bins; i++)
        for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
            to->ns[i][state] = (double)from->ns[i][state];
}

static void timeline_add_item(struct reading *reading, const struct item *item)
{
    const struct profile_few_bins *few = item->record;
    const struct profile_bins *bins = item->record;
    uint32_t lane = *pair_map_slot(&reading->lanes, item->owner, 0);
    if (lane == NO_LANE)
        return;
    if (item->lane && reading->profile->header.merged)
        timeline_add_job_states(&reading->profile->timeline, item->record, &reading->profile->timeline.lanes[lane]);
    else if (item->lane)
        timeline_add_states(reading, item->record, &reading->profile->timeline.lanes[lane]);
    for (uint32_t i = 0; !item->lane && i < (item->few ? few->count : PROFILE_TIME_BINS); i++) {
        uint32_t number = item->few ? few->entry[i].bin : i;
        timeline_add_cell(
            reading, item, lane,
            timeline_bin_of_common_width(number, few->shift, item->few ? 0 : bins->merged, reading->shift),
            item->few ? &few->entry[i].value : &bins->bin[i]);
    }
}

/* Sets the numbers of bins such that they cover the run and all bins with values. */
static void timeline_count_bins(struct reading *reading)
{
    struct timeline *timeline = &reading->profile->timeline;
    uint64_t length = timeline_run_length_ns(reading->profile), last = length ? length - 1 : 0;
    if (timeline->lane_bins <= last >> reading->lane_shift)
        timeline->lane_bins = (uint32_t)(last >> reading->lane_shift) + 1;
    if (timeline->bins <= (timeline->lane_bins - 1) >> PROFILE_TIME_FINER)
        timeline->bins = ((timeline->lane_bins - 1) >> PROFILE_TIME_FINER) + 1;
}

const char *profile_read_timeline(const struct profile_chunks *chunks, const uint32_t *node_map,
                                  struct profile *profile)
{
    struct reading reading = {.chunks = chunks, .node_map = node_map, .profile = profile};
    reading.taken = memory_array((size_t)chunks->count * PROFILE_UNITS_PER_CHUNK / 8 + 1, 1);
    timeline_gather_items(&reading);
    free(reading.taken);
    const char *wrong = timeline_check_items(&reading);
    if (!wrong && reading.count && profile->header.merged && !timeline_make_job_lanes(&reading))
        wrong = damaged;
    if (!wrong && reading.count) {
        if (!profile->header.merged)
            timeline_make_lanes(&reading);
        uint32_t bins = profile->timeline.bins;
        for (size_t i = 0; i < reading.count; i++)
            timeline_add_item(&reading, &reading.item[i]);
        if (!profile->header.merged)
            timeline_count_bins(&reading);
        else if (bins != profile->timeline.bins)
            wrong = damaged;
        timeline_join_cells(&profile->timeline, profile->node_count);
        if (!profile->timeline.lane_count)
            timeline_free(&profile->timeline);
    }
    pair_map_free(&reading.lanes);
    free(reading.item);
    return wrong;
}
