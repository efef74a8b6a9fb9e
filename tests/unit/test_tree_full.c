/* needs: tests/unit/fake_clock.c */
/* Call paths that never repeat: the file stays bounded, and sums stay whole. */
#include "cct/deferred/graft.h"
#include "cct/profile_metrics.h"
#include "cct/timeline/time.h"
#include "tests/unit/unit_tree.h"

#include <sys/stat.h>

#define WITH_TREE(name) UNIT_TEST_WITH(name, open_tree, close_tree)
#define MB              (1 << 20)
#define DEPTH           4u

static uint64_t file_bytes(void)
{
    struct stat st;
    assert_int_equal(stat(unit_path, &st), 0);
    return (uint64_t)st.st_size;
}

static void add_sample(uint32_t node_idx)
{
    assert_int_not_equal(node_idx, 0);
    struct profile_metric *metric = tree_metric(&tree, node_idx);
    assert_non_null(metric);
    metric->samples++;
}

static uint32_t child_of(uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    uint32_t found = tree_find(&tree, parent, kind, key);
    assert_int_not_equal(found, 0);
    return found;
}

static uint32_t rest_of(uint32_t parent)
{
    return child_of(parent, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TREE_FULL);
}

static uint64_t samples_at(uint32_t node_idx)
{
    const struct profile_node *node = tree_node(node_idx);
    return node->metric ? ((const struct profile_metric *)arena_unit(node->metric))->samples : 0;
}

/* Of all contexts below the node; *rest: of those for which there was no room. */
static uint64_t samples_below(uint32_t top, uint64_t *rest)
{
    uint64_t samples = 0;
    *rest = 0;
    for (uint32_t at = top;;) {
        const struct profile_node *node = tree_node(at);
        if (node->kind != PROFILE_NODE_TIME && node->kind != PROFILE_NODE_LANE)
            samples += samples_at(at);
        if (node->kind == PROFILE_NODE_PSEUDO)
            *rest += samples_at(at);
        if (node->first_child) {
            at = node->first_child;
            continue;
        }
        while (at != top && !tree_node(at)->next_sibling)
            at = tree_node(at)->parent;
        if (at == top)
            return samples;
        at = tree_node(at)->next_sibling;
    }
}

/* Another tree has that many chunks. */
static void take(uint32_t chunks)
{
    uint32_t number;
    for (uint32_t i = 0; i < chunks; i++)
        assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 2, &number));
}

/* The room that trees share is taken by others, and so is what this tree has for itself. */
static void fill(void)
{
    uint32_t own = TREE_CHUNKS_EACH * PROFILE_UNITS_PER_CHUNK;
    take(TREE_CHUNKS_SHARED);
    uint32_t filler = frame(tree.root, 999);
    for (uint32_t i = 0; i < own && tree.chunks < TREE_CHUNKS_EACH; i++)
        frame(filler, i);
    assert_int_equal(tree.chunks, TREE_CHUNKS_EACH);
}

WITH_TREE(paths_that_never_repeat_take_bounded_room)
{
    enum { COUNT = 300000 };
    uint64_t state = 1, rest;
    take(TREE_CHUNKS_SHARED * 3 / 4);
    time_begin(&tree, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t keys[DEPTH] = {i, unit_random(&state), i % 1000, i % 10};
        uint32_t node_idx = tree_path(&tree, tree.root, keys, DEPTH);
        add_sample(node_idx);
        time_add(&tree, node_idx, i * 1000ull, (struct profile_time_value){1, 1, 0, 0});
    }
    assert_in_range(file_bytes(), 128 * MB, 140 * MB);
    assert_int_equal(samples_below(tree.root, &rest), COUNT);
    assert_in_range(rest, COUNT / 100, COUNT - COUNT / 100);
}

WITH_TREE(a_path_in_a_full_tree_ends_at_what_there_is_of_it)
{
    uint64_t known[3] = {3, 2, 1}, fresh[4] = {5, 4, 2, 1};
    uint32_t node_idx = tree_path(&tree, tree.root, known, 3), entries;
    fill();
    uint32_t two = tree_node(node_idx)->parent, rest = tree_path(&tree, tree.root, fresh, 4);
    assert_int_equal(rest, rest_of(two));
    entries = tree.entries;
    assert_int_equal(tree_path(&tree, tree.root, fresh, 4), rest);
    assert_int_equal(frame(rest, 77), rest);
    assert_int_equal(tree_child(&tree, rest, PROFILE_NODE_SITE, 77), rest);
    assert_int_equal(tree_child(&tree, two, PROFILE_NODE_SITE, 77), rest);
    assert_int_equal(tree_path(&tree, tree.root, known, 3), node_idx);
    assert_int_equal(tree.entries, entries);
}

/* A region's contexts that were known before keep their own; the rest goes where the path ends. */
WITH_TREE(a_graft_into_a_full_tree_keeps_all_sums)
{
    uint64_t rest;
    uint32_t into = frame(tree.root, 1), a = frame(into, 2);
    for (uint64_t round = 1; round <= 3; round++) {
        if (round == 1)
            fill();
        uint32_t place = tree_placeholder(&tree, 7), twin = frame(place, 2), other = frame(twin, 3),
                 deep = frame(frame(other, 4), 5);
        add_sample(twin);
        add_sample(other);
        add_sample(deep);
        add_sample(tree_child(&tree, deep, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE));
        add_sample(tree_child(&tree, other, PROFILE_NODE_RUNTIME, 8));
        add_sample(frame(frame(twin, 6), 7));
        add_sample(frame(place, 9));
        assert_int_not_equal(tree_node(deep)->parent, twin); /* there is room as long as the context is not known */
        assert_true(tree_graft(&tree, place, into, &(uint64_t){UINT64_MAX}));
        assert_int_equal(samples_at(a), round);
        assert_int_equal(samples_at(rest_of(a)), 3 * round);
        assert_int_equal(samples_at(rest_of(into)), round);
        assert_int_equal(samples_at(child_of(rest_of(a), PROFILE_NODE_RUNTIME, 8)), round);
        assert_int_equal(samples_at(child_of(rest_of(a), PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE)), round);
        assert_int_equal(samples_below(into, &rest), 7 * round);
    }
    uint32_t chunks = arena_tree_chunks();
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t place = tree_placeholder(&tree, 7);
        add_sample(frame(frame(place, 100 + i), i));
        assert_true(tree_graft(&tree, place, into, &(uint64_t){UINT64_MAX}));
    }
    assert_int_equal(arena_tree_chunks(), chunks);
    assert_int_equal(samples_below(into, &rest), 21 + 20000);
}

UNIT_MAIN(NULL, NULL)
