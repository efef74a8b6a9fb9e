/* A fresh tree in a fresh file for each test. */
#ifndef BLAME_TESTS_UNIT_TREE_H
#define BLAME_TESTS_UNIT_TREE_H

#include "tests/unit/unit.h"

#include "cct/arena.h"
#include "cct/tree.h"
#include "tests/unit/fake_clock.h"

static struct tree tree;

static int open_tree(void **unused)
{
    (void)unused;
    unit_limit_files(RLIM_INFINITY); /* a test before may have failed half way */
    arena_abandon();
    fake_now_ns += 1000000000;
    return arena_open(unit_fresh_path(), 0666) && tree_init(&tree, 1) ? 0 : -1;
}

static int close_tree(void **unused)
{
    (void)unused;
    unit_limit_files(RLIM_INFINITY);
    arena_abandon();
    unit_clean();
    return 0;
}

static uint32_t frame(uint32_t parent, uint64_t key)
{
    return tree_child(&tree, parent, PROFILE_NODE_FRAME, key);
}

#endif
