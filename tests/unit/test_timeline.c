/* needs: tests/fuzz/profile_builder.c */
#include "tests/unit/built_file.h"

#include <math.h>

#define SHIFT      PROFILE_TIME_SHIFT
#define LANE_SHIFT (PROFILE_TIME_SHIFT - PROFILE_TIME_FINER)
#define START      1000000000u /* the tool's, as builder_start() has it */

static uint32_t root[3]; /* by tree */

/* Two threads' trees, number 1 and 2, and 1 s. */
static int make_file(void **state)
{
    (void)state;
    unit_fresh_path();
    builder_start(&builder);
    builder_header(&builder)->end_ns = START + 1000000000;
    for (uint32_t tree = 1; tree <= 2; tree++) {
        builder_thread(
            &builder,
            &(struct profile_thread){
                .kind = tree, .tid = (int)tree, .tree = tree, .begin_ns = START + tree, .end_ns = START + 1000000000});
        root[tree] = builder_node(&builder, tree, 0, PROFILE_NODE_ROOT, 0);
    }
    return 0;
}

static void assert_refused(void)
{
    assert_true(builder_write(&builder, unit_path));
    assert_null(profile_read(unit_path, error, sizeof error));
    assert_non_null(strstr(error, ": damaged: a bin of the timeline has an impossible value"));
}

static void put_few(uint32_t tree, uint32_t node, const struct profile_few_bins *few)
{
    builder_record(&builder, tree, builder_node(&builder, tree, node, PROFILE_NODE_TIME, 0), few);
}

static void put_bins(uint32_t tree, uint32_t node, const struct profile_bins *bins)
{
    builder_time(&builder, tree, node, PROFILE_NODE_TIME, bins, sizeof *bins);
}

static void put_lane(uint32_t tree, const struct profile_lane *lane)
{
    builder_time(&builder, tree, root[tree], PROFILE_NODE_LANE, lane, sizeof *lane);
}

static void assert_cell(const struct timeline *timeline, size_t i, uint32_t node, uint32_t lane, uint32_t bin,
                        double own)
{
    assert_true(i < timeline->cell_count);
    const struct timeline_cell *cell = &timeline->cells[i];
    assert_int_equal(cell->node, node);
    assert_int_equal(cell->lane, lane);
    assert_int_equal(cell->bin, bin);
    assert_true(fabs((double)cell->value.own - own) <= 1e-6 * own);
}

UNIT_TEST_WITH(a_file_without_it_has_no_timeline, make_file, remove_file)
{
    struct profile *profile = read_built();
    assert_int_equal(profile->timeline.bins, 0);
    assert_int_equal(profile->timeline.lane_bins, 0);
    profile_free(profile);
}

