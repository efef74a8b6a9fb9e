/* needs: tests/fuzz/profile_builder.c */
#include "cct/profile_tree.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <math.h>

#include "command/profile/job.h"
#include "command/profile/read.h"
#include "command/profile/write.h"
#include "tests/fuzz/profile_builder.h"

#define RANKS          4
#define IDENTITY       "job one\n"
#define START_NS(made) (5000000000 + (made).rank) /* each node has a clock of its own */

static char error[512], *why;
static char path[8][64];
static const char *paths[8];

static int make_paths(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        snprintf(path[i], sizeof path[i], "/tmp/blame-test-%d-rank-%06d.blame", (int)getpid(), i);
        paths[i] = path[i];
    }
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        unlink(path[i]);
    return 0;
}

/* What a rank is made of. */
struct made {
    uint32_t rank, ranks, threads_max;
    bool swapped;  /* its modules have each other's numbers */
    bool another;  /* its program is another build */
    uint64_t bias; /* where the program is */
    const char *identity;
};

static void add_module(struct profile_builder *builder, const char *name, uint8_t build, uint64_t bias)
{
    struct profile_module module = {
        .vaddr_high = 0x100000, .load_bias = bias, .build_id_bytes = 20, .build_id = {build}};
    strcpy(module.path, name);
    builder_module(builder, &module);
}

static void add_locks(struct profile_builder *builder, struct made made, uint32_t root, uint32_t work, uint32_t app)
{
    const uint64_t locks[] = {PROFILE_LOCK_KEY(3, made.bias + 0x4000), PROFILE_LOCK_KEY(1, 0x70000000 + made.bias)};
    for (int i = 0; i < 2; i++) {
        uint32_t held = builder_node(builder, 1, work, PROFILE_NODE_LOCK, locks[i]);
        builder_metric(builder, 1, held, &(struct profile_metric){.lock_wait = 1e8, .lock_wait_here = 1e8});
        uint32_t waits = builder_node(builder, 1, root, PROFILE_NODE_WAITS, locks[i]);
        struct profile_waits record = {.sum_ns = 1e8, .longest_ns = 1e6 * (1 + made.rank), .waits = 3};
        if (i)
            waits = builder_node(builder, 1, waits, PROFILE_NODE_INITIALISER, PROFILE_KEY(app, 0x400));
        builder_record(builder, 1, waits, &record);
    }
}

