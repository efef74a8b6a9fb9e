/* needs: tests/unit/fake_clock.c */
#include "cct/deferred/graft.h"
#include "cct/profile_metrics.h"
#include "cct/sums.h"
#include "tests/unit/unit_tree.h"

#define WITH_TREE(name) UNIT_TEST_WITH(name, open_tree, close_tree)

static void add_work(uint32_t node_idx, double work)
{
    struct profile_metric *metric = tree_metric(&tree, node_idx);
    assert_non_null(metric);
    metric->work += work;
    metric->samples++;
}

/* Sums over all nodes of the tree's chunks, as a reader of the file finds them. */
struct sums {
    uint32_t nodes, free_nodes, with_metric;
    uint64_t samples;
    double work;
};

static struct sums sums_in_file(void)
{
    struct sums sums = {0};
    uint32_t chunks = arena_header()->chunk_count;
    for (uint32_t n = 0; n < chunks; n++) {
        const struct profile_chunk *chunk = arena_unit(n * PROFILE_UNITS_PER_CHUNK);
        for (uint32_t unit = 1; chunk && chunk->kind == PROFILE_CHUNK_TREE && unit < chunk->used; unit++) {
            const struct profile_node *node = tree_node(n * PROFILE_UNITS_PER_CHUNK + unit);
            sums.free_nodes += node->kind == PROFILE_NODE_FREE;
            sums.nodes += node->kind != PROFILE_NODE_FREE;
            if (node->kind == PROFILE_NODE_FREE || !node->metric)
                continue;
            const struct profile_metric *metric = arena_unit(node->metric);
            sums.with_metric++;
            sums.samples += metric->samples;
            sums.work += metric->work;
        }
    }
    return sums;
}

WITH_TREE(a_child_is_found_again_and_differs_in_each_part_of_its_key)
{
    uint32_t a = frame(tree.root, 1), b = frame(tree.root, 2), c = frame(a, 1);
    uint32_t d = tree_child(&tree, tree.root, PROFILE_NODE_RUNTIME, 1);
    assert_true(a && b && c && d);
    assert_true(a != b && a != c && a != d && b != c && b != d && c != d);
    assert_int_equal(frame(tree.root, 1), a);
    assert_int_equal(frame(tree.root, 2), b);
    assert_int_equal(frame(a, 1), c);
    assert_int_equal(tree_child(&tree, tree.root, PROFILE_NODE_RUNTIME, 1), d);
    assert_int_equal(tree_node(c)->parent, a);
    assert_int_equal(tree_node(c)->key, 1);
    assert_int_equal(tree_node(d)->kind, PROFILE_NODE_RUNTIME);
    /* Keys that share 32 bits: addresses of two modules. */
    uint32_t e = frame(tree.root, PROFILE_KEY(1, 0x1000)), f = frame(tree.root, PROFILE_KEY(2, 0x1000));
    assert_int_not_equal(e, f);
    assert_int_equal(frame(tree.root, PROFILE_KEY(2, 0x1000)), f);
}

/* Nodes of many kinds with one key below many parents: whatever shares a bucket differs in its parent or in
 * its kind only. */
WITH_TREE(nodes_that_share_a_bucket_are_told_apart)
{
    enum { PARENTS = TREE_FIRST_SEGMENT, KINDS = 30 };
    static uint32_t nodes[PARENTS][KINDS], parents[PARENTS];
    for (uint32_t i = 0; i < PARENTS; i++) {
        parents[i] = frame(tree.root, 1000 + i);
        for (uint32_t kind = 1; kind < KINDS; kind++)
            nodes[i][kind] = tree_child(&tree, parents[i], (enum profile_node_kind)kind, 5);
    }
    for (uint32_t i = 0; i < PARENTS; i++)
        for (uint32_t kind = 1; kind < KINDS; kind++) {
            assert_int_equal(tree_node(nodes[i][kind])->parent, parents[i]);
            assert_int_equal(tree_node(nodes[i][kind])->kind, kind);
        }
}