UNIT_TEST_WITH(bins_of_trees_meet_at_the_merged_nodes, make_file, remove_file)
{
    struct profile_bins bins = {.form = PROFILE_TIME_DENSE, .shift = SHIFT};
    struct profile_few_bins few = {.shift = SHIFT, .count = 2, .entry = {{7, {.own = 3}}, {5, {.own = 2}}}};
    struct profile_lane lane = {.shift = LANE_SHIFT};
    uint32_t a = builder_node(&builder, 1, root[1], PROFILE_NODE_FRAME, KEY(0x10));
    uint32_t b = builder_node(&builder, 2, root[2], PROFILE_NODE_FRAME, KEY(0x10));
    bins.bin[5] = (struct profile_time_value){.own = 100, .inverse_busy = 1, .shared_idle = 2, .lock_wait = 4};
    bins.bin[59].own = 9;
    lane.ns[20][PROFILE_TIME_WORK] = 100;
    lane.ns[237][PROFILE_TIME_STOPPED] = 9;
    put_bins(1, a, &bins);
    put_few(2, b, &few);
    put_lane(2, &lane);
    put_few(1, builder_node(&builder, 1, a, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(1, 5)), &few); /* the context's, too */
    struct profile *profile = read_built();
    const struct timeline *timeline = &profile->timeline;
    assert_int_equal(timeline->origin_ns, START);
    assert_int_equal(timeline->bin_ns, 1u << SHIFT);
    assert_int_equal(timeline->lane_bin_ns, 1u << LANE_SHIFT);
    assert_int_equal(timeline->bins, 60); /* 1 s / 16.8 ms */
    assert_int_equal(timeline->lane_bins, 239);
    assert_int_equal(timeline->lane_count, 2);
    assert_int_equal(timeline->lanes[1].thread, 1);
    assert_int_equal(timeline->lanes[1].tree, 2);
    assert_true(timeline->lanes[1].ns[20][PROFILE_TIME_WORK] == 100 &&
                timeline->lanes[1].ns[237][PROFILE_TIME_STOPPED] == 9);
    assert_int_equal(timeline->cell_count, 5);
    assert_cell(timeline, 0, 1, 0, 5, 102);
    assert_cell(timeline, 1, 1, 1, 5, 2);
    assert_cell(timeline, 2, 1, 0, 7, 3);
    assert_cell(timeline, 3, 1, 1, 7, 3);
    assert_cell(timeline, 4, 1, 0, 59, 9);
    struct timeline_sum sum = timeline_sum_cells(timeline);
    assert_true(sum.own == 119 && sum.inverse_busy == 1 && sum.shared_idle == 2 && sum.lock_wait == 4);
    profile_free(profile);
    profile = profile_read_thread(unit_path, 1, error, sizeof error);
    assert_int_equal(profile->timeline.lane_count, 1);
    assert_int_equal(profile->timeline.lanes[0].thread, 1);
    assert_int_equal(profile->timeline.cell_count, 2);
    profile_free(profile);
}

/* Two threads were there, for 4 s; later there were eight at once. */
UNIT_TEST_WITH(nobody_idles_while_the_process_is_stopped, make_file, remove_file)
{
    struct profile_few_bins few = {.shift = SHIFT, .count = 1, .entry = {{7, {.own = 4e9f, .inverse_busy = 2e9f}}}};
    builder_header(&builder)->threads_max = 8;
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t stopped = builder_node(&builder, tree, root[tree], PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_STOPPED);
        builder_metric(&builder, tree, stopped, &(struct profile_metric){.work = 4e9, .inverse_busy = 2e9});
        put_few(tree, stopped, &few);
    }
    struct profile *profile = read_built();
    struct timeline_sum sum = timeline_sum_cells(&profile->timeline);
    const struct merged_node *stopped = &profile->nodes[1];
    assert_true(stopped->metric.blocked == 8e9 && stopped->metric.inverse_busy == 1e9);
    assert_true(sum.own == 8e9 && sum.inverse_busy == 1e9);
    assert_true(profile->stopped_ns == 4e9 && profile_stopped_beside_ns(profile) == 3e9);
    profile_free(profile);
}

/* A sample of a sleeping thread stands for the time around it; what has no room stays. */
UNIT_TEST_WITH(a_lane_has_no_gaps_between_samples_that_are_seldom, make_file, remove_file)
{
    static const int sleeps = PROFILE_TIME_BLOCKED, works = PROFILE_TIME_WORK;
    const float width = (float)(1u << LANE_SHIFT);
    struct profile_lane lane = {.shift = LANE_SHIFT};
    lane.ns[10][sleeps] = 5 * width;
    lane.ns[11][works] = width;
    lane.ns[0][works] = 1.5f * width;
    put_lane(1, &lane);
    struct profile *profile = read_built();
    timeline_spread_lanes(&profile->timeline);
    double(*ns)[PROFILE_TIME_STATES] = profile->timeline.lanes[0].ns, sum[PROFILE_TIME_STATES];
    for (int bin = 7; bin <= 12; bin++) {
        assert_true(fabs(ns[bin][bin == 11 ? works : sleeps] - (double)width) < 1);
        assert_true(ns[bin][bin == 11 ? sleeps : works] < 1);
    }
    assert_true(fabs(ns[1][works] - 0.5 * (double)width) < 1);
    profile->timeline.spread = false; /* now the sum of what the bins hold */
    timeline_sum_lanes(&profile->timeline, sum);
    assert_true(fabs(sum[sleeps] - 5 * (double)width) < 1 && fabs(sum[works] - 2.5 * (double)width) < 1);
    ns[3][sleeps] = INFINITY; /* of a damaged file */
    profile->timeline.lanes[0].threads = 0;
    timeline_spread_lanes(&profile->timeline);
    profile->timeline.lanes[0].threads = 1;
    timeline_spread_lanes(&profile->timeline);
    profile_free(profile);
}

