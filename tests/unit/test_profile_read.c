/* needs: tests/fuzz/profile_builder.c */
#include "tests/unit/unit.h"

#include <math.h>

#include "report/profile/read.h"
#include "tests/fuzz/profile_builder.h"

#define KEY(vaddr) PROFILE_KEY(1, vaddr)

static char path[64], error[512];

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/blame-test-XXXXXX");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static struct profile *read_built(struct profile_builder *builder)
{
    assert_true(builder_write(builder, path));
    builder_free(builder);
    struct profile *profile = profile_read(path, error, sizeof error);
    if (!profile)
        fail_msg("%s", error);
    return profile;
}

static void assert_refused(struct profile_builder *builder, const char *because)
{
    assert_true(builder_write(builder, path));
    builder_free(builder);
    assert_null(profile_read(path, error, sizeof error));
    assert_memory_equal(error, path, strlen(path));
    assert_non_null(strstr(error, because));
    assert_null(strchr(error, '\n'));
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

static void work(struct profile_builder *builder, uint32_t tree, uint32_t node, double seconds)
{
    struct profile_metric metric = {.samples = 1, .work = seconds, .inverse_busy = seconds};
    builder_metric(builder, tree, node, &metric);
}

#define WITH_FILE(name) UNIT_TEST_WITH(name, make_file, remove_file)

WITH_FILE(equal_paths_of_two_threads_become_one)
{
    struct profile_builder builder;
    builder_start(&builder);
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t root = builder_node(&builder, tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t main_node = builder_node(&builder, tree, root, PROFILE_NODE_FRAME, KEY(1));
        work(&builder, tree, main_node, 1);
        work(&builder, tree, builder_node(&builder, tree, main_node, PROFILE_NODE_FRAME, KEY(2)), 10);
        builder_node(&builder, tree, main_node, PROFILE_NODE_RUNTIME, KEY(2));
    }
    struct profile *profile = read_built(&builder);
    assert_int_equal(profile->node_count, 4); /* root, main, and two children of one key and two kinds */
    long inner = find(profile, 1, (uint64_t[]){KEY(1)});
    assert_true(profile->nodes[inner].metric.work == 2);
    assert_int_equal(profile->nodes[inner].metric.samples, 2);
    for (uint32_t i = 1; i < profile->node_count; i++)
        assert_true(profile->nodes[i].parent < i);
    profile_free(profile);
}

WITH_FILE(children_before_their_parents_in_the_file_are_found)
{
    struct profile_builder builder;
    builder_start(&builder);
    uint32_t leaf = builder_node(&builder, 1, 0, PROFILE_NODE_FRAME, KEY(2));
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t middle = builder_node(&builder, 1, root, PROFILE_NODE_FRAME, KEY(1));
    builder_at(&builder, leaf)->parent = middle;
    work(&builder, 1, leaf, 3);
    struct profile *profile = read_built(&builder);
    long at = find(profile, 2, (uint64_t[]){KEY(1), KEY(2)});
    assert_true(at > 0 && profile->nodes[at].metric.work == 3);
    profile_free(profile);
}

WITH_FILE(recycled_nodes_and_region_tries_are_left_out)
{
    struct profile_builder builder;
    builder_start(&builder);
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t trie = builder_node(&builder, 1, 0, PROFILE_NODE_TRIE, 0);
    work(&builder, 1, builder_node(&builder, 1, trie, PROFILE_NODE_FRAME, KEY(1)), 1);
    uint32_t recycled = builder_node(&builder, 1, root, PROFILE_NODE_FREE, KEY(2));
    work(&builder, 1, recycled, 1);
    work(&builder, 1, builder_node(&builder, 1, recycled, PROFILE_NODE_FRAME, KEY(3)), 1);
    struct profile *profile = read_built(&builder);
    assert_int_equal(profile->node_count, 1);
    assert_true(profile->nodes[0].metric.work == 0);
    profile_free(profile);
}

WITH_FILE(regions_without_context_hang_below_unresolved)
{
    struct profile_builder builder;
    builder_start(&builder);
    uint32_t known = builder_node(&builder, 1, 0, PROFILE_NODE_REGION, KEY(7));
    uint32_t unknown = builder_node(&builder, 1, 0, PROFILE_NODE_REGION, 0);
    work(&builder, 1, builder_node(&builder, 1, known, PROFILE_NODE_FRAME, KEY(8)), 2);
    work(&builder, 1, builder_node(&builder, 1, unknown, PROFILE_NODE_FRAME, KEY(9)), 3);
    struct profile *profile = read_built(&builder);
    long below_call = find(profile, 3, (uint64_t[]){PROFILE_PSEUDO_UNRESOLVED, KEY(7), KEY(8)});
    long below = find(profile, 2, (uint64_t[]){PROFILE_PSEUDO_UNRESOLVED, KEY(9)});
    assert_true(below_call > 0 && profile->nodes[below_call].metric.work == 2);
    assert_true(below > 0 && profile->nodes[below].metric.work == 3);
    assert_true(profile->unresolved_ns == 5);
    profile_free(profile);
}

WITH_FILE(a_cycle_is_left_out_and_the_rest_is_read)
{
    struct profile_builder builder;
    builder_start(&builder);
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    uint32_t first = builder_node(&builder, 1, root, PROFILE_NODE_FRAME, KEY(1));
    uint32_t second = builder_node(&builder, 1, first, PROFILE_NODE_FRAME, KEY(2));
    uint32_t wild = builder_node(&builder, 1, 0xfffffff0, PROFILE_NODE_FRAME, KEY(3));
    builder_at(&builder, first)->parent = second;
    work(&builder, 1, second, 1);
    work(&builder, 1, wild, 1);
    work(&builder, 1, builder_node(&builder, 1, root, PROFILE_NODE_FRAME, KEY(4)), 1);
    struct profile *profile = read_built(&builder);
    assert_int_equal(profile->node_count, 2);
    profile_free(profile);
}

WITH_FILE(what_the_counts_of_a_killed_process_cover_is_read)
{
    struct profile_builder builder;
    builder_start(&builder);
    builder_header(&builder)->finished = 0;
    builder_header(&builder)->end_ns = 0;
    builder_header(&builder)->threads_max = 0;
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    work(&builder, 1, builder_node(&builder, 1, root, PROFILE_NODE_FRAME, KEY(1)), 1);
    uint32_t late = builder_node(&builder, 1, root, PROFILE_NODE_FRAME, KEY(2));
    work(&builder, 1, late, 1);
    struct profile_chunk *chunk = builder_chunk(&builder, late / PROFILE_UNITS_PER_CHUNK);
    chunk->used--;           /* the last node is written, not yet counted */
    chunk->metric_unit += 2; /* and so is its metric */
    struct profile_thread thread = {.kind = PROFILE_THREAD_INITIAL, .begin_ns = 10, .last_ns = 50};
    builder_thread(&builder, &thread);
    thread = (struct profile_thread){.kind = PROFILE_THREAD_WORKER, .begin_ns = 20, .end_ns = 30};
    builder_thread(&builder, &thread);
    thread = (struct profile_thread){.kind = PROFILE_THREAD_WORKER, .begin_ns = 30};
    builder_thread(&builder, &thread);
    struct profile *profile = read_built(&builder);
    assert_int_equal(profile->node_count, 2);
    assert_int_equal(profile->header.threads_max, 2);
    assert_int_equal(profile->thread_count, 3);
    profile_free(profile);
}

WITH_FILE(threads_come_in_order_of_their_start_over_chunks)
{
    struct profile_builder builder;
    builder_start(&builder);
    for (int i = 0; i < 150; i++) {
        struct profile_thread thread = {.kind = i % 50 ? PROFILE_THREAD_WORKER : PROFILE_THREAD_UNUSED,
                                        .begin_ns = (uint64_t)(1000 - i),
                                        .tid = i};
        builder_thread(&builder, &thread);
    }
    struct profile *profile = read_built(&builder);
    assert_int_equal(profile->thread_count, 147);
    for (size_t i = 1; i < profile->thread_count; i++)
        assert_true(profile->threads[i - 1].begin_ns < profile->threads[i].begin_ns);
    profile_free(profile);
}

WITH_FILE(modules_and_text_are_found)
{
    struct profile_builder builder;
    struct profile_module module = {.build_id_bytes = 4000};
    builder_start(&builder);
    memset(module.path, 'x', sizeof module.path); /* no end */
    for (int i = 0; i < 40; i++)
        builder_module(&builder, &module);
    builder_text(&builder, "command", "./a b");
    builder_text(&builder, "b", "");
    builder_text(&builder, "host", "node");
    struct profile *profile = read_built(&builder);
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
    struct profile_builder builder;
    builder_start(&builder);
    builder_header(&builder)->magic[0] = 'X';
    assert_refused(&builder, "not a blame profile");
    builder_start(&builder);
    builder_header(&builder)->version = 7;
    assert_refused(&builder, "version 7");
    builder_start(&builder);
    builder_header(&builder)->byte_order = __builtin_bswap32(PROFILE_BYTE_ORDER);
    assert_refused(&builder, "byte order");
    builder_start(&builder);
    builder_header(&builder)->unit_bytes = 16;
    assert_refused(&builder, "damaged");
    builder_example(&builder, 1, 10, 1);
    builder.size -= 100;
    assert_refused(&builder, "truncated");
    builder_start(&builder);
    builder.size = 10;
    assert_refused(&builder, "too short");
    builder_start(&builder);
    builder.size = 0;
    assert_refused(&builder, "empty");
    builder_start(&builder);
    uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    work(&builder, 1, root, (double)NAN);
    assert_refused(&builder, "not a number");
    assert_null(profile_read("/no/such/file.blame", error, sizeof error));
    assert_non_null(strstr(error, "/no/such/file.blame: cannot be opened"));
    assert_null(profile_read("/tmp", error, sizeof error));
    assert_non_null(strstr(error, "directory"));
    assert_null(profile_read("/dev/zero", error, sizeof error));
    assert_non_null(strstr(error, "/dev/zero: is a device"));
}

WITH_FILE(a_path_of_65000_nodes_are_read_without_recursion)
{
    struct profile_builder builder;
    builder_start(&builder);
    uint32_t at = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
    for (int i = 0; i < 65000; i++)
        at = builder_node(&builder, 1, at, PROFILE_NODE_FRAME, KEY(i));
    work(&builder, 1, at, 1);
    struct profile *profile = read_built(&builder);
    assert_true(profile->node_count > 64000);
    profile_free(profile);
}

static void add_waits(struct profile_builder *builder, uint32_t tree, uint32_t node_idx,
                      struct profile_waits waits)
{
    struct profile_metric metric = {0};
    builder_metric(builder, tree, node_idx, &metric); /* the same place holds both */
    struct profile_node *node = builder_at(builder, node_idx);
    memcpy(builder_at(builder, node->metric), &waits, sizeof waits);
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
    struct profile_builder builder;
    builder_start(&builder);
    for (uint32_t tree = 1; tree <= 2; tree++) {
        uint32_t root = builder_node(&builder, tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t frame = builder_node(&builder, tree, root, PROFILE_NODE_FRAME, KEY(0x100));
        uint32_t waits = builder_node(&builder, tree, root, PROFILE_NODE_WAITS, lock);
        add_waits(&builder, tree, waits, (struct profile_waits){.sum_ns = 1, .longest_ns = 1, .waits = 1});
        uint32_t made = builder_node(&builder, tree, waits, PROFILE_NODE_INITIALISER, KEY(0x200));
        add_waits(&builder, tree, made,
                  (struct profile_waits){.sum_ns = 10, .longest_ns = 4 * tree, .waits = 3});
        waits = builder_node(&builder, tree, root, PROFILE_NODE_WAITS, critical);
        builder_node(&builder, tree, waits, PROFILE_NODE_VARIABLE, KEY(0x300));
        /* Where no writer puts them: below a frame, below an initialiser, below none. */
        waits = builder_node(&builder, tree, frame, PROFILE_NODE_WAITS, lock + 8);
        builder_node(&builder, tree, waits, PROFILE_NODE_INITIALISER, KEY(0x200));
        builder_node(&builder, tree, made, PROFILE_NODE_VARIABLE, KEY(0x300));
        builder_node(&builder, tree, 0, PROFILE_NODE_WAITS, lock + 16);
        builder_node(&builder, tree, 999999999, PROFILE_NODE_INITIALISER, KEY(0x200));
    }
    struct profile *profile = read_built(&builder);
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
        struct profile_builder builder;
        builder_start(&builder);
        uint32_t root = builder_node(&builder, 1, 0, PROFILE_NODE_ROOT, 0);
        uint32_t waits = builder_node(&builder, 1, root, PROFILE_NODE_WAITS, PROFILE_LOCK_KEY(1, 0x5000));
        add_waits(&builder, 1, waits, (struct profile_waits){.longest_ns = bad[i]});
        assert_refused(&builder, "a lock's sum");
    }
}

UNIT_MAIN(NULL, NULL)