/* Keys chosen so that all of a node's hash is another's. */
WITH_TREE(nodes_with_equal_hashes_are_told_apart)
{
    /* hash_of() adds the parent to key x constant: for a parent one higher, the key that gives the same hash.
     */
    const uint64_t constant = 0x9e3779b97f4a7c15ull;
    uint64_t inverse = constant;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - constant * inverse; /* Newton: the inverse modulo 2^64 */
    uint32_t a = frame(tree.root, 1), b = frame(tree.root, 2);
    uint64_t key = 12345, twin = (((key ^ (uint64_t)PROFILE_NODE_FRAME << 40) * constant + a - b) * inverse) ^
                                 (uint64_t)PROFILE_NODE_FRAME << 40;
    uint32_t first = frame(a, key), second = frame(b, twin);
    assert_int_not_equal(first, second);
    assert_int_equal(frame(a, key), first);
    assert_int_equal(frame(b, twin), second);
    /* Another kind with the key that makes up for it. */
    uint64_t lock_key = key ^ (uint64_t)PROFILE_NODE_FRAME << 40 ^ (uint64_t)PROFILE_NODE_LOCK << 40;
    assert_int_not_equal(tree_child(&tree, a, PROFILE_NODE_LOCK, lock_key), first);
    assert_int_equal(frame(a, key), first);
}

WITH_TREE(nodes_and_metrics_never_overlap_in_a_chunk)
{
    /* Alternately, so that nodes from below and metrics from above meet in the middle. */
    enum { COUNT = 5000 };
    static uint32_t nodes[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        nodes[i] = frame(tree.root, i + 1);
        struct profile_metric *metric = tree_metric(&tree, nodes[i]);
        memset(metric, 0xff, sizeof(*metric));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(tree_node(nodes[i])->key, i + 1);
        assert_int_equal(tree_node(nodes[i])->parent, tree.root);
        assert_int_equal(frame(tree.root, i + 1), nodes[i]);
    }
    for (uint32_t n = 0; n < arena_header()->chunk_count; n++) {
        const struct profile_chunk *chunk = arena_unit(n * PROFILE_UNITS_PER_CHUNK);
        assert_true(chunk->used <= chunk->metric_unit);
        assert_int_equal(chunk->owner, 1);
    }
}

WITH_TREE(a_million_nodes_are_found_grafted_and_recycled)
{
    enum { COUNT = 1000000, FAN = 10 };
    uint32_t *nodes = malloc(COUNT * sizeof(*nodes));
    uint32_t place = tree_placeholder(&tree, 77);
    for (uint32_t i = 0; i < COUNT; i++) {
        nodes[i] = frame(i < FAN ? place : nodes[i / FAN - 1], i);
        assert_int_not_equal(nodes[i], 0);
    }
    assert_int_equal(tree.entries, COUNT);
    assert_true(tree.buckets >= COUNT); /* the table has grown with it: O(1) */
    for (uint32_t i = 0; i < COUNT; i += 7)
        assert_int_equal(frame(i < FAN ? place : nodes[i / FAN - 1], i), nodes[i]);
    assert_int_equal(tree.entries, COUNT);
    add_work(nodes[COUNT - 1], 3);
    add_work(nodes[0], 1);
    uint32_t chunks = arena_header()->chunk_count;
    assert_true(tree_graft(&tree, place, tree.root, &(uint64_t){UINT64_MAX}));
    assert_int_equal(tree.entries, COUNT);
    uint32_t after_graft = arena_header()->chunk_count;
    assert_true(after_graft - chunks < 100); /* nodes that were emptied are used for the next */
    uint32_t at = tree.root;
    static uint32_t path[64];
    int depth = 0;
    for (uint32_t i = COUNT - 1;; i = i / FAN - 1) {
        path[depth++] = i;
        if (i < FAN)
            break;
    }
    while (depth > 0)
        at = frame(at, path[--depth]);
    assert_int_equal(tree.entries, COUNT); /* all were there */
    assert_int_equal(tree_metric(&tree, at)->work, 3);
    struct sums sums = sums_in_file();
    assert_int_equal(sums.nodes, COUNT + 2);
    assert_int_equal(sums.samples, 2);
    assert_int_equal(sums.work, 4);
    /* Once more through recycled nodes: no growth at all. */
    for (uint32_t i = 0; i < sums.free_nodes; i++)
        assert_int_not_equal(frame(tree.root, 5000000 + i), 0);
    assert_int_equal(arena_header()->chunk_count, after_graft);
    free(nodes);
}