UNIT_TEST_WITH(what_is_narrower_is_merged_and_what_was_being_merged_counts_once, make_file, remove_file)
{
    struct profile_bins bins = {.form = PROFILE_TIME_DENSE, .shift = SHIFT + 1, .merged = 20};
    struct profile_few_bins few = {.shift = SHIFT + 2, .count = 1, .entry = {{29, {.own = 1000}}}};
    struct profile_lane lane = {.shift = LANE_SHIFT, .merged = 1};
    uint32_t a = builder_node(&builder, 1, root[1], PROFILE_NODE_FRAME, KEY(0x10));
    for (size_t i = 0; i < PROFILE_TIME_BINS; i++)
        bins.bin[i].own = 1;
    bins.bin[25].own = 77; /* is in bin 12 already */
    lane.ns[0][PROFILE_TIME_IDLE] = lane.ns[3][PROFILE_TIME_IDLE] = 5;
    lane.ns[1][PROFILE_TIME_IDLE] = 77;
    put_bins(1, a, &bins);
    put_few(1, root[1], &few);
    put_lane(1, &lane);
    struct profile *profile = read_built();
    const struct timeline *timeline = &profile->timeline;
    assert_int_equal(timeline->bin_ns, 1u << (SHIFT + 2));
    assert_int_equal(timeline->bins, 30);
    assert_cell(timeline, 0, 0, 0, 29, 1000);
    assert_cell(timeline, 1, 1, 0, 0, 2);
    assert_cell(timeline, 10, 1, 0, 9, 2);
    assert_cell(timeline, 11, 1, 0, 10, 4); /* of the narrow ones, from the 40th on */
    assert_int_equal(timeline->cell_count, 31);
    assert_true(timeline_sum_cells(timeline).own == 1000 + 100);
    assert_true(timeline->lanes[0].ns[0][PROFILE_TIME_IDLE] == 10);
    profile_free(profile);
}

UNIT_TEST_WITH(time_of_a_region_without_a_context_goes_where_its_samples_go, make_file, remove_file)
{
    struct profile_few_bins few = {.shift = SHIFT, .count = 1, .entry = {{3, {.own = 1}}}};
    uint32_t region = builder_node(&builder, 1, 0, PROFILE_NODE_REGION, KEY(0x99));
    put_few(1, region, &few);
    put_few(1, builder_node(&builder, 1, 0, PROFILE_NODE_FREE, 0), &few); /* was recycled */
    put_few(1, builder_node(&builder, 1, 0, PROFILE_NODE_TRIE, 0), &few);
    struct profile *profile = read_built();
    assert_int_equal(profile->timeline.cell_count, 1);
    const struct merged_node *node = &profile->nodes[profile->timeline.cells[0].node];
    assert_int_equal(node->key, KEY(0x99));
    assert_int_equal(profile->nodes[node->parent].key, PROFILE_PSEUDO_UNRESOLVED);
    profile_free(profile);
}

UNIT_TEST_WITH(bins_that_nothing_can_have_measured_are_refused, make_file, remove_file)
{
    const float wrong[] = {NAN, INFINITY, -1, 1e30f};
    struct profile_few_bins record = {.shift = SHIFT, .count = 1};
    struct profile_bins bins = {.form = PROFILE_TIME_DENSE, .shift = SHIFT};
    struct profile_lane lane = {.shift = LANE_SHIFT};
    put_few(1, root[1], &record);
    put_bins(1, root[1], &bins);
    put_lane(1, &lane);
    profile_free(read_built());
    const struct profile_node *tree = builder_at(&builder, root[1]);
    struct profile_few_bins *few = (void *)builder_at(&builder, tree[1].metric);
    struct profile_bins *dense = (void *)builder_at(&builder, tree[2].metric);
    struct profile_lane *states = (void *)builder_at(&builder, tree[3].metric);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        few->entry[0].value.lock_wait = wrong[i];
        assert_refused();
        few->entry[0].value.lock_wait = 0;
        dense->bin[119].inverse_busy = wrong[i];
        assert_refused();
        dense->bin[119].inverse_busy = 0;
        states->ns[479][7] = wrong[i];
        assert_refused();
        states->ns[479][7] = 0;
    }
