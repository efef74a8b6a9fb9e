#include "tests/unit/unit.h"

#include <math.h>

#include "command/profile/timeline_job.h"

#define NODES    40
#define REALTIME 1700000000123456789
#define START    5000000000u
#define LANES    2

/* Begins and ends at times of its own; each rank's samples are in bins and contexts of its own, too. */
static struct profile *make_rank(uint32_t rank)
{
    struct profile *profile = calloc(1, sizeof *profile);
    uint64_t begin = START + rank * 7654321ull, length = 1500000000ull + rank % 7 * 123456789ull;
    uint32_t shift = profile_time_shift(length);
    profile->header = (struct profile_header){.start_realtime_ns = REALTIME,
                                              .start_ns = 1000,
                                              .tool_start_ns = begin,
                                              .end_ns = begin + length,
                                              .threads_max = 1 + rank % 3,
                                              .rank = rank};
    profile->thread_count = LANES;
    profile->threads = calloc(LANES, sizeof *profile->threads);
    struct timeline *timeline = &profile->timeline;
    *timeline = (struct timeline){
        .origin_ns = begin, .bin_ns = 1ull << shift, .lane_bin_ns = 1ull << (shift - 2), .lane_count = LANES};
    timeline->lane_bins = (uint32_t)((length - 1) >> (shift - 2)) + 1;
    timeline->bins = (timeline->lane_bins - 1) / 4 + 1;
    timeline->lanes = calloc(LANES, sizeof *timeline->lanes);
    timeline->cells = calloc(2 * timeline->bins, sizeof *timeline->cells);
    for (uint32_t i = 0; i < LANES; i++) {
        timeline->lanes[i] = (struct timeline_lane){.tree = 1 + i,
                                                    .thread = i,
                                                    .threads = 1,
                                                    .cell_lane = i,
                                                    .ns = calloc(timeline->lane_bins, sizeof *timeline->lanes->ns)};
        for (uint32_t bin = 0; bin < timeline->lane_bins; bin++)
            timeline->lanes[i].ns[bin][(bin + rank + i) % PROFILE_TIME_STATES] = 1000 * (1 + bin % 5);
    }
    for (uint32_t bin = 0; bin < timeline->bins; bin++)
        for (uint32_t i = 0; i < 2; i++)
            timeline->cells[timeline->cell_count++] =
                (struct timeline_cell){.node = (bin / 30 + i + rank) % NODES,
                                       .bin = bin,
                                       .lane = i,
                                       .value = {.own = 1000, .inverse_busy = 500, .lock_wait = (float)i}};
    timeline_join_cells(timeline, NODES);
    return profile;
}

static struct profile *start_job(void)
{
    struct profile *job = calloc(1, sizeof *job);
    job->header = (struct profile_header){
        .start_realtime_ns = REALTIME, .start_ns = 1000, .tool_start_ns = UINT64_MAX, .threads_max = 1};
    job->nodes = calloc(NODES, sizeof *job->nodes);
    for (uint32_t i = 1; i < NODES; i++)
        job->nodes[i].parent = (i - 1) / 2;
    job->node_count = NODES;
    return job;
}

/* As job.c does it. */
static void add(struct timeline_join *join, struct profile *job, struct profile *rank)
{
    static uint32_t place[NODES];
    struct profile_header *to = &job->header;
    const struct profile_header *from = &rank->header;
    for (uint32_t i = 0; i < NODES; i++)
        place[i] = i;
    to->tool_start_ns = from->tool_start_ns < to->tool_start_ns ? from->tool_start_ns : to->tool_start_ns;
    to->end_ns = from->end_ns > to->end_ns ? from->end_ns : to->end_ns;
    to->threads_max = from->threads_max > to->threads_max ? from->threads_max : to->threads_max;
    to->merged += from->merged ? from->merged : 1;
    timeline_join_add(join, job, rank, place, job->thread_count);
    job->thread_count += rank->thread_count;
    job->rank_count += from->merged ? rank->rank_count : 1;
    profile_free(rank);
}