WITH_TREE(all_metrics_are_added)
{
    struct profile_metric a = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b = {10, 20, 30, 40, 50, 60, 70, 80, 90};
    static const struct profile_metric sum = {11, 22, 33, 44, 55, 66, 77, 88, 99};
    sums_add(&a, &b);
    assert_memory_equal(&a, &sum, sizeof(sum));
}

static struct profile_counters *counters_of(uint32_t context)
{
    return (void *)tree_metric(&tree, tree_child(&tree, context, PROFILE_NODE_COUNTERS, 0));
}

/* Their bytes mean something else than a metric's: added as one, whole numbers would be added bit by bit. */
WITH_TREE(a_graft_adds_counters_as_counters)
{
    uint32_t from = tree_placeholder(&tree, 1), into = frame(tree.root, 1);
    uint32_t alone = frame(from, 2), both = frame(from, 3);
    for (uint32_t i = 0; i < PROFILE_COUNTERS; i++) {
        counters_of(from)->value[i] = 1 + i;
        counters_of(into)->value[i] = 0.5;
        counters_of(alone)->value[i] = 10;
        counters_of(both)->value[i] = 100 + i;
        counters_of(frame(into, 3))->value[i] = 1000;
    }
    assert_true(tree_graft(&tree, from, into, &(uint64_t){UINT64_MAX}));
    for (uint32_t i = 0; i < PROFILE_COUNTERS; i++) {
        assert_true(counters_of(into)->value[i] == 1.5 + i);
        assert_true(counters_of(frame(into, 2))->value[i] == 10);
        assert_true(counters_of(frame(into, 3))->value[i] == 1100 + i);
    }
}

WITH_TREE(records_without_a_node_are_zeroed_and_their_own)
{
    uint32_t first = tree_record(&tree);
    memset(arena_unit(first), 1, sizeof(struct profile_counters));
    add_work(frame(tree.root, 1), 1);
    uint32_t second = tree_record(&tree);
    const struct profile_counters *counters = arena_unit(second);
    assert_true(first && second && first != second);
    for (uint32_t i = 0; i < PROFILE_COUNTERS; i++)
        assert_true(counters->value[i] == 0);
    assert_true(tree_metric(&tree, frame(tree.root, 1))->work == 1);
}

WITH_TREE(placeholders_are_not_children)
{
    uint32_t a = tree_placeholder(&tree, 5), b = tree_placeholder(&tree, 5);
    assert_int_not_equal(a, b);
    assert_int_equal(tree_node(a)->parent, 0);
    assert_int_not_equal(tree_child(&tree, tree.root, PROFILE_NODE_REGION, 5), a);
}

WITH_TREE(recycled_metric_records_start_at_zero)
{
    uint32_t place = tree_placeholder(&tree, 5);
    for (uint64_t key = 1; key <= 3; key++) {
        add_work(frame(tree.root, key), 1);
        add_work(frame(place, key), 3);
    }
    uint32_t metric_unit = tree.chunk->metric_unit;
    assert_true(
        tree_graft(&tree, place, tree.root, &(uint64_t){UINT64_MAX})); /* three records free, each linked to the next */
    for (uint32_t i = 0; i < 3; i++) {
        struct profile_metric *metric = tree_metric(&tree, frame(tree.root, 100 + i));
        static const struct profile_metric zero;
        assert_memory_equal(metric, &zero, sizeof(zero));
    }
    assert_int_equal(tree.chunk->metric_unit, metric_unit); /* none new */
}