/* main > work, with 1 s of work, 2 s / threads of inverse_busy, a lock in a variable and one of the heap, a phase; and 1 s of being stopped. */
static void add_tree(struct profile_builder *builder, struct made made, uint32_t app, uint32_t library)
{
    uint32_t root = builder_node(builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t main = builder_node(builder, 1, root, PROFILE_NODE_FRAME, PROFILE_KEY(app, 0x200));
    uint32_t phase = builder_node(builder, 1, main, PROFILE_NODE_PHASE, 1);
    uint32_t work = builder_node(builder, 1, phase, PROFILE_NODE_FRAME, PROFILE_KEY(app, 0x300));
    uint32_t entry = builder_node(builder, 1, work, PROFILE_NODE_RUNTIME, PROFILE_KEY(library, 0x300));
    uint32_t place =
        builder_node(builder, 1, work, PROFILE_NODE_WAITERS, PROFILE_PLACE_KEY(1, PROFILE_KEY(app, 0x310)));
    uint32_t lost = builder_node(builder, 1, work, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    uint32_t wait = builder_node(builder, 1, work, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_INTERPRETER_LOCK);
    uint32_t holder = builder_node(builder, 1, wait, PROFILE_NODE_HOLDER, PROFILE_KEY(app, 0x330));
    uint32_t asleep = builder_node(builder, 1, holder, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BLOCKED);
    uint32_t call = builder_node(builder, 1, main, PROFILE_NODE_MPI, 15);
    uint32_t waiting = builder_node(builder, 1, call, PROFILE_NODE_RANKS, 0);
    uint32_t ranks = builder_node(builder, 1, work, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(15, PROFILE_KEY(app, 0x320)));
    builder_metric(builder, 1, call, &(struct profile_metric){.work = 3e8, .inverse_busy = 3e8, .waits = 2});
    builder_record(builder, 1, waiting, &(struct profile_ranks){.waited = 2e8});
    builder_record(builder, 1, ranks, &(struct profile_ranks){.blame = 2e8, .named = 1e8, .wall = 1e8});
    const struct profile_metric metrics[] = {
        {.samples = 5, .work = 1e9, .shared_idle = 4e8, .inverse_busy = 2e9 / made.threads_max},
        {.overhead = 2e8, .inverse_busy = 2e8},
        {.shared_idle = 4e8},
        {.work = 1e8, .overhead = -2e7, .inverse_busy = 7e7, .shared_idle = 1e7},
        {.work = 5e7, .shared_idle = 3e7}};
    const uint32_t nodes[] = {work, entry, place, lost, asleep};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        builder_metric(builder, 1, nodes[i], &metrics[i]);
    builder_record(builder, 1, builder_node(builder, 1, work, PROFILE_NODE_CORES, 0),
                   &(struct profile_cores){.idle = 3e8, .beyond = 1e7});
    add_locks(builder, made, root, work, app);
    struct profile_probe probe = {.calls = 2,
                                  .inclusive_ns = 1e9,
                                  .shortest_ns = 4e8,
                                  .longest_ns = 6e8,
                                  .first_begin_ns = START_NS(made) + 5000};
    builder_record(builder, 1, builder_node(builder, 1, phase, PROFILE_NODE_PROBE, 0), &probe);
    builder_metric(builder, 1, builder_node(builder, 1, root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_STOPPED),
                   &(struct profile_metric){.work = 1e9, .inverse_busy = 1e9});
}

static void write_rank(const char *file, struct made made)
{
    struct profile_builder builder;
    uint32_t app = made.swapped ? 2 : 1, library = made.swapped ? 1 : 2;
    builder_start(&builder);
    struct profile_header *header = builder_header(&builder);
    header->finished = 1;
    header->in_job = 1;
    header->rank = made.rank;
    header->ranks = made.ranks;
    header->threads_max = made.threads_max;
    header->cores = 2;
    header->start_ns = START_NS(made);
    header->tool_start_ns = START_NS(made) + 1000;
    header->end_ns = START_NS(made) + 1000000000;
    header->start_realtime_ns = 1700000000000000000 + 1000000 * (int64_t)made.rank;
    header->before_start_ns = 1000;
    header->rate = 200;
    header->ranks_seen = 4;
    builder_text(&builder, "job_identity", made.identity ? made.identity : IDENTITY);
    builder_text(&builder, "host", made.rank % 2 ? "node1" : "node0");
    for (int i = 0; i < 2; i++)
        if ((i == 0) == !made.swapped)
            add_module(&builder, made.rank ? "/tmp/copy/app" : "/tmp/app", made.another ? 9 : 1, made.bias);
        else
            add_module(&builder, "/usr/lib/libomp.so.5", 2, made.bias + 0x10000000);
    struct profile_name name = {.kind = PROFILE_NODE_PHASE, .place = PROFILE_KEY(app, 0x100), .text = "solve"};
    builder_name(&builder, &name);
    struct profile_thread thread = {.kind = PROFILE_THREAD_INITIAL,
                                    .tree = 1,
                                    .work = 1e9,
                                    .idle = 5e8,
                                    .lock_wait = 3e8,
                                    .delivered = 9,
                                    .recorded = 9,
                                    .begin_ns = START_NS(made),
                                    .end_ns = START_NS(made) + 1000000000};
    builder_thread(&builder, &thread);
    add_tree(&builder, made, app, library);
    assert_true(builder_write(&builder, file));
    builder_free(&builder);
}

static void write_ranks(uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++)
        write_rank(
            path[i],
            (struct made){
                .rank = i, .ranks = ranks, .threads_max = 2, .swapped = i % 2, .bias = 0x550000000000 + 0x1000000 * i});
}

static const struct merged_node *find_node(const struct profile *profile, uint8_t kind, uint64_t vaddr)
{
    for (size_t i = 1; i < profile->node_count; i++)
        if (profile->nodes[i].kind == kind && PROFILE_KEY_VADDR(profile->nodes[i].key) == vaddr)
            return &profile->nodes[i];
    return NULL;
}

UNIT_TEST_WITH(contexts_of_equal_binaries_meet_wherever_they_were, make_paths, remove_files)
{
    write_ranks(RANKS);
    struct profile *one = profile_read(path[0], error, sizeof error);
    struct profile *job = job_read(paths, RANKS, IDENTITY, &why);
    assert_non_null(job);
    assert_int_equal(job->module_count, 2);
    assert_int_equal(job->node_count, one->node_count);
    assert_int_equal(job->lock_count, one->lock_count);
    assert_int_equal(job->name_count, 1);
    for (size_t i = 0; i < one->node_count; i++) {
        const struct profile_sums *all = &job->nodes[i].metric, *single = &one->nodes[i].metric;
        assert_int_equal(job->nodes[i].kind, one->nodes[i].kind);
        assert_int_equal(all->samples, RANKS * single->samples);
        assert_true(fabs(all->work - RANKS * single->work) < 1);
        assert_true(fabs(all->inverse_busy - RANKS * single->inverse_busy) < 1);
        assert_true(fabs(all->no_core - RANKS * single->no_core) < 1);
        assert_true(fabs(all->blocked - RANKS * single->blocked) < 1);
        assert_true(fabs(all->rank_idle - RANKS * single->rank_idle) < 1);
        assert_true(fabs(all->rank_waited - RANKS * single->rank_waited) < 1);
    }
    assert_int_equal(job->probe_count, RANKS); /* one of each rank */
    assert_true(job->locks[0].longest_ns == 1e6 * RANKS);
    assert_true(job->ranks[1].rank_idle == 2e8 && job->ranks[1].made_wait == 2e8);
    assert_int_equal(job->ranks[1].ranks_seen, 4);
    assert_int_equal(job->header.ranks_seen, 4);
    assert_int_equal(job->header.merged, RANKS);
    assert_int_equal(job->header.before_start_ns, RANKS * 1000);
    assert_int_equal(job->header.end_ns - job->header.start_ns, 1000000000 + 1000000 * (RANKS - 1));
    profile_free(job);
    profile_free(one);
}

UNIT_TEST_WITH(contexts_of_another_build_stay_apart, make_paths, remove_files)
{
    write_rank(path[0], (struct made){.ranks = 2, .threads_max = 2});
    write_rank(path[1], (struct made){.rank = 1, .ranks = 2, .threads_max = 2, .another = true});
    struct profile *job = job_read(paths, 2, IDENTITY, &why);
    assert_int_equal(job->module_count, 3);
    assert_true(find_node(job, PROFILE_NODE_FRAME, 0x300)->metric.work < 1.1e9);
    profile_free(job);
}

UNIT_TEST_WITH(idleness_of_ranks_with_fewer_threads_is_as_much, make_paths, remove_files)
{
    write_rank(path[0], (struct made){.ranks = 2, .threads_max = 8});
    write_rank(path[1], (struct made){.rank = 1, .ranks = 2, .threads_max = 2});
    struct profile *job = job_read(paths, 2, IDENTITY, &why);
    const struct merged_node *work = find_node(job, PROFILE_NODE_FRAME, 0x300);
    /* 8 x 2/8 of the one and 2 x 2/2 of the other */
    assert_int_equal(job->header.threads_max, 8);
    assert_true(fabs(8 * work->metric.inverse_busy - 4e9) < 1);
    struct profile_sums lost, before = profile_sums_before_start(&job->header, &lost);
    assert_true(before.work == 2 * 1000 && 8 * before.inverse_busy == 8 * 1000 + 2 * 1000);
    profile_free(job);
}

static void assert_same_sums(const struct profile_sums *a, const struct profile_sums *b)
{
    const double left[] = {a->work,           a->overhead,   a->lock_wait, a->inverse_busy, a->shared_idle,
                           a->lock_wait_here, a->no_core,    a->blocked,   a->blocked_idle, a->own_elsewhere,
                           a->rank_idle,      a->rank_named, a->rank_wall, a->rank_waited,  a->mpi_wait,
                           a->core_idle,      a->core_beyond};
    const double right[] = {b->work,           b->overhead,   b->lock_wait, b->inverse_busy, b->shared_idle,
                            b->lock_wait_here, b->no_core,    b->blocked,   b->blocked_idle, b->own_elsewhere,
                            b->rank_idle,      b->rank_named, b->rank_wall, b->rank_waited,  b->mpi_wait,
                            b->core_idle,      b->core_beyond};
    assert_int_equal(a->samples, b->samples);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_true(fabs(left[i] - right[i]) <= 1e-9 * (1e9 + fabs(left[i])));
}

static void assert_same(const struct profile *job, const struct profile *again)
{
    assert_int_equal(again->node_count, job->node_count);
    for (size_t i = 0; i < job->node_count; i++) {
        assert_int_equal(again->nodes[i].key, job->nodes[i].key);
        assert_int_equal(again->nodes[i].kind, job->nodes[i].kind);
        assert_int_equal(again->nodes[i].parent, job->nodes[i].parent);
        assert_same_sums(&again->nodes[i].metric, &job->nodes[i].metric);
    }
    assert_int_equal(again->thread_count, job->thread_count);
    assert_int_equal(again->module_count, job->module_count);
    assert_memory_equal(again->modules, job->modules, job->module_count * sizeof *job->modules);
    assert_int_equal(again->name_count, job->name_count);
    assert_memory_equal(again->names, job->names, job->name_count * sizeof *job->names);
    assert_int_equal(again->rank_count, job->rank_count);
    assert_memory_equal(again->ranks, job->ranks, job->rank_count * sizeof *job->ranks);
    assert_int_equal(again->probe_count, job->probe_count);
    for (size_t i = 0; i < job->probe_count; i++)
        assert_memory_equal(&again->probes[i].probe, &job->probes[i].probe, sizeof job->probes[i].probe);
    assert_int_equal(again->counters_count, job->counters_count);
    assert_int_equal(again->text_bytes, job->text_bytes);
}

static void assert_same_timelines(const struct profile *job, const struct profile *again)
{
    const struct timeline *a = &job->timeline, *b = &again->timeline;
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->lane_bins, b->lane_bins);
    assert_int_equal(a->lane_count, b->lane_count);
    assert_int_equal(a->cell_count, b->cell_count);
    for (size_t i = 0; i < a->lane_count; i++) {
        const struct profile_thread *of_a = &job->threads[a->lanes[i].thread],
                                    *of_b = &again->threads[b->lanes[i].thread];
        assert_true(of_a->begin_ns == of_b->begin_ns && of_a->tid == of_b->tid);
        assert_true(of_a->rank_record == a->lanes[i].rank_record && of_b->rank_record == b->lanes[i].rank_record);
        for (size_t bin = 0; bin < a->lane_bins; bin++)
            for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
                assert_true(fabs(a->lanes[i].ns[bin][state] - b->lanes[i].ns[bin][state]) <=
                            1e-5 * a->lanes[i].ns[bin][state]);
    }
    for (size_t i = 0; i < a->cell_count; i++) {
        assert_true(a->cells[i].node == b->cells[i].node && a->cells[i].bin == b->cells[i].bin &&
                    a->cells[i].lane == b->cells[i].lane);
        assert_true(fabs((double)(a->cells[i].value.inverse_busy - b->cells[i].value.inverse_busy)) <=
                    1e-5 * (double)a->cells[i].value.inverse_busy);
    }
}

