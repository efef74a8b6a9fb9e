/* needs: tests/unit/fake_clock.c */
/* tree_is_valid() and graft_is_valid() accept what the functions of trees make, and see every kind of damage. */
#include <math.h>

#include "cct/deferred/graft.h"
#include "cct/profile_metrics.h"
#include "cct/profile_time.h"
#include "cct/timeline/time.h"
#include "cct/tree_valid.h"
#include "tests/unit/unit_tree.h"

#define WITH_TREE(name) UNIT_TEST_WITH(name, open_tree, close_tree)

/* The tree is not valid with this value, and is valid again with the old one. */
#define BREAKS(field, value)                                                                                           \
    do {                                                                                                               \
        __typeof__(field) intact = (field);                                                                            \
        (field) = (value);                                                                                             \
        assert_false(tree_is_valid(&tree));                                                                            \
        (field) = intact;                                                                                              \
        assert_true(tree_is_valid(&tree));                                                                             \
    } while (0)

/* Nodes that the tests damage: a path below the root, one below a placeholder, one in the trie. */
static struct {
    uint32_t outer, inner, sibling, placeholder, deferred, context;
} nodes;

static void add_work(uint32_t node_idx)
{
    tree_metric(&tree, node_idx)->work += 5;
}

static void grow_tree(void)
{
    nodes.outer = tree_path(&tree, tree.root, (const uint64_t[]){1}, 1);
    nodes.inner = tree_path(&tree, tree.root, (const uint64_t[]){2, 1}, 2);
    nodes.sibling = frame(nodes.outer, 3);
    nodes.placeholder = tree_placeholder(&tree, 77);
    nodes.deferred = frame(nodes.placeholder, 4);
    nodes.context = tree_path(&tree, tree.trie, (const uint64_t[]){6, 5}, 2);
    add_work(nodes.inner);
    add_work(nodes.sibling);
    add_work(nodes.deferred);
    assert_true(tree_is_valid(&tree));
}

WITH_TREE(a_new_tree_and_a_grown_one_are_valid)
{
    assert_true(tree_is_valid(&tree));
    grow_tree();
    for (uint64_t key = 100; key < 20000; key++) { /* several segments of buckets */
        add_work(frame(nodes.outer, key));
        if ((key & (key - 1)) == 0)
            assert_true(tree_is_valid(&tree));
    }
    assert_true(tree_is_valid(&tree));
}

WITH_TREE(a_tree_of_another_number_has_no_nodes_here)
{
    grow_tree();
    BREAKS(tree.number, 2);
}

WITH_TREE(wrong_parents_are_seen)
{
    grow_tree();
    BREAKS(tree_node(nodes.inner)->parent, 0);               /* a frame without a parent */
    BREAKS(tree_node(nodes.inner)->parent, tree.root);       /* not in that node's list */
    BREAKS(tree_node(nodes.inner)->parent, 0x7fffffffu);     /* no node of the file */
    BREAKS(tree_node(nodes.placeholder)->parent, tree.root); /* a placeholder that is a child */
    BREAKS(tree_node(nodes.placeholder)->kind, PROFILE_NODE_FRAME);
    BREAKS(tree_node(tree.root)->kind, PROFILE_NODE_FRAME);
    BREAKS(tree.trie, tree.root);
}

WITH_TREE(wrong_lists_of_children_are_seen)
{
    grow_tree();
    assert_int_equal(tree_node(nodes.sibling)->next_sibling, nodes.inner);
    BREAKS(tree_node(nodes.sibling)->next_sibling, 0);               /* a child is lost */
    BREAKS(tree_node(nodes.inner)->next_sibling, nodes.sibling);     /* a circle of siblings */
    BREAKS(tree_node(nodes.inner)->first_child, nodes.deferred);     /* another parent's child */
    BREAKS(tree_node(nodes.inner)->first_child, nodes.outer);        /* a circle of parents */
    BREAKS(tree_node(nodes.inner)->first_child, tree_record(&tree)); /* a record instead of a node */
}

WITH_TREE(a_circle_that_no_root_reaches_is_seen)
{
    grow_tree();
    uint32_t lone = frame(nodes.outer, 10), other = frame(lone, 11);
    struct profile_node *outer = tree_node(nodes.outer);
    outer->first_child = tree_node(lone)->next_sibling;
    tree_node(lone)->next_sibling = 0;
    tree_node(lone)->parent = other;
    tree_node(other)->first_child = lone;
    assert_false(tree_is_valid(&tree));
}

