/* needs: tests/fuzz/profile_builder.c */
#include "tests/unit/built_file.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/profile/mapped.h"

static int make_file(void **state)
{
    (void)state;
    unit_fresh_path();
    builder_start(&builder);
    return 0;
}

/* And begins another one. */
static void assert_refused(const char *because)
{
    assert_true(builder_write(&builder, unit_path));
    builder_free(&builder);
    assert_null(profile_read(unit_path, error, sizeof error));
    assert_memory_equal(error, unit_path, strlen(unit_path));
    assert_non_null(strstr(error, because));
    assert_null(strchr(error, '\n'));
    builder_start(&builder);
}

static uint32_t node(uint32_t tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    return builder_node(&builder, tree, parent, kind, key);
}

/* The merged node at a path of keys below the root, or -1. */
static long find(const struct profile *profile, int depth, const uint64_t *keys)
{
    uint32_t at = 0;
    for (int d = 0; d < depth; d++) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < profile->node_count; i++)
            if (profile->nodes[i].parent == at && profile->nodes[i].key == keys[d])
                next = i;
        if (!next)
            return -1;
        at = next;
    }
    return (long)at;
}

static void work(uint32_t tree, uint32_t at, double seconds)
{
    struct profile_metric metric = {.samples = 1, .work = seconds, .inverse_busy = seconds};
    builder_metric(&builder, tree, at, &metric);
}

#define WITH_FILE(name) UNIT_TEST_WITH(name, make_file, remove_file)

/* A complete file is mapped, and its chunks are dropped and read again; the chunks of others are copied. */
WITH_FILE(a_complete_file_is_read_like_one_that_may_still_grow)
{
    struct profile *profile[2];
    builder_free(&builder);
    builder_example(&builder, 3, 30000, 1);
    assert_true(builder_header(&builder)->chunk_count > 2 * MAPPED_CHUNKS);
    for (uint32_t complete = 0; complete < 2; complete++) {
        builder_header(&builder)->finished = complete;
        assert_true(builder_write(&builder, unit_path));
        profile[complete] = profile_read(unit_path, error, sizeof error);
        assert_non_null(profile[complete]);
    }
    assert_true(profile[0]->node_count >= profile[1]->node_count && profile[1]->node_count > 1000);
    for (size_t i = 0; i < profile[1]->node_count; i++) {
        assert_true(profile[0]->nodes[i].key == profile[1]->nodes[i].key);
        assert_memory_equal(&profile[0]->nodes[i].metric, &profile[1]->nodes[i].metric, sizeof(struct profile_sums));
    }
    assert_true(profile[1]->probe_count && profile[1]->probe_count == profile[0]->probe_count);
    assert_true(profile[1]->lock_count == profile[0]->lock_count);
    assert_true(profile[1]->timeline.lane_count == 3 && profile[0]->timeline.lane_count == 3);
    profile_free(profile[0]);
    profile_free(profile[1]);
}