/* The ranks from first to before end: one after the other, or cut in two at random. */
static struct profile *make_part(uint32_t first, uint32_t end, bool cut)
{
    struct timeline_join join = {0};
    struct profile *job = start_job();
    if (cut && end - first > 1) {
        uint32_t middle = first + 1 + (uint32_t)rand() % (end - first - 1);
        add(&join, job, make_part(first, middle, rand() % 4));
        add(&join, job, make_part(middle, end, rand() % 4));
    } else {
        for (uint32_t rank = first; rank < end; rank++)
            add(&join, job, make_rank(rank));
    }
    timeline_join_end(&join, job);
    return job;
}

static void assert_close(double a, double b, double most)
{
    if (fabs(a - b) > most * fmax(1, fmax(fabs(a), fabs(b))))
        fail_msg("%.12g is not %.12g", a, b);
}

static void assert_same(const struct timeline *a, const struct timeline *b)
{
    assert_true(a->origin_ns == b->origin_ns && a->bin_ns == b->bin_ns && a->lane_bin_ns == b->lane_bin_ns);
    assert_int_equal(a->lane_count, b->lane_count);
    assert_int_equal(a->cell_count, b->cell_count);
    for (size_t i = 0; i < a->lane_count; i++) {
        assert_int_equal(a->lanes[i].rank, b->lanes[i].rank);
        assert_int_equal(a->lanes[i].rank_record, b->lanes[i].rank_record);
        assert_int_equal(a->lanes[i].thread, b->lanes[i].thread);
        assert_int_equal(a->lanes[i].threads, b->lanes[i].threads);
        assert_int_equal(a->lanes[i].cell_lane, b->lanes[i].cell_lane);
        for (size_t bin = 0; bin < a->lane_bins; bin++)
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                assert_close(a->lanes[i].ns[bin][state], b->lanes[i].ns[bin][state], 1e-9);
    }
    for (size_t i = 0; i < a->cell_count; i++) {
        assert_true(a->cells[i].node == b->cells[i].node && a->cells[i].bin == b->cells[i].bin &&
                    a->cells[i].lane == b->cells[i].lane);
        assert_close((double)a->cells[i].value.own, (double)b->cells[i].value.own, 1e-5);
        assert_close((double)a->cells[i].value.inverse_busy, (double)b->cells[i].value.inverse_busy, 1e-5);
    }
}

/* What the ranks had is there, of any number of them, and within the bounds. */
static void assert_is_of(const struct profile *job, uint32_t ranks)
{
    double wanted[PROFILE_TIME_STATES] = {0}, found[PROFILE_TIME_STATES], part[PROFILE_TIME_STATES];
    struct timeline_sum sum = {0}, cells = timeline_sum_cells(&job->timeline);
    for (uint32_t i = 0; i < ranks; i++) {
        struct profile *rank = make_rank(i);
        timeline_sum_lanes(&rank->timeline, part);
        for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
            wanted[state] += part[state];
        struct timeline_sum of_rank = timeline_sum_cells(&rank->timeline);
        sum.own += of_rank.own;
        sum.inverse_busy += of_rank.inverse_busy * rank->header.threads_max / job->header.threads_max;
        sum.lock_wait += of_rank.lock_wait;
        profile_free(rank);
    }
    timeline_sum_lanes(&job->timeline, found);
    for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
        assert_close(found[state], wanted[state], 1e-9);
    assert_close(cells.own, sum.own, 1e-5);
    assert_close(cells.inverse_busy, sum.inverse_busy, 1e-5);
    assert_close(cells.lock_wait, sum.lock_wait, 1e-5);
    assert_true(job->timeline.bins <= PROFILE_TIME_BINS && job->timeline.lane_count <= TIMELINE_JOB_LANES);
    size_t pairs = 0;
    struct timeline_cell *cell = timeline_cells_by_lane(&job->timeline, NODES);
    for (size_t i = 0; i < job->timeline.cell_count; i++)
        pairs += i == 0 || cell[i].node != cell[i - 1].node || cell[i].lane != cell[i - 1].lane;
    free(cell);
    assert_true(pairs <= TIMELINE_JOB_PAIRS);
    assert_true(job->timeline.lane_count * job->timeline.lane_bins <= (size_t)TIMELINE_JOB_LANES * PROFILE_TIME_BINS);
}