UNIT_TEST_WITH(what_is_written_is_read_again, make_paths, remove_files)
{
    write_ranks(RANKS);
    struct profile *job = job_read(paths, RANKS, IDENTITY, &why);
    assert_int_equal(profile_write(job, path[7]), 0);
    struct profile *again = profile_read(path[7], error, sizeof error);
    assert_non_null(again);
    assert_same(job, again);
    assert_int_equal(again->header.chunk_count,
                     6); /* texts, ranks, modules, names, threads, contexts: no rank has one to itself */
    assert_true(find_node(again, PROFILE_NODE_FRAME, 0x300)->metric.core_idle == RANKS * 3e8);
    assert_true(again->stopped_ns == RANKS * 1e9 && job->stopped_ns == RANKS * 1e9);
    assert_true(fabs(profile_stopped_beside_ns(again) - RANKS * 0.5e9) < 1); /* one of two threads was there */
    assert_int_equal(again->lock_count, 3); /* the heap's lock has an entry without its initialiser, too */
    assert_null(profile_read_thread(path[7], 0, error, sizeof error));
    assert_non_null(strstr(error, "--rank"));
    profile_free(again);
    profile_free(job);
}

static struct profile_sums *sums_of_mpi(struct profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_MPI)
            return &profile->nodes[i].metric;
    return NULL;
}