/* The line about it goes to the test's log. */
WITH_FILE(a_file_that_becomes_shorter_while_it_is_read_ends_the_command)
{
    int status = 0;
    assert_true(builder_write(&builder, unit_path));
    pid_t child = fork();
    if (child == 0) {
        int file = open(unit_path, O_RDWR);
        const unsigned char *chunks = mapped_chunks(file, PROFILE_CHUNK_BYTES);
        if (ftruncate(file, 0) == 0)
            _exit(2 + *chunks);
        _exit(3);
    }
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

WITH_FILE(equal_paths_of_two_threads_become_one)
{
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t root = node(tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t main_node = node(tree, root, PROFILE_NODE_FRAME, KEY(1));
        work(tree, main_node, 1);
        work(tree, node(tree, main_node, PROFILE_NODE_FRAME, KEY(2)), 10);
        node(tree, main_node, PROFILE_NODE_RUNTIME, KEY(2));
    }
    struct profile *profile = read_built();
    assert_int_equal(profile->node_count, 4); /* root, main, and two children of one key and two kinds */
    long inner = find(profile, 1, (uint64_t[]){KEY(1)});
    assert_true(profile->nodes[inner].metric.work == 2);
    assert_int_equal(profile->nodes[inner].metric.samples, 2);
    for (uint32_t i = 1; i < profile->node_count; i++)
        assert_true(profile->nodes[i].parent < i);
    profile_free(profile);
}

WITH_FILE(time_in_a_call_of_mpi_is_mpi_wait)
{
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t inner = node(1, root, PROFILE_NODE_FRAME, KEY(1));
    uint32_t call = node(1, inner, PROFILE_NODE_MPI, 15);
    work(1, inner, 10);
    work(1, call, 4);
    builder_metric(&builder, 1, call, &(struct profile_metric){.overhead = 8, .lock_wait_here = 100, .waits = 2});
    struct profile *profile = read_built();
    const struct merged_node *code = &profile->nodes[find(profile, 1, (uint64_t[]){KEY(1)})];
    const struct merged_node *row = &profile->nodes[find(profile, 2, (uint64_t[]){KEY(1), 15})];
    assert_true(code->metric.work == 10 && code->metric.mpi_wait == 0);
    assert_true(row->kind == PROFILE_NODE_MPI && row->metric.work == 0 && row->metric.mpi_wait == 4);
    assert_true(profile_sums_own(&row->metric) == 4 && row->metric.lock_wait_here == 0 && row->metric.waits == 0);
    assert_true(row->metric.mpi_calls == 2 && row->metric.mpi_ranks == 8 && row->metric.mpi_bytes == 100);
    profile_free(profile);
}

WITH_FILE(what_other_ranks_wait_for_stands_below_the_code_and_below_the_call)
{
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t inner = node(1, root, PROFILE_NODE_FRAME, KEY(1));
    uint64_t there = PROFILE_RANKS_KEY(15, KEY(7));
    uint32_t ranks = node(1, inner, PROFILE_NODE_RANKS, there);
    uint32_t call = node(1, inner, PROFILE_NODE_MPI, 15);
    work(1, call, 4);
    builder_record(&builder, 1, ranks, &(struct profile_ranks){.blame = 9, .named = 2, .wall = 3});
    builder_record(&builder, 1, node(1, call, PROFILE_NODE_RANKS, 0), &(struct profile_ranks){.waited = 3});
    node(1, ranks, PROFILE_NODE_FRAME, KEY(2)); /* below it is nothing */
    struct profile *profile = read_built();
    const struct profile_sums *blamed = &profile->nodes[find(profile, 2, (uint64_t[]){KEY(1), there})].metric;
    const struct profile_sums *waited = &profile->nodes[find(profile, 3, (uint64_t[]){KEY(1), 15, 0})].metric;
    assert_int_equal(profile->node_count, 5);
    assert_true(blamed->rank_idle == 9 && blamed->rank_named == 2 && blamed->rank_wall == 3);
    assert_true(waited->rank_waited == 3 && waited->rank_idle == 0);
    assert_true(blamed->samples == 0 && blamed->work == 0 && profile_sums_own(blamed) == 0);
    profile_free(profile);
}

WITH_FILE(what_other_ranks_wait_for_is_not_less_than_nothing)
{
    uint32_t ranks = node(1, node(1, 0, PROFILE_NODE_ROOT, 0), PROFILE_NODE_RANKS, 0);
    builder_record(&builder, 1, ranks, &(struct profile_ranks){.blame = -9});
    assert_refused("damaged: a metric");
}

WITH_FILE(cores_that_nothing_used_are_their_parents)
{
    uint32_t inner = node(1, node(1, 0, PROFILE_NODE_ROOT, 0), PROFILE_NODE_FRAME, KEY(1));
    uint32_t cores = node(1, inner, PROFILE_NODE_CORES, 0);
    work(1, inner, 10);
    builder_record(&builder, 1, cores, &(struct profile_cores){.idle = 30, .beyond = 5});
    struct profile *profile = read_built();
    const struct merged_node *code = &profile->nodes[find(profile, 1, (uint64_t[]){KEY(1)})];
    assert_int_equal(profile->node_count, 2);
    assert_true(code->metric.core_idle == 30 && code->metric.core_beyond == 5);
    assert_true(code->metric.work == 10 && code->metric.samples == 1 && profile_sums_own(&code->metric) == 10);
    profile_free(profile);
}

WITH_FILE(cores_that_nothing_used_are_not_less_than_none)
{
    uint32_t cores = node(1, node(1, 0, PROFILE_NODE_ROOT, 0), PROFILE_NODE_CORES, 0);
    builder_record(&builder, 1, cores, &(struct profile_cores){.idle = -9});
    assert_refused("damaged: a metric");
}

/* Sleep whose context is unknown is below the root: its stays are not the whole tree's variance. */
WITH_FILE(what_neighbours_tell_of_a_context_is_not_of_the_whole_tree)
{
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0),
             blocked = node(1, root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BLOCKED);
    uint32_t all = node(1, root, PROFILE_NODE_NEIGHBOURS, 0), stays = node(1, blocked, PROFILE_NODE_NEIGHBOURS, 0);
    struct profile_neighbours variances = {{[PROFILE_NEIGHBOURS_WORK] = 9}};
    builder_record(&builder, 1, all, &variances);
    variances.variance[PROFILE_NEIGHBOURS_WORK] = -8;
    builder_record(&builder, 1, stays, &variances);
    struct profile *profile = read_built();
    assert_true(profile->variance[PROFILE_NEIGHBOURS_WORK] == 9 && profile->has_variance[0]);
    assert_true(profile->nodes[0].metric.beyond[PROFILE_NEIGHBOURS_WORK] == -8);
    profile_free(profile);
}