static void assert_any_parts_are_the_whole(uint32_t ranks, uint8_t level, int rounds)
{
    struct profile *job = make_part(0, ranks, false);
    assert_int_equal(job->timeline.level, level);
    assert_true(job->timeline.cell_level >= level);
    assert_is_of(job, ranks);
    for (int round = 0; round < rounds; round++) {
        srand((unsigned)round);
        struct profile *again = make_part(0, ranks, true);
        assert_same(&again->timeline, &job->timeline);
        profile_free(again);
    }
    profile_free(job);
}

UNIT_TEST(bins_of_ranks_are_shared_out_whatever_parts_the_job_was_cut_into)
{
    assert_any_parts_are_the_whole(1, TIMELINE_THREADS, 1);
    assert_any_parts_are_the_whole(9, TIMELINE_THREADS, 20);
    assert_any_parts_are_the_whole(200, TIMELINE_THREADS, 1);
}

UNIT_TEST(many_threads_are_ranks_and_many_ranks_are_groups)
{
    assert_any_parts_are_the_whole(600, TIMELINE_RANKS, 1);
    assert_any_parts_are_the_whole(1300, 2, 1); /* two ranks each */
}

UNIT_TEST(a_bin_is_shared_out_by_the_time_that_the_others_have_of_it)
{
    struct timeline_join join = {0};
    struct profile *job = start_job(), *rank = make_rank(0);
    uint64_t width = rank->timeline.lane_bin_ns, into = (uint64_t)(REALTIME + START - 1000) % rank->timeline.bin_ns;
    add(&join, job, rank);
    timeline_join_end(&join, job);
    assert_int_equal(job->timeline.origin_ns, START - into);
    double part = (double)(width - into % width) / (double)width;
    const double *first = job->timeline.lanes[0].ns[into / width],
                 *second = job->timeline.lanes[0].ns[into / width + 1];
    assert_close(first[0], 1000 * part, 1e-9);
    assert_close(second[0], 1000 * (1 - part), 1e-9);
    assert_close(second[1], 2000 * part, 1e-9);
    profile_free(job);
}

UNIT_TEST(contexts_beyond_the_room_are_added_to_those_above)
{
    struct profile *job = start_job();
    struct timeline *timeline = &job->timeline;
    job->nodes = realloc(job->nodes, 3001 * sizeof *job->nodes);
    memset(job->nodes, 0, 3001 * sizeof *job->nodes);
    job->node_count = 3001;
    timeline->bins = 5;
    timeline->cells = calloc(3000 * 5, sizeof *timeline->cells);
    for (uint32_t i = 1; i <= 3000; i++) {
        job->nodes[i].parent = i % 10 ? i - i % 10 : 0; /* ten below each tenth, which is the largest */
        for (uint32_t bin = 0; bin < (i == 11 ? 3 : 5); bin++)
            timeline->cells[timeline->cell_count++] =
                (struct timeline_cell){.node = i, .bin = bin, .value = {.own = i % 10 ? 1.0f + (float)i / 4096 : 100}};
    }
    double sum = timeline_sum_cells(timeline).own;
    timeline_join_prune(job);
    assert_close(timeline_sum_cells(timeline).own, sum, 1e-6);
    size_t dense = 0, few = 0;
    for (size_t i = 0; i < timeline->cell_count; i++) {
        dense += timeline->cells[i].bin == 4 && timeline->cells[i].node;
        few += timeline->cells[i].node == 11;
        if (timeline->cells[i].node == 20 && timeline->cells[i].bin == 4) /* of 21 to 29, that are small */
            assert_true(timeline->cells[i].value.own > 109 && timeline->cells[i].value.own < 110);
    }
    assert_int_equal(dense, TIMELINE_JOB_DENSE);
    assert_int_equal(few, 3);
    profile_free(job);
}

UNIT_MAIN(NULL, NULL)