UNIT_TEST_WITH(of_more_calls_of_mpi_than_there_is_room_for_the_averages_stay, make_paths, remove_files)
{
    write_ranks(2);
    struct profile *job = job_read(paths, 2, IDENTITY, &why);
    struct profile_sums *sums = sums_of_mpi(job);
    sums->mpi_calls = 6e9;
    sums->mpi_ranks = 12e9;
    sums->mpi_bytes = 18e9;
    assert_int_equal(profile_write(job, path[7]), 0);
    struct profile *again = profile_read(path[7], error, sizeof error);
    const struct profile_sums *read = sums_of_mpi(again);
    assert_true(read->mpi_wait == sums->mpi_wait && fabs(read->mpi_calls - UINT32_MAX) <= 1);
    assert_true(fabs(read->mpi_ranks / read->mpi_calls - 2) < 1e-9 &&
                fabs(read->mpi_bytes / read->mpi_calls - 3) < 1e-9);
    profile_free(again);
    profile_free(job);
}

UNIT_TEST_WITH(a_file_with_some_of_everything_is_read_again, make_paths, remove_files)
{
    struct profile_builder builder;
    for (int i = 0; i < 2; i++) {
        builder_example(&builder, 3, 4000, 5 + (unsigned)i);
        builder_header(&builder)->finished = 1;
        assert_true(builder_write(&builder, path[i]));
        builder_free(&builder);
    }
    struct profile *job = job_read(paths, 2, NULL, &why);
    assert_non_null(job);
    assert_int_equal(profile_write(job, path[7]), 0);
    struct profile *again = profile_read(path[7], error, sizeof error);
    assert_non_null(again);
    assert_same(job, again);
    assert_same_timelines(job, again);
    profile_free(again);
    profile_free(job);
}

