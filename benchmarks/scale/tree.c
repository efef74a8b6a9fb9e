/* What a calling context tree costs by its size: a random tree in which each new context hangs below one of
 * those before it, half of the contexts with metrics, over 1,000 functions without debug information. Prints
 * `contexts phase value` a line; phases:
 *   insert ns     a new context, the time that its pages need included
 *   find ns       a context that is there
 *   file bytes    a context, in the measurement file
 *   hash bytes    a context, in the tree's table
 *   maps          mappings of this process when the tree is complete
 *   merge s       reading the file and merging its trees
 *   csv s         rows, names and all CSV files (with --report)
 *   rss bytes     a context, the most that this process had in memory beyond the tree (with --report)
 * Usage: tree DIR CONTEXTS [--report] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "cct/arena.h"
#include "report/profile/read.h"
#include "cct/tree.h"
#include "report/files/output.h"
#include "report/symbols/symbols.h"

#define FUNCTIONS 1000
#define SITES     8 /* calls in a function */

#define F1(n)                                                                                                \
    __attribute__((noinline)) void scale_function_##n(void)                                                  \
    {                                                                                                        \
        __asm__ volatile(".skip 16, 0x90");                                                                  \
    }
#define F10(n) F1(n##0) F1(n##1) F1(n##2) F1(n##3) F1(n##4) F1(n##5) F1(n##6) F1(n##7) F1(n##8) F1(n##9)
#define F100(n)                                                                                              \
    F10(n##0) F10(n##1) F10(n##2) F10(n##3) F10(n##4) F10(n##5) F10(n##6) F10(n##7) F10(n##8) F10(n##9)
#define N1(n)  scale_function_##n,
#define N10(n) N1(n##0) N1(n##1) N1(n##2) N1(n##3) N1(n##4) N1(n##5) N1(n##6) N1(n##7) N1(n##8) N1(n##9)
#define N100(n)                                                                                              \
    N10(n##0) N10(n##1) N10(n##2) N10(n##3) N10(n##4) N10(n##5) N10(n##6) N10(n##7) N10(n##8) N10(n##9)
/* clang-format off */
F100(1) F100(2) F100(3) F100(4) F100(5) F100(6) F100(7) F100(8) F100(9) F100(10)
static void (*const functions[FUNCTIONS])(void) = {
    N100(1) N100(2) N100(3) N100(4) N100(5) N100(6) N100(7) N100(8) N100(9) N100(10)
};
/* clang-format on */
extern char __executable_start, etext;

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

static void make_profile(const char *path)
{
    uint32_t number;
    if (!arena_open(path) || !tree_init(&tree, 1))
        fail("cannot write the measurement file");
    struct profile_header *header = arena_header();
    header->start_ns = header->tool_start_ns = clock_now_ns() - 1000000000;
    header->start_realtime_ns = clock_realtime_ns();
    header->period_ns = 5000000;
    header->rate = 200;
    header->depth = 512;
    header->cores = header->threads_max = 1;
    struct profile_module *module = arena_record(PROFILE_CHUNK_MODULE, &number);
    module->vaddr_low = (uintptr_t)&__executable_start;
    module->vaddr_high = (uintptr_t)&etext;
    module->flags = PROFILE_MODULE_EXECUTABLE;
    if (readlink("/proc/self/exe", module->path, sizeof(module->path) - 1) < 0)
        fail("no /proc/self/exe");
    struct profile_thread *thread = arena_record(PROFILE_CHUNK_THREAD, &number);
    thread->begin_ns = header->start_ns;
    thread->kind = PROFILE_THREAD_INITIAL;
    thread->tree = tree.number;
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
        uintptr_t function = (uintptr_t)functions[random_number() % FUNCTIONS];
        keys[i] = PROFILE_KEY(1, function + 1 + random_number() % SITES);
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

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static void write_report(const char *path, const char *dir)
{
    char error[512];
    double before_bytes = peak_bytes();
    uint64_t begin_ns = clock_now_ns();
    struct profile *profile = profile_read(path, error, sizeof(error));
    if (!profile)
        fail(error);
    uint64_t merged_ns = clock_now_ns();
    struct symbols *symbols = symbols_open(profile->modules, profile->module_count);
    if (!symbols)
        fail("no memory");
    struct report_tables tables = report_tables_make(profile, symbols);
    if (report_write_files(profile, &tables, dir, error, sizeof(error)) != 0)
        fail(error);
    report_tables_free(&tables);
    uint64_t end_ns = clock_now_ns();
    print("merge s", (double)(merged_ns - begin_ns) / 1e9);
    print("csv s", (double)(end_ns - merged_ns) / 1e9);
    print("rss bytes", (peak_bytes() - before_bytes) / (double)node_count);
    symbols_close(symbols);
    profile_free(profile);
}

int main(int argc, char **argv)
{
    char path[4096];
    long count = argc > 2 ? atol(argv[2]) : 0;
    if (count < 1 || argc > 4 || (argc == 4 && strcmp(argv[3], "--report") != 0))
        return fputs("usage: tree DIR CONTEXTS [--report]\n", stderr), 2;
    node_count = (size_t)count;
    snprintf(path, sizeof(path), "%s/scale.blame", argv[1]);
    make_profile(path);
    plan();
    insert();
    find();
    print_memory();
    arena_header()->end_ns = clock_now_ns();
    arena_finish();
    free(keys);
    free(parents);
    free(nodes);
    if (argc == 4)
        write_report(path, argv[1]);
    return 0;
}