/* Returns the link of the node's bucket that leads to it. */
static uint32_t *link_to(uint32_t node_idx)
{
    for (uint32_t i = 0; i < TREE_FIRST_SEGMENT; i++)
        for (uint32_t *link = &tree.segments[0][i]; *link; link = &tree_node(*link)->hash_next)
            if (*link == node_idx)
                return link;
    return NULL;
}

WITH_TREE(wrong_hash_links_are_seen)
{
    grow_tree();
    uint32_t *link = link_to(nodes.inner), *empty = tree.segments[0];
    while (*empty)
        empty++;
    BREAKS(*link, 0);                                       /* a node is not found */
    BREAKS(*empty, nodes.inner);                            /* a node in two buckets */
    BREAKS(tree_node(nodes.inner)->hash_next, nodes.inner); /* a circle */
    BREAKS(*empty, tree.root);                              /* the root is in no bucket */
    BREAKS(tree_node(nodes.inner)->key, 12345);             /* in the bucket of another key */
    BREAKS(tree.entries, tree.entries + 1);
    BREAKS(tree.buckets, 2 * tree.level_size);
    BREAKS(tree.buckets, tree.level_size - 1);
}

WITH_TREE(a_node_that_is_there_twice_is_seen)
{
    grow_tree();
    uint32_t twin = frame(nodes.outer, 9), *link = link_to(twin), first = nodes.sibling;
    *link = tree_node(twin)->hash_next;
    tree_node(twin)->key = tree_node(first)->key; /* in the bucket of the other, and in the same list */
    tree_node(twin)->hash_next = tree_node(first)->hash_next;
    tree_node(first)->hash_next = twin;
    assert_false(tree_is_valid(&tree));
}

WITH_TREE(wrong_records_and_sums_are_seen)
{
    grow_tree();
    struct profile_metric *metric = tree_metric(&tree, nodes.inner);
    BREAKS(metric->work, -1);
    BREAKS(metric->shared_idle, NAN);
    BREAKS(metric->idle_beside, -1);
    BREAKS(tree_node(nodes.inner)->metric, nodes.outer);                        /* a node instead of a record */
    BREAKS(tree_node(nodes.inner)->metric, tree_node(nodes.inner)->metric + 1); /* between two records */
    BREAKS(tree_node(nodes.outer)->metric, tree_node(nodes.inner)->metric);     /* two nodes share a record */
    uint32_t record = tree_record(&tree);
    BREAKS(tree_node(nodes.context)->metric, record); /* the trie has no records */
    uint32_t waits = tree_child(&tree, tree.root, PROFILE_NODE_WAITS, 1);
    ((struct profile_waits *)tree_metric(&tree, waits))->sum_ns = 7;
    assert_true(tree_is_valid(&tree));
    BREAKS(((struct profile_waits *)tree_metric(&tree, waits))->longest_ns, 8);
    BREAKS(tree.chunk->metric_unit, tree.chunk->used - 1);
}

WITH_TREE(wrong_marks_of_pending_nodes_are_seen)
{
    grow_tree();
    BREAKS(tree_node(nodes.deferred)->pending, 0);
    BREAKS(tree_node(nodes.inner)->pending, 1);
    BREAKS(tree_node(nodes.placeholder)->pending, 0);
}

WITH_TREE(wrong_free_lists_are_seen)
{
    grow_tree();
    assert_true(tree_graft(&tree, nodes.placeholder, nodes.outer, &(uint64_t){UINT64_MAX}));
    assert_true(tree.free_nodes && tree_node(tree.free_nodes)->hash_next && tree.free_metrics);
    assert_true(tree_is_valid(&tree));
    BREAKS(tree.free_nodes, tree_node(tree.free_nodes)->hash_next);        /* a free node is lost */
    BREAKS(tree.free_nodes, nodes.inner);                                  /* a node in use is free */
    BREAKS(tree_node(tree.free_nodes)->hash_next, tree.free_nodes);        /* a circle */
    BREAKS(*(uint32_t *)arena_unit(tree.free_metrics), tree.free_metrics); /* a circle of records */
    BREAKS(tree.free_metrics, nodes.inner);
}

WITH_TREE(a_moved_node_names_a_node)
{
    grow_tree();
    tree_node(nodes.deferred)->marks = TREE_MARK_WRITTEN;
    assert_true(tree_graft(&tree, nodes.placeholder, nodes.outer, &(uint64_t){UINT64_MAX}));
    assert_int_equal(tree_node(nodes.deferred)->kind, PROFILE_NODE_MOVED);
    assert_true(tree_is_valid(&tree));
    BREAKS(tree_node(nodes.deferred)->key, 0);
    BREAKS(tree_node(nodes.deferred)->key, tree.free_nodes);
}

