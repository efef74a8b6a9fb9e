/* needs: tests/unit/fake_clock.c */
/* The loops of scripts/loop-bounds.txt in their worst states: how many instructions one call takes. */
#include "base/hash.h"
#include "cct/deferred/graft.h"
#include "cct/profile_metrics.h"
#include "cct/timeline/tracer.h"
#include "tests/unit/instructions.h"
#include "tests/unit/unit_tree.h"

#define WITH_TREE(name) UNIT_TEST_WITH(name, open_tree, close_tree)

/* The number with which it gives 1. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/* Frames of the root's that are all in one bucket, as cct/tree.c has it, however many buckets there are. */
static uint64_t colliding_key(uint64_t number)
{
    uint64_t mixed = (7ull << 32 | number) * inverse_of(0xbf58476d1ce4e5b9ull), hash = mixed;
    for (int i = 0; i < 3; i++)
        hash = mixed ^ hash >> 29;
    return (hash - tree.root) * inverse_of(HASH_FACTOR) ^ (uint64_t)PROFILE_NODE_FRAME << 40;
}

static uint64_t wanted;
static uint32_t found;

static void find_child(void)
{
    found = frame(tree.root, wanted);
}

WITH_TREE(children_that_all_collide_are_few)
{
    uint32_t made = 0;
    while (made < 100000 && frame(tree.root, colliding_key(made)))
        made++;
    assert_int_equal(made, 128);
    wanted = colliding_key(0); /* the chain's last */
    assert_instructions(find_child, 2100);
    assert_int_not_equal(found, 0);
    wanted = colliding_key(made);
    assert_instructions(find_child, 3900);
    assert_int_equal(found, 0);
    assert_int_not_equal(frame(tree.root, 5), 0); /* others have room */
}

#define FRAMES 64u /* of 4,096: each costs the same */

static uint64_t keys[FRAMES];

static void add_path(void)
{
    found = tree_path(&tree, tree.root, keys, FRAMES);
}

static void copy_path(void)
{
    found = tree_copy_trie_path(&tree, found, tree.root);
}

WITH_TREE(each_frame_of_a_path_that_nobody_went_before)
{
    for (uint32_t i = 0; i < FRAMES; i++)
        keys[i] = PROFILE_KEY(1, 0x1000 + 16 * i);
    assert_instructions(add_path, FRAMES * 230);
    found = tree_path(&tree, tree.trie, keys, FRAMES);
    assert_instructions(copy_path, FRAMES * 125);
}

#define PARTS 32u /* of what a callback does: that much is counted */

static uint32_t from, into;
static struct tracer tracer;
static bool whole;

static void graft_some(void)
{
    uint64_t steps = GRAFT_STEPS / PARTS;
    whole = tree_graft(&tree, from, into, &steps);
}

static double work_below(uint32_t node_idx)
{
    double work = tree_node(node_idx)->metric ? tree_metric(&tree, node_idx)->work : 0;
    for (uint32_t child = tree_node(node_idx)->first_child; child; child = tree_node(child)->next_sibling)
        work += work_below(child);
    return work;
}

/* What samples left below a placeholder. */
static void grow(uint32_t count)
{
    from = tree_placeholder(&tree, 5);
    into = frame(tree.root, 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = frame(frame(frame(from, i % 7), i % 100), i);
        tree_metric(&tree, at)->work += 1;
        tree_metric(&tree, frame(from, i % 7))->work += 1;
    }
}

WITH_TREE(a_large_graft_goes_on_in_later_callbacks_and_nothing_is_lost)
{
    grow(20000);
    assert_instructions(graft_some, 22500);
    assert_false(whole);
    uint32_t calls = 1;
    for (; !whole && calls < 10000; calls++) {
        frame(frame(from, 3), calls); /* an outer region's placeholder may get more meanwhile */
        tree_metric(&tree, frame(from, 3))->work += 1;
        if (calls % 50 == 0)
            assert_true(work_below(from) + work_below(into) == 40000 + calls);
        graft_some();
    }
    assert_in_range(calls, PARTS * 20, PARTS * 25);
    assert_true(work_below(into) == 40000 + calls - 1);
    assert_int_equal(tree_node(from)->kind, PROFILE_NODE_FREE);
}

static void trace_moved(struct tree *of, uint32_t old, uint32_t now)
{
    (void)of;
    tracer_moved(&tracer, old, now);
}

static void mark_all(uint32_t node_idx, uint8_t marks)
{
    for (uint32_t child = tree_node(node_idx)->first_child; child; child = tree_node(child)->next_sibling) {
        tree_node(child)->marks |= marks;
        mark_all(child, marks);
    }
}

/* Each node had samples that wait to be traced. */
WITH_TREE(a_graft_of_what_waits_for_more)
{
    grow(20000);
    for (uint32_t i = 0; i < TRACER_RING; i++)
        tracer_add(&tracer, &tree, frame(from, i % 7), PROFILE_TIME_WORK, 1 + i % 2, 1000);
    mark_all(from, TREE_MARK_WAITS);
    tree.moved = trace_moved;
    assert_instructions(graft_some, 36500);
    assert_false(whole);
}

UNIT_MAIN(NULL, NULL)
