/* What a calling context tree costs by its size: a random tree in which each new context hangs below one of
 * those before it, half of the contexts with metrics, over 1,000 functions. Prints `contexts phase value` a line; phases:
 *   insert ns     a new context, the time that its pages need included
 *   find ns       a context that is there
 *   file bytes    a context, in the measurement file
 *   hash bytes    a context, in the tree's table
 *   maps          mappings of this process when the tree is complete
 * Usage: tree DIR CONTEXTS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cct/arena.h"
#include "cct/tree.h"

#define FUNCTIONS      1000
#define FUNCTION_BYTES 16
#define SITES          8 /* calls in a function */

static struct tree tree;
static uint32_t *nodes;
static uint64_t *keys;
static uint32_t *parents;
static size_t node_count;
static uint64_t random_state = 88172645463325252ull;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void print(const char *phase, double value)
{
    printf("%zu %s %.3f\n", node_count, phase, value);
    fflush(stdout);
}

static void fail(const char *what)
{
    fprintf(stderr, "tree: %s\n", what);
    exit(1);
}

/* Which tree it will be, made before the clock runs. */
static void plan(void)
{
    nodes = calloc(node_count, sizeof(*nodes));
    keys = calloc(node_count, sizeof(*keys));
    parents = calloc(node_count, sizeof(*parents));
    if (!nodes || !keys || !parents)
        fail("no memory");
    memset(nodes, 1, node_count * sizeof(*nodes)); /* their pages are not the tree's cost */
    for (size_t i = 0; i < node_count; i++) {
        keys[i] = PROFILE_KEY(1, FUNCTION_BYTES * (random_number() % FUNCTIONS) + 1 + random_number() % SITES);
        parents[i] = i ? (uint32_t)(random_number() % i) : 0;
    }
}

static void insert(void)
{
    uint64_t begin_ns = clock_now_ns();
    for (size_t i = 0; i < node_count; i++) {
        nodes[i] = tree_child(&tree, i ? nodes[parents[i]] : tree.root, PROFILE_NODE_FRAME, keys[i]);
        if (!nodes[i])
            fail("no room for another context");
        if (i % 2 == 0) {
            struct profile_metric *metric = tree_metric(&tree, nodes[i]);
            if (!metric)
                fail("no room for another metric record");
            metric->samples++;
            metric->work += 5000000;
            metric->inverse_busy += 5000000;
        }
    }
    print("insert ns", (double)(clock_now_ns() - begin_ns) / (double)node_count);
}

static void find(void)
{
    size_t count = node_count < 1000000 ? node_count : 1000000, wrong = 0;
    uint64_t begin_ns = clock_now_ns();
    for (size_t i = 0; i < count; i++) {
        size_t k = i * 7919 % node_count; /* not in the order in which they were made */
        wrong +=
            tree_child(&tree, k ? nodes[parents[k]] : tree.root, PROFILE_NODE_FRAME, keys[k]) != nodes[k];
    }
    if (wrong)
        fail("contexts are not found again");
    print("find ns", (double)(clock_now_ns() - begin_ns) / (double)count);
}

static void print_memory(void)
{
    uint64_t buckets = 0;
    for (uint32_t i = 0; i < TREE_SEGMENTS; i++)
        if (tree.segments[i])
            buckets += i ? TREE_FIRST_SEGMENT << (i - 1) : TREE_FIRST_SEGMENT;
    print("file bytes", (double)arena_header()->chunk_count * PROFILE_CHUNK_BYTES / (double)node_count);
    print("hash bytes", (double)buckets * sizeof(uint32_t) / (double)node_count);
    FILE *maps = fopen("/proc/self/maps", "r");
    int lines = 0;
    for (int c; maps && (c = getc(maps)) != EOF;)
        lines += c == '\n';
    if (maps)
        fclose(maps);
    print("maps", lines);
}

int main(int argc, char **argv)
{
    char path[4096];
    long count = argc == 3 ? atol(argv[2]) : 0;
    if (count < 1)
        return fputs("usage: tree DIR CONTEXTS\n", stderr), 2;
    node_count = (size_t)count;
    snprintf(path, sizeof(path), "%s/scale.blame", argv[1]);
    if (!arena_open(path, 0666) || !tree_init(&tree, 1))
        fail("cannot write the measurement file");
    plan();
    insert();
    find();
    print_memory();
    return 0;
}