#define ASSERT_REFUSED_WITH(field, value, good) (field = (value), assert_refused(), field = (good))
    ASSERT_REFUSED_WITH(few->shift, 59, SHIFT);
    ASSERT_REFUSED_WITH(few->count, 4, 1);
    ASSERT_REFUSED_WITH(few->entry[0].bin, 120, 0);
    ASSERT_REFUSED_WITH(few->form, 9, PROFILE_TIME_FEW);
    ASSERT_REFUSED_WITH(dense->shift, 255, SHIFT);
    ASSERT_REFUSED_WITH(dense->merged, 61, 0);
    ASSERT_REFUSED_WITH(states->shift, 57, LANE_SHIFT);
    ASSERT_REFUSED_WITH(states->merged, 241, 0);
    few->entry[0].value.own = -5; /* what a missing core had counted too much */
    profile_free(read_built());
}

UNIT_TEST_WITH(records_that_are_not_there_and_trees_that_nobody_had_say_nothing, make_file, remove_file)
{
    struct profile_few_bins few = {.shift = SHIFT, .count = 1, .entry = {{3, {.own = 1}}}};
    struct profile_bins bins = {.form = PROFILE_TIME_DENSE, .shift = SHIFT};
    uint32_t orphan = builder_node(&builder, 9, 0, PROFILE_NODE_ROOT, 0);
    put_few(9, orphan, &few);
    struct profile *nobodys = read_built();
    assert_int_equal(nobodys->timeline.bins, 0);
    profile_free(nobodys);
    put_few(1, root[1], &few);
    for (size_t i = 0; i < 2; i++)
        put_bins(1, root[1], &bins);
    struct profile_node *tree = builder_at(&builder, root[1]);
    tree[2].metric += 1000; /* beyond the chunk's end */
    tree[3].metric = tree[1].metric + 7 * PROFILE_UNITS_PER_CHUNK;
    struct profile *profile = read_built();
    assert_int_equal(profile->timeline.lane_count, 1);
    assert_int_equal(profile->timeline.cell_count, 1);
    profile_free(profile);
}

UNIT_TEST_WITH(a_record_that_many_nodes_name_is_the_first_ones, make_file, remove_file)
{
    struct profile_bins bins = {.form = PROFILE_TIME_DENSE, .shift = SHIFT};
    bins.bin[3].own = 5;
    uint32_t record =
        builder_at(&builder, builder_time(&builder, 1, root[1], PROFILE_NODE_TIME, &bins, sizeof bins))->metric;
    for (size_t i = 0; i < 100; i++) {
        uint32_t other = builder_node(&builder, 1, root[1], PROFILE_NODE_TIME, 0);
        builder_at(&builder, other)->metric = record;
    }
    struct profile *profile = read_built();
    assert_int_equal(profile->timeline.cell_count, 1);
    assert_true(profile->timeline.cells[0].value.own == 5);
    profile_free(profile);
}

UNIT_TEST_WITH(waiting_for_a_lock_that_a_killed_program_held_is_blamed_at_its_end, make_file, remove_file)
{
    struct profile_lane lane = {.shift = LANE_SHIFT};
    struct profile_metric waiting = {.samples = 1, .lock_wait_here = 5e9};
    builder_header(&builder)->finished = 0;
    builder_metric(&builder, 1, builder_node(&builder, 1, root[1], PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(1, 5)),
                   &waiting);
    lane.ns[4][PROFILE_TIME_LOCK_WAIT] = 5e9;
    put_lane(1, &lane);
    struct profile *profile = read_built();
    assert_int_equal(profile->timeline.cell_count, 1);
    assert_cell(&profile->timeline, 0, (uint32_t)profile->node_count - 1, 0, 59, 0);
    assert_true(timeline_sum_cells(&profile->timeline).lock_wait == 5e9);
    profile_free(profile);
}

UNIT_MAIN(NULL, NULL)