UNIT_TEST_WITH(who_is_missing_damaged_or_of_another_job_is_named_and_the_others_count, make_paths, remove_files)
{
    write_ranks(5);
    assert_int_equal(truncate(path[1], 20000), 0);
    write_rank(path[2], (struct made){.rank = 2, .ranks = 5, .threads_max = 2, .identity = "job two\n"});
    const char *some[] = {path[0], path[1], path[2], path[4]};
    struct profile *job = job_read(some, 4, IDENTITY, &why);
    static const uint32_t states[] = {PROFILE_RANK_WHOLE, PROFILE_RANK_DAMAGED, PROFILE_RANK_FOREIGN,
                                      PROFILE_RANK_MISSING, PROFILE_RANK_WHOLE};
    assert_int_equal(job->rank_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(job->ranks[i].rank, i);
        assert_int_equal(job->ranks[i].state, states[i]);
        assert_true(!job->ranks[i].why[0] == (states[i] == PROFILE_RANK_WHOLE));
    }
    assert_int_equal(job->header.merged, 2);
    assert_int_equal(job->threads[1].rank_record, 5);
    assert_true(fabs(find_node(job, PROFILE_NODE_FRAME, 0x300)->metric.work - 2e9) < 1);
    profile_free(job);
    const char *none[] = {path[1]};
    assert_null(job_read(none, 1, IDENTITY, &why));
    assert_non_null(strstr(why, "truncated"));
    free(why);
}

UNIT_TEST_WITH(a_rank_of_another_job_changes_neither_when_the_job_began_nor_its_threads, make_paths, remove_files)
{
    write_rank(path[0], (struct made){.rank = 2, .ranks = 3, .threads_max = 2});
    write_rank(path[1], (struct made){.rank = 0, .ranks = 3, .threads_max = 64, .identity = "another\n"});
    write_rank(path[2], (struct made){.rank = 1, .ranks = 3, .threads_max = 2});
    struct profile *job = job_read(paths, 3, IDENTITY, &why);
    assert_int_equal(job->header.merged, 2);
    assert_int_equal(job->header.threads_max, 2);
    assert_int_equal(job->header.start_realtime_ns, 1700000000000000000 + 1000000);
    assert_int_equal(job->header.end_ns - job->header.start_ns, 1000000000 + 1000000);
    assert_int_equal(job->threads[1].begin_ns, job->header.tool_start_ns); /* of rank 1, which began first */
    profile_free(job);
}