WITH_TREE(wrong_dense_bins_are_seen)
{
    grow_tree();
    time_begin(&tree, 1);
    for (uint64_t ns = 1; ns < 100 * (1ull << PROFILE_TIME_SHIFT); ns += 1ull << PROFILE_TIME_SHIFT)
        time_add(&tree, nodes.inner, ns, (struct profile_time_value){1, 0, 0, 0});
    assert_true(tree.times.used >= 2);
    assert_true(tree_is_valid(&tree));
    struct profile_bins *bins = arena_unit(tree.times.dense[1]);
    BREAKS(bins->place, 0);
    BREAKS(bins->node, nodes.inner);
    BREAKS(bins->form, PROFILE_TIME_FEW);
    BREAKS(tree_node(bins->node)->metric, 0);
    BREAKS(tree.times.dense[1], nodes.inner);
    BREAKS(tree.times.used, tree.times.made + 1);
    uint32_t time_idx = bins->node;
    BREAKS(tree_node(time_idx)->kind, PROFILE_NODE_FRAME); /* a frame has no bins */
}

WITH_TREE(a_last_path_that_is_none_is_seen)
{
    grow_tree();
    tree_path(&tree, tree.root, (const uint64_t[]){2, 1}, 2);
    assert_int_equal(tree.last[0].count, 2);
    BREAKS(tree.last[0].nodes[1], nodes.deferred);
    BREAKS(tree.last[0].nodes[0], nodes.inner);
    BREAKS(tree.last[0].count, TREE_LAST_FRAMES + 1);
    BREAKS(tree.last[1].base, tree.root);
}

WITH_TREE(a_graft_leaves_a_valid_tree_wherever_it_stops)
{
    for (uint64_t steps = 1; steps < 40; steps++) {
        uint32_t place = tree_placeholder(&tree, 1), into = frame(tree.root, steps % 3);
        for (uint64_t key = 1; key < 20; key++)
            add_work(frame(frame(place, key), key * steps));
        uint64_t left = steps;
        assert_true(graft_is_valid(&tree, place, into));
        bool done = tree_graft(&tree, place, into, &left);
        assert_true(tree_is_valid(&tree));
        while (!done) {
            assert_true(graft_is_valid(&tree, place, into));
            left = steps;
            done = tree_graft(&tree, place, into, &left);
        }
        assert_true(tree_is_valid(&tree));
        assert_false(graft_is_valid(&tree, place, into)); /* it is no placeholder any more */
    }
}

WITH_TREE(only_placeholders_are_grafted_and_only_to_contexts)
{
    grow_tree();
    uint32_t other = tree_placeholder(&tree, 78);
    assert_true(graft_is_valid(&tree, nodes.placeholder, nodes.outer));
    assert_true(graft_is_valid(&tree, nodes.placeholder, tree.root));
    assert_true(graft_is_valid(&tree, nodes.placeholder, other));
    assert_true(graft_is_valid(&tree, nodes.placeholder, frame(other, 1)));
    assert_false(graft_is_valid(&tree, 0, nodes.outer));
    assert_false(graft_is_valid(&tree, nodes.placeholder, 0));
    assert_false(graft_is_valid(&tree, nodes.inner, nodes.outer));          /* not a placeholder */
    assert_false(graft_is_valid(&tree, nodes.placeholder, nodes.deferred)); /* below itself */
    assert_false(graft_is_valid(&tree, nodes.placeholder, nodes.placeholder));
    assert_false(graft_is_valid(&tree, nodes.placeholder, nodes.context)); /* to the trie */
}

#define BREAKS_GRAFT(field, value)                                                                                     \
    do {                                                                                                               \
        __typeof__(field) intact = (field);                                                                            \
        (field) = (value);                                                                                             \
        assert_false(graft_is_valid(&tree, nodes.placeholder, nodes.inner));                                           \
        (field) = intact;                                                                                              \
        assert_true(graft_is_valid(&tree, nodes.placeholder, nodes.inner));                                            \
    } while (0)

WITH_TREE(a_graft_of_damaged_nodes_is_seen)
{
    grow_tree();
    BREAKS_GRAFT(tree_node(nodes.placeholder)->pending, 0);
    BREAKS_GRAFT(tree_node(nodes.placeholder)->parent, tree.root);
    BREAKS_GRAFT(tree_node(nodes.deferred)->pending, 0);
    BREAKS_GRAFT(tree_node(nodes.deferred)->kind, PROFILE_NODE_REGION); /* a placeholder inside another */
    BREAKS_GRAFT(tree_node(nodes.outer)->parent, nodes.inner);          /* parent links in a circle */
    BREAKS_GRAFT(tree_node(nodes.outer)->parent, nodes.deferred);
}

UNIT_MAIN(NULL, NULL)