WITH_FILE(a_variance_that_floats_cannot_hold_is_refused)
{
    uint32_t code = node(1, node(1, 0, PROFILE_NODE_ROOT, 0), PROFILE_NODE_FRAME, KEY(1));
    uint32_t stays = node(1, code, PROFILE_NODE_NEIGHBOURS, 1);
    builder_record(&builder, 1, stays, &(struct profile_neighbours){{-1e40}});
    assert_refused("damaged: a metric");
}

WITH_FILE(time_without_a_core_is_no_work_and_blocked_time_is_its_parents)
{
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t inner = node(1, root, PROFILE_NODE_FRAME, KEY(1));
    uint32_t no_core = node(1, inner, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    uint32_t blocked = node(1, inner, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_BLOCKED);
    uint32_t place = node(1, blocked, PROFILE_NODE_WAITERS, KEY(9));
    work(1, inner, 10);
    work(1, no_core, 4);
    work(1, blocked, 3);
    /* Two seconds of the ten were late, and others' idleness then is the missing core's. */
    builder_metric(&builder, 1, no_core, &(struct profile_metric){.overhead = 2, .shared_idle = 2});
    builder_metric(&builder, 1, blocked, &(struct profile_metric){.shared_idle = 5});
    builder_metric(&builder, 1, place, &(struct profile_metric){.shared_idle = 5});
    struct profile *profile = read_built();
    const struct merged_node *code = &profile->nodes[find(profile, 1, (uint64_t[]){KEY(1)})];
    const struct merged_node *row = &profile->nodes[find(profile, 2, (uint64_t[]){KEY(1), PROFILE_PSEUDO_NO_CORE})];
    assert_int_equal(profile->node_count, 4); /* root, code, <no core>, and where they waited for the blocked one */
    assert_true(code->metric.work == 10 && code->metric.blocked == 3 && code->metric.no_core == 0);
    assert_true(code->metric.blocked_idle == 5 && row->metric.blocked_idle == 0);
    assert_true(code->metric.inverse_busy == 13 && code->metric.shared_idle == 5 && code->metric.samples == 2);
    assert_true(row->metric.no_core == 4 && row->metric.work == 0 && row->metric.overhead == 0);
    assert_true(profile_sums_own(&code->metric) == 11 && profile_sums_own(&row->metric) == 6);
    assert_true(find(profile, 2, (uint64_t[]){KEY(1), KEY(9)}) > 0);
    profile_free(profile);
}

WITH_FILE(children_before_their_parents_in_the_file_are_found)
{
    uint32_t leaf = node(1, 0, PROFILE_NODE_FRAME, KEY(2));
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t middle = node(1, root, PROFILE_NODE_FRAME, KEY(1));
    builder_at(&builder, leaf)->parent = middle;
    work(1, leaf, 3);
    struct profile *profile = read_built();
    long at = find(profile, 2, (uint64_t[]){KEY(1), KEY(2)});
    assert_true(at > 0 && profile->nodes[at].metric.work == 3);
    profile_free(profile);
}

WITH_FILE(recycled_nodes_and_region_tries_are_left_out)
{
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t trie = node(1, 0, PROFILE_NODE_TRIE, 0);
    work(1, node(1, trie, PROFILE_NODE_FRAME, KEY(1)), 1);
    uint32_t recycled = node(1, root, PROFILE_NODE_FREE, KEY(2));
    work(1, recycled, 1);
    work(1, node(1, recycled, PROFILE_NODE_FRAME, KEY(3)), 1);
    struct profile *profile = read_built();
    assert_int_equal(profile->node_count, 1);
    assert_true(profile->nodes[0].metric.work == 0);
    profile_free(profile);
}

WITH_FILE(regions_without_context_hang_below_unresolved)
{
    uint32_t known = node(1, 0, PROFILE_NODE_REGION, KEY(7));
    uint32_t unknown = node(1, 0, PROFILE_NODE_REGION, 0);
    work(1, node(1, known, PROFILE_NODE_FRAME, KEY(8)), 2);
    work(1, node(1, unknown, PROFILE_NODE_FRAME, KEY(9)), 3);
    struct profile *profile = read_built();
    long below_call = find(profile, 3, (uint64_t[]){PROFILE_PSEUDO_UNRESOLVED, KEY(7), KEY(8)});
    long below = find(profile, 2, (uint64_t[]){PROFILE_PSEUDO_UNRESOLVED, KEY(9)});
    assert_true(below_call > 0 && profile->nodes[below_call].metric.work == 2);
    assert_true(below > 0 && profile->nodes[below].metric.work == 3);
    assert_true(profile->unresolved_ns == 5);
    profile_free(profile);
}

WITH_FILE(a_cycle_is_left_out_and_the_rest_is_read)
{
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t first = node(1, root, PROFILE_NODE_FRAME, KEY(1));
    uint32_t second = node(1, first, PROFILE_NODE_FRAME, KEY(2));
    uint32_t wild = node(1, 0xfffffff0, PROFILE_NODE_FRAME, KEY(3));
    builder_at(&builder, first)->parent = second;
    work(1, second, 1);
    work(1, wild, 1);
    work(1, node(1, root, PROFILE_NODE_FRAME, KEY(4)), 1);
    struct profile *profile = read_built();
    assert_int_equal(profile->node_count, 2);
    profile_free(profile);
}

WITH_FILE(what_the_counts_of_a_killed_process_cover_is_read)
{
    builder_header(&builder)->finished = 0;
    builder_header(&builder)->end_ns = 0;
    builder_header(&builder)->threads_max = 0;
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    work(1, node(1, root, PROFILE_NODE_FRAME, KEY(1)), 1);
    uint32_t late = node(1, root, PROFILE_NODE_FRAME, KEY(2));
    work(1, late, 1);
    struct profile_chunk *chunk = builder_chunk(&builder, late / PROFILE_UNITS_PER_CHUNK);
    chunk->used--;           /* the last node is written, not yet counted */
    chunk->metric_unit += 2; /* and so is its metric */
    struct profile_thread thread = {.kind = PROFILE_THREAD_INITIAL, .begin_ns = 10, .last_ns = 50};
    builder_thread(&builder, &thread);
    thread = (struct profile_thread){.kind = PROFILE_THREAD_WORKER, .begin_ns = 20, .end_ns = 30};
    builder_thread(&builder, &thread);
    thread = (struct profile_thread){.kind = PROFILE_THREAD_WORKER, .begin_ns = 30};
    builder_thread(&builder, &thread);
    struct profile *profile = read_built();
    assert_int_equal(profile->node_count, 2);
    assert_int_equal(profile->header.threads_max, 2);
    assert_int_equal(profile->thread_count, 3);
    profile_free(profile);
}

WITH_FILE(threads_come_in_order_of_their_start_over_chunks)
{
    for (int i = 0; i < 150; i++) {
        struct profile_thread thread = {
            .kind = i % 50 ? PROFILE_THREAD_WORKER : PROFILE_THREAD_UNUSED, .begin_ns = (uint64_t)(1000 - i), .tid = i};
        builder_thread(&builder, &thread);
    }
    struct profile *profile = read_built();
    assert_int_equal(profile->thread_count, 147);
    for (size_t i = 1; i < profile->thread_count; i++)
        assert_true(profile->threads[i - 1].begin_ns < profile->threads[i].begin_ns);
    profile_free(profile);
}

WITH_FILE(modules_and_text_are_found)
{
    struct profile_module module = {.build_id_bytes = 4000};
    memset(module.path, 'x', sizeof module.path); /* no end */
    for (int i = 0; i < 40; i++)
        builder_module(&builder, &module);
    builder_text(&builder, "command", "./a b");
    builder_text(&builder, "b", "");
    builder_text(&builder, "host", "node");
    struct profile *profile = read_built();
    assert_int_equal(profile->module_count, 40);
    assert_int_equal(strlen(profile->modules[39].path), sizeof module.path - 1);
    assert_true(profile->modules[0].build_id_bytes <= sizeof module.build_id);
    assert_string_equal(profile_text(profile, "command"), "./a b");
    assert_string_equal(profile_text(profile, "b"), "");
    assert_string_equal(profile_text(profile, "host"), "node");
    assert_null(profile_text(profile, "node"));
    assert_null(profile_text(profile, "x"));
    profile_free(profile);
}

WITH_FILE(files_that_are_no_profiles_are_refused_in_one_line)
{
    builder_header(&builder)->magic[0] = 'X';
    assert_refused("not a blame profile");
    builder_header(&builder)->version = PROFILE_VERSION + 1;
    assert_refused("made by a newer blame (format 3; this one reads formats up to 2): install that version of blame, "
                   "or a newer one");
    builder_header(&builder)->version = PROFILE_VERSION + 1;
    builder_header(&builder)->thread_bytes = 768; /* another layout is no damage */
    assert_refused("made by a newer blame");
    builder_header(&builder)->version = 0;
    assert_refused("damaged");
    builder_header(&builder)->byte_order = __builtin_bswap32(PROFILE_BYTE_ORDER);
    assert_refused("byte order");
    builder_header(&builder)->unit_bytes = 16;
    assert_refused("damaged");
    memset(builder_header(&builder), 0, sizeof(struct profile_header)); /* killed between the file and its header */
    assert_refused("the program ended before");
    builder_free(&builder);
    builder_example(&builder, 1, 10, 1);
    builder.size -= 100;
    assert_refused("truncated");
    builder.size = 10;
    assert_refused("too short");
    builder.size = 0;
    assert_refused("empty");
    uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
    work(1, root, (double)NAN);
    assert_refused("damaged: a metric");
    assert_null(profile_read("/no/such/file.blame", error, sizeof error));
    assert_non_null(strstr(error, "/no/such/file.blame: cannot be opened"));
    assert_null(profile_read("/tmp", error, sizeof error));
    assert_non_null(strstr(error, "directory"));
    assert_null(profile_read("/dev/zero", error, sizeof error));
    assert_non_null(strstr(error, "/dev/zero: this is a device"));
}

WITH_FILE(a_path_of_65000_nodes_are_read_without_recursion)
{
    uint32_t at = node(1, 0, PROFILE_NODE_ROOT, 0);
    for (int i = 0; i < 65000; i++)
        at = node(1, at, PROFILE_NODE_FRAME, KEY(i));
    work(1, at, 1);
    struct profile *profile = read_built();
    assert_true(profile->node_count > 64000);
    profile_free(profile);
}

static void add_waits(uint32_t tree, uint32_t at, struct profile_waits waits)
{
    struct profile_metric metric = {0};
    builder_metric(&builder, tree, at, &metric); /* the same place holds both */
    memcpy(builder_at(&builder, builder_at(&builder, at)->metric), &waits, sizeof waits);
}

static const struct profile_lock *lock_with(const struct profile *profile, uint64_t key, uint64_t initialiser)
{
    for (size_t i = 0; i < profile->lock_count; i++)
        if (profile->locks[i].key == key && profile->locks[i].initialiser == initialiser)
            return &profile->locks[i];
    fail_msg("no such lock");
    return NULL;
}

WITH_FILE(waits_for_locks_are_added_up_by_initialiser)
{
    const uint64_t lock = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0x5000);
    const uint64_t critical = PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x6000);
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t root = node(tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t frame = node(tree, root, PROFILE_NODE_FRAME, KEY(0x100));
        uint32_t waits = node(tree, root, PROFILE_NODE_WAITS, lock);
        add_waits(tree, waits, (struct profile_waits){.sum_ns = 1, .longest_ns = 1, .waits = 1});
        uint32_t made = node(tree, waits, PROFILE_NODE_INITIALISER, KEY(0x200));
        add_waits(tree, made, (struct profile_waits){.sum_ns = 10, .longest_ns = 4 * tree, .waits = 3});
        waits = node(tree, root, PROFILE_NODE_WAITS, critical);
        node(tree, waits, PROFILE_NODE_VARIABLE, KEY(0x300));
        /* Where no writer puts them: below a frame, below an initialiser, below none. */
        waits = node(tree, frame, PROFILE_NODE_WAITS, lock + 8);
        node(tree, waits, PROFILE_NODE_INITIALISER, KEY(0x200));
        node(tree, made, PROFILE_NODE_VARIABLE, KEY(0x300));
        node(tree, 0, PROFILE_NODE_WAITS, lock + 16);
        node(tree, 999999999, PROFILE_NODE_INITIALISER, KEY(0x200));
    }
    struct profile *profile = read_built();
    assert_int_equal(profile->lock_count, 3);
    const struct profile_lock *unknown = lock_with(profile, lock, 0);
    assert_true(unknown->sum_ns == 2 && unknown->longest_ns == 1 && unknown->waits == 2);
    const struct profile_lock *known = lock_with(profile, lock, KEY(0x200));
    assert_true(known->sum_ns == 20 && known->longest_ns == 8 && known->waits == 6 && known->variable == 0);
    assert_true(lock_with(profile, critical, 0)->variable == KEY(0x300));
    assert_int_equal(profile->node_count, 2); /* none of it is a context */
    profile_free(profile);
}

WITH_FILE(a_lock_whose_sum_is_no_number_is_refused)
{
    const double bad[] = {NAN, INFINITY, -1};
    for (size_t i = 0; i < 3; i++) {
        uint32_t root = node(1, 0, PROFILE_NODE_ROOT, 0);
        uint32_t waits = node(1, root, PROFILE_NODE_WAITS, PROFILE_LOCK_KEY(1, 0x5000));
        add_waits(1, waits, (struct profile_waits){.longest_ns = bad[i]});
        assert_refused("the sum of a lock");
    }
}

UNIT_MAIN(NULL, NULL)