/* The part of the files from first to before end, cut into parts at random, written and read again. */
static struct profile *random_part(int first, int end)
{
    static int parts;
    const struct job_reference like = {0};
    if (end - first < 2 || rand() % 4 == 0)
        return job_read_part(paths + first, (size_t)(end - first), &like);
    char made[2][64];
    const char *const both[] = {made[0], made[1]};
    int middle = first + 1 + rand() % (end - first - 1);
    for (int i = 0; i < 2; i++) {
        snprintf(made[i], sizeof made[i], "/tmp/blame-test-%d-part-%d", (int)getpid(), parts++);
        struct profile *part = i ? random_part(middle, end) : random_part(first, middle);
        int file = open(made[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(profile_write_fd(part, file), 0);
        profile_free(part);
    }
    struct profile *part = job_join_parts(both, 2);
    unlink(made[0]);
    unlink(made[1]);
    return part;
}

static void assert_same_spreads(const struct profile *job, const struct profile *again)
{
    assert_int_equal(again->spread_count, job->spread_count);
    for (size_t i = 0; i < job->spread_count; i++) {
        const struct profile_spread *a = &job->spreads[i].spread, *b = &again->spreads[i].spread;
        assert_int_equal(again->spreads[i].node, job->spreads[i].node);
        assert_int_equal(again->spreads[i].key, job->spreads[i].key);
        assert_int_equal(a->ranks, b->ranks);
        assert_int_equal(a->least_rank, b->least_rank);
        assert_int_equal(a->most_rank, b->most_rank);
        assert_true(fabs(a->mean - b->mean) <= 1e-9 * a->mean && a->least == b->least && a->most == b->most);
        assert_true(fabs(sqrt(a->squares) - sqrt(b->squares)) <= 1e-6 * a->mean);
    }
}

static void assert_any_parts_are_the_job(int ranks)
{
    for (int round = 0; round < 20; round++) {
        srand((unsigned)round);
        struct profile *job = job_read(paths, (size_t)ranks, NULL, &why);
        struct profile *again = job_complete(random_part(0, ranks), &why);
        assert_same(job, again);
        assert_same_spreads(job, again);
        assert_same_timelines(job, again);
        assert_int_equal(again->timeline.without, job->timeline.without);
        assert_int_equal(again->header.merged, job->header.merged);
        assert_int_equal(again->header.start_ns, job->header.start_ns);
        assert_int_equal(again->header.end_ns, job->header.end_ns);
        assert_true(fabs(again->unresolved_ns - job->unresolved_ns) <= 1e-9 * job->unresolved_ns);
        uint32_t threads[8] = {0};
        for (size_t i = 0; i < again->thread_count; i++)
            threads[again->threads[i].rank_record - 1]++;
        for (size_t i = 0; i < again->rank_count; i++)
            assert_int_equal(threads[i], again->ranks[i].threads);
        profile_free(again);
        profile_free(job);
    }
}

UNIT_TEST_WITH(a_job_merged_of_any_parts_is_the_same, make_paths, remove_files)
{
    write_ranks(7);
    assert_int_equal(truncate(path[3], 20000), 0);
    assert_any_parts_are_the_job(7);
    for (int i = 0; i < 5; i++) {
        struct profile_builder builder;
        builder_example(&builder, 3, 1000, 5 + (unsigned)i);
        builder_header(&builder)->finished = i != 2;
        builder_header(&builder)->rank = (uint32_t)i;
        builder_header(&builder)->start_realtime_ns += i * 12345678;
        assert_true(builder_write(&builder, path[i]));
        builder_free(&builder);
    }
    assert_any_parts_are_the_job(5);
}

UNIT_TEST_WITH(what_was_merged_and_parts_are_no_ranks_of_a_job, make_paths, remove_files)
{
    write_ranks(2);
    struct profile *part = job_read_part(paths, 2, &(struct job_reference){.identity = IDENTITY});
    assert_int_equal(profile_write(part, path[2]), 0);
    part = job_complete(part, &why);
    assert_int_equal(profile_write(part, path[3]), 0);
    profile_free(part);
    struct profile *job = job_read(paths, 4, IDENTITY, &why);
    assert_int_equal(job->header.merged, 2);
    for (int i = 2; i < 4; i++) {
        assert_int_equal(job->ranks[i].state, PROFILE_RANK_FOREIGN);
        assert_non_null(strstr(job->ranks[i].why, "merged"));
    }
    profile_free(job);
}

UNIT_TEST_WITH(a_place_that_cannot_be_written_is_an_error_and_leaves_nothing, make_paths, remove_files)
{
    write_ranks(2);
    struct profile *job = job_read(paths, 2, IDENTITY, &why);
    assert_int_not_equal(profile_write(job, "/nowhere/job.blame"), 0);
    assert_int_not_equal(profile_write(job, "/proc/self/job.blame"), 0);
    profile_free(job);
}

UNIT_MAIN(NULL, NULL)
