/* needs: tests/fuzz/profile_builder.c */
#include "tests/unit/unit.h"

#include <math.h>

#include "command/profile/job.h"
#include "command/profile/read.h"
#include "command/profile/spread.h"
#include "command/profile/write.h"
#include "tests/fuzz/profile_builder.h"

#define MOST_RANKS 40
#define MADE_RANKS 5

static struct profile_spread of_one(uint32_t rank, double value)
{
    return (struct profile_spread){
        .mean = value, .least = value, .most = value, .ranks = 1, .least_rank = rank, .most_rank = rank};
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static void assert_is_of(const struct spread_shown *shown, const double *value, size_t ranks)
{
    double mean = 0, squares = 0, least = value[0], most = value[0];
    for (size_t i = 0; i < ranks; i++) {
        mean += value[i] / (double)ranks;
        least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    for (size_t i = 0; i < ranks; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    assert_true(is_close(shown->mean, mean));
    assert_true(fabs(shown->deviation - sqrt(squares / (double)ranks)) <= 1e-9 * fmax(1, mean));
    assert_true(shown->least == least && shown->most == most);
}

/* Values of random ranks, some of which lack it, added up two groups at a time, any two. */
UNIT_TEST(any_order_and_any_tree_of_sums_gives_the_same)
{
    srand(7);
    for (int round = 0; round < 2000; round++) {
        struct profile_spread group[MOST_RANKS];
        double value[MOST_RANKS] = {0};
        uint32_t ranks = 2 + (uint32_t)rand() % (MOST_RANKS - 1), count = 0, first = 0;
        bool alike = rand() % 2;
        for (uint32_t i = 0; i < ranks; i++)
            if (i == 0 || rand() % 4) {
                value[i] = alike ? 1e12 + rand() % 1000 : 1e3 * rand() / RAND_MAX + 1;
                group[count++] = of_one(i, value[i]);
                first = count == 1 || value[i] > value[first] ? i : first;
            }
        while (count > 1) {
            uint32_t a = (uint32_t)rand() % count, b = (uint32_t)rand() % count;
            if (a == b)
                continue;
            profile_spread_add(&group[a], &group[b]);
            group[b] = group[--count];
        }
        struct spread_shown shown = profile_spread_over(&group[0], ranks);
        assert_is_of(&shown, value, ranks);
        assert_int_equal(group[0].most_rank, first);
        assert_int_equal(shown.least_known, group[0].ranks == ranks);
    }
}

static char path[MADE_RANKS + 1][64];

static int make_paths(void **state)
{
    (void)state;
    for (int i = 0; i <= MADE_RANKS; i++)
        snprintf(path[i], sizeof path[i], "/tmp/blame-test-spread-%d-rank-%06d.blame", (int)getpid(), i);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int i = 0; i <= MADE_RANKS; i++)
        unlink(path[i]);
    return 0;
}

/* main > two lines of one function, which waits in MPI; the last rank has more work, and rank 0 does not wait. */
static void write_rank(uint32_t rank)
{
    struct profile_builder builder;
    builder_start(&builder);
    struct profile_header *header = builder_header(&builder);
    header->finished = header->in_job = 1;
    header->rank = rank;
    header->ranks = MADE_RANKS;
    header->threads_max = header->cores = 2;
    header->before_start_ns = 500;
    struct profile_module module = {.vaddr_high = 0x100000, .build_id_bytes = 20, .build_id = {1}, .path = "/tmp/app"};
    builder_module(&builder, &module);
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t main = builder_node(&builder, 1, root, PROFILE_NODE_FRAME, PROFILE_KEY(1, 0x200));
    uint32_t line = builder_node(&builder, 1, main, PROFILE_NODE_FRAME, PROFILE_KEY(1, 0x300));
    uint32_t call = builder_node(&builder, 1, main, PROFILE_NODE_FRAME, PROFILE_KEY(1, 0x310));
    uint32_t lock = builder_node(&builder, 1, line, PROFILE_NODE_LOCK, PROFILE_LOCK_KEY(1, 0x4000));
    builder_metric(&builder, 1, line, &(struct profile_metric){.work = 1000 + 100 * rank, .overhead = 7});
    builder_metric(&builder, 1, lock, &(struct profile_metric){.lock_wait_here = 30, .lock_wait = 9999});
    builder_metric(&builder, 1, call, &(struct profile_metric){.work = 5});
    if (rank)
        builder_metric(&builder, 1, builder_node(&builder, 1, call, PROFILE_NODE_MPI, 3),
                       &(struct profile_metric){.work = 10 * rank});
    assert_true(builder_write(&builder, path[rank]));
    builder_free(&builder);
}

static const struct profile_spread *spread_at(const struct profile *job, uint8_t kind, uint64_t vaddr, uint32_t key)
{
    for (size_t i = 0; i < job->spread_count; i++) {
        const struct merged_node *node = &job->nodes[job->spreads[i].node];
        if (node->kind == kind && PROFILE_KEY_VADDR(node->key) == vaddr && job->spreads[i].key == key)
            return &job->spreads[i].spread;
    }
    return NULL;
}

static void assert_spreads(const struct profile *job)
{
    const struct profile_spread *spread;
    /* the function called at 0x200: work, its own time, with its locks' waiters, and all that it calls */
    spread = spread_at(job, PROFILE_NODE_FRAME, 0x200, PROFILE_SPREAD_KEY(PROFILE_SPREAD_WORK, true, true));
    assert_true(spread->ranks == MADE_RANKS && is_close(spread->mean, 1205) && is_close(spread->squares, 1e5));
    assert_true(spread->most == 1405 && spread->most_rank == MADE_RANKS - 1 && spread->least == 1005);
    spread = spread_at(job, PROFILE_NODE_FRAME, 0x200, PROFILE_SPREAD_KEY(PROFILE_SPREAD_TIME, true, true));
    assert_true(is_close(spread->mean, 1205 + 7 + 30));
    spread = spread_at(job, PROFILE_NODE_FRAME, 0x200, PROFILE_SPREAD_KEY(PROFILE_SPREAD_TIME, false, true));
    assert_true(is_close(spread->mean, 1205 + 7 + 30 + 20) && spread->most == 1405 + 37 + 40);
    /* MPI's call: four ranks of five have it */
    spread = spread_at(job, PROFILE_NODE_MPI, 3, PROFILE_SPREAD_KEY(PROFILE_SPREAD_MPI_WAIT, false, false));
    assert_true(spread->ranks == MADE_RANKS - 1 && is_close(spread->mean, 25));
    struct spread_shown shown = profile_spread_over(spread, job->header.merged);
    assert_true(is_close(shown.mean, 20) && is_close(shown.deviation, sqrt(200)) && shown.least == 0 &&
                !shown.least_known);
    /* the program: with what was before */
    spread = spread_at(job, PROFILE_NODE_ROOT, 0, PROFILE_SPREAD_KEY(PROFILE_SPREAD_WORK, false, false));
    assert_true(is_close(spread->mean, 1705));
    assert_null(spread_at(job, PROFILE_NODE_FRAME, 0x300, PROFILE_SPREAD_KEY(PROFILE_SPREAD_WORK, true, false)));
}

UNIT_TEST_WITH(a_job_knows_how_its_ranks_differ_and_its_file_keeps_it, make_paths, remove_files)
{
    const char *paths[MADE_RANKS];
    char error[512], *why;
    for (uint32_t i = 0; i < MADE_RANKS; i++) {
        write_rank(i);
        paths[i] = path[i];
    }
    struct profile *job = job_read(paths, MADE_RANKS, NULL, &why);
    assert_spreads(job);
    assert_int_equal(profile_write(job, path[MADE_RANKS]), 0);
    struct profile *again = profile_read(path[MADE_RANKS], error, sizeof error);
    assert_spreads(again);
    assert_int_equal(again->spread_count, job->spread_count);
    assert_memory_equal(again->spreads, job->spreads, job->spread_count * sizeof *job->spreads);
    profile_free(again);
    profile_free(job);
}

/* A file with one spread below its root; how many are read, -1: it is refused. */
static int read_one(uint32_t merged, uint64_t key, const struct profile_spread *spread)
{
    struct profile_builder builder;
    char error[512];
    builder_start(&builder);
    builder_header(&builder)->merged = merged;
    builder_header(&builder)->finished = 1;
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    builder_record(&builder, 1, builder_node(&builder, 1, root, PROFILE_NODE_SPREAD, key), spread);
    assert_true(builder_write(&builder, path[0]));
    builder_free(&builder);
    struct profile *profile = profile_read(path[0], error, sizeof error);
    int count = profile ? (int)profile->spread_count : -1;
    if (!profile)
        assert_non_null(strstr(error, "damaged: the difference between ranks"));
    profile_free(profile);
    return count;
}

UNIT_TEST_WITH(a_damaged_spread_is_refused_and_an_unknown_one_left_out, make_paths, remove_files)
{
    struct profile_spread good = of_one(3, 5), none = good, infinite = good, negative = good;
    none.ranks = 0;
    infinite.mean = INFINITY;
    negative.squares = -1;
    assert_int_equal(read_one(2, 0, &good), 1);
    assert_int_equal(read_one(0, 0, &good), 0); /* of a process */
    assert_int_equal(read_one(2, PROFILE_SPREAD_KEYS, &good), 0);
    assert_int_equal(read_one(2, 0, &none), -1);
    assert_int_equal(read_one(2, 0, &infinite), -1);
    assert_int_equal(read_one(2, 0, &negative), -1);
}

UNIT_MAIN(NULL, NULL)