WITH_TREE(out_of_memory_a_child_is_zero_and_nothing_breaks)
{
    unit_limit_files(PROFILE_HEADER_BYTES + 2 * PROFILE_CHUNK_BYTES);
    uint32_t made = 0, last = 0;
    for (uint32_t node; made < 10000 && (node = frame(tree.root, made)); made++)
        last = node;
    assert_int_equal(made, 2 * (PROFILE_UNITS_PER_CHUNK - 1) - 2); /* all units of two chunks but headers and roots */
    assert_int_equal(frame(tree.root, made - 1), last);            /* what is there is found */
    assert_int_equal(frame(tree.root, made), 0);
    assert_null(tree_metric(&tree, last));
    assert_int_equal(tree_placeholder(&tree, 1), 0);
    unit_limit_files(RLIM_INFINITY);
    fake_now_ns += 1000000000;
    assert_int_not_equal(frame(tree.root, made), 0);
    assert_non_null(tree_metric(&tree, last));
}

/* Memory runs out at every possible moment of a graft in turn: what could not be moved stays, nothing is lost
 * or counted twice, and a second graft completes it. */
UNIT_TEST(out_of_memory_in_a_graft_loses_nothing)
{
    for (uint32_t room = 0; room < 24; room++) {
        assert_int_equal(open_tree(NULL), 0);
        uint32_t place = tree_placeholder(&tree, 5);
        double work = 1, sum = 0;
        for (uint32_t i = 0; i < 4; i++) {
            for (uint32_t j = 0; j < 3; j++, sum += work, work *= 2)
                add_work(frame(frame(frame(place, i), 9), j), work);
            add_work(frame(place, i), 100000); /* inner nodes too: moved before what is below them */
            sum += 100000;
        }
        /* Leaves `room` units in the chunk, and no further chunk. */
        unit_limit_files(PROFILE_HEADER_BYTES + PROFILE_CHUNK_BYTES);
        uint32_t filled = 0;
        while (tree.chunk->metric_unit - tree.chunk->used > room && frame(tree.trie, filled + 1000))
            filled++;
        bool whole = tree_graft(&tree, place, tree.root, &(uint64_t){UINT64_MAX});
        struct sums sums = sums_in_file();
        assert_int_equal(sums.work, sum);
        assert_int_equal(sums.samples, 16);
        if (!whole) {
            assert_int_equal(tree_node(place)->kind, PROFILE_NODE_REGION);
            unit_limit_files(RLIM_INFINITY);
            fake_now_ns += 1000000000;
            assert_true(tree_graft(&tree, place, tree.root, &(uint64_t){UINT64_MAX}));
        }
        sums = sums_in_file();
        assert_int_equal(sums.work, sum);
        assert_int_equal(sums.samples, 16);
        assert_int_equal(sums.nodes, 2 + 4 + 4 + 12 + filled);
        assert_int_equal(tree_node(place)->kind, PROFILE_NODE_FREE);
        work = 1;
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t j = 0; j < 3; j++, work *= 2)
                assert_int_equal(tree_metric(&tree, frame(frame(frame(tree.root, i), 9), j))->work, work);
        close_tree(NULL);
    }
}

WITH_TREE(the_deepest_trie_path_is_repeated_whole)
{
    uint32_t at = tree.trie;
    for (uint32_t i = 0; i < TREE_PATH_MAX; i++)
        at = frame(at, i);
    uint32_t depth = 0;
    for (uint32_t idx = tree_copy_trie_path(&tree, at, tree.root); idx != tree.root; idx = tree_node(idx)->parent)
        assert_int_equal(tree_node(idx)->key, TREE_PATH_MAX - ++depth);
    assert_int_equal(depth, TREE_PATH_MAX);
}

WITH_TREE(out_of_memory_a_copied_path_is_zero)
{
    uint32_t at = tree.trie;
    for (uint32_t i = 0; i < 2000; i++)
        at = frame(at, i);
    unit_limit_files(PROFILE_HEADER_BYTES + 2 * PROFILE_CHUNK_BYTES);
    assert_int_equal(tree_copy_trie_path(&tree, at, tree.root), 0);
}

WITH_TREE(without_room_a_tree_is_not_begun)
{
    static struct tree other;
    unit_limit_files(PROFILE_HEADER_BYTES + PROFILE_CHUNK_BYTES);
    assert_false(tree_init(&other, 2));
}

UNIT_MAIN(NULL, NULL)
