/* needs: tests/unit/fake_clock.c */
/* Whole paths, looked up one after the other: the tree remembers the last. */
#include "cct/deferred/graft.h"
#include "tests/unit/unit_tree.h"

#define WITH_TREE(name) UNIT_TEST_WITH(name, open_tree, close_tree)

/* tree_path() as it would be without memory of the path before. */
static uint32_t frames_down(uint32_t base, const uint64_t *keys, size_t count)
{
    while (count > 0)
        base = frame(base, keys[--count]);
    return base;
}

static uint32_t random_below(uint32_t most)
{
    static uint64_t state = 88172645463325252ull;
    return (uint32_t)(unit_random(&state) >> 33) % most;
}

/* Alike in most of their outer frames, as samples are; below the roots and below placeholders that come and
 * go. */
WITH_TREE(paths_are_found_however_they_follow_each_other)
{
    enum { LONGEST = TREE_LAST_FRAMES + 40, PLACES = 3 };
    static uint64_t keys[LONGEST];
    uint32_t places[PLACES];
    for (int i = 0; i < PLACES; i++)
        places[i] = tree_placeholder(&tree, 1);
    for (int round = 0; round < 100000; round++) {
        uint32_t count = random_below(round % 64 ? 12 : LONGEST), base;
        for (uint32_t changed = random_below(4); changed > 0 && count > 0; changed--)
            keys[random_below(count)] = random_below(3);
        uint32_t which = random_below(PLACES + 2);
        base = which < PLACES ? places[which] : which == PLACES ? tree.root : tree.trie;
        uint32_t node_idx = tree_path(&tree, base, keys, count);
        assert_int_equal(node_idx, frames_down(base, keys, count));
        assert_int_equal(tree_path(&tree, base, keys, count), node_idx);
        if (which < PLACES && random_below(20) == 0) {
            assert_true(tree_graft(&tree, base, tree.root, &(uint64_t){UINT64_MAX}));
            places[which] = tree_placeholder(&tree, 1); /* the same node, most likely */
        }
    }
}

/* A placeholder's node serves the next one, and so do the nodes below it. */
WITH_TREE(a_path_is_forgotten_when_its_nodes_are_recycled)
{
    static const uint64_t keys[] = {3, 2, 1};
    uint32_t place = tree_placeholder(&tree, 5);
    assert_int_not_equal(tree_path(&tree, place, keys, 3), 0);
    assert_true(tree_graft(&tree, place, tree.root, &(uint64_t){UINT64_MAX}));
    assert_int_equal(tree_placeholder(&tree, 6), place);
    uint32_t node_idx = tree_path(&tree, place, keys, 3);
    for (int i = 0; i < 3; i++, node_idx = tree_node(node_idx)->parent) {
        assert_int_equal(tree_node(node_idx)->kind, PROFILE_NODE_FRAME);
        assert_int_equal(tree_node(node_idx)->key, keys[i]);
    }
    assert_int_equal(node_idx, place);
}

WITH_TREE(out_of_memory_a_path_is_zero_and_what_there_is_of_it_is_found)
{
    enum { LONG = 2 * PROFILE_UNITS_PER_CHUNK };
    static uint64_t keys[LONG];
    unit_limit_files(PROFILE_HEADER_BYTES + PROFILE_CHUNK_BYTES);
    assert_int_equal(tree_path(&tree, tree.root, keys, LONG), 0);
    assert_int_equal(tree_path(&tree, tree.root, keys, LONG), 0);
    uint32_t node_idx = tree_path(&tree, tree.root, keys, TREE_LAST_FRAMES + 1);
    assert_int_not_equal(node_idx, 0);
    assert_int_equal(node_idx, frames_down(tree.root, keys, TREE_LAST_FRAMES + 1));
    unit_limit_files(RLIM_INFINITY);
    fake_now_ns += 1000000000;
    assert_int_equal(tree_path(&tree, tree.root, keys, LONG), frames_down(tree.root, keys, LONG));
}

UNIT_MAIN(NULL, NULL)
