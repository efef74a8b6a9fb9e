/* Writes a measurement file of a program that was never run: a random calling context tree over functions
 * with debug information, every metric in use, threads, locks and waiting places. The same arguments make the
 * same profile. Usage: make DIR CONTEXTS [SEED [THREADS]]. With THREADS the file says which samples are whose: a
 * context is one thread's, what leads to it is all those's that come there, and some are everybody's. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cct/arena.h"
#include "cct/tree.h"

#define LINES      8  /* of a function of functions.py */
#define FIRST_LINE 4  /* bytes in front of the first one's instruction */
#define LINE_BYTES 10 /* of each */
#define THREADS    16  /* without the argument: all have one tree */
#define SHARED     200 /* of so many contexts, one is everybody's */
#define LOCKS      500
#define PLACES 300 /* where threads wait */
#define PERIOD_NS  5e6

extern void (*const functions[])(void);
extern const unsigned function_count;
extern char __executable_start, etext;

static struct tree tree;
static uint64_t random_state;
static uint64_t places[PLACES];
static unsigned threads_max = THREADS;

/* The contexts of all threads, and the numbers that they have in the tree that is being written: 0, not there yet. */
static struct context {
    uint64_t key;
    uint32_t parent, node;
} *contexts;

static uint64_t random_number(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void fail(const char *what)
{
    fprintf(stderr, "make: %s\n", what);
    exit(1);
}

static uint64_t random_key(void)
{
    uintptr_t function = (uintptr_t)functions[random_number(function_count)];
    return PROFILE_KEY(1, function + FIRST_LINE + LINE_BYTES * random_number(LINES) + 1);
}

static struct profile_metric *metric_of(uint32_t node)
{
    struct profile_metric *metric = node ? tree_metric(&tree, node) : NULL;
    if (!metric)
        fail("no room for another node");
    return metric;
}

/* What `samples` samples, some of them in other states than work, left at a node. */
static void fill(uint32_t node, uint64_t samples)
{
    struct profile_metric *metric = metric_of(node);
    double p = PERIOD_NS * (1 + 0.001 * (double)random_number(1000)),
           busy = 1 + (double)random_number(threads_max);
    metric->samples += samples;
    metric->work += p * (double)samples;
    metric->overhead += random_number(8) ? 0 : p;
    metric->inverse_busy += (metric->work + metric->overhead) / busy;
    metric->shared_idle += (metric->work + metric->overhead) * (threads_max / busy - 1);
    if (metric->shared_idle > 0 && random_number(4) == 0) {
        struct profile_metric *waiters =
            metric_of(tree_child(&tree, node, PROFILE_NODE_WAITERS, places[random_number(PLACES)]));
        waiters->shared_idle = metric->shared_idle / 2;
    }
}

static void add_lock(uint32_t waiter, uint32_t holder)
{
    uint64_t key = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0x500000000000 + 64 * random_number(LOCKS));
    struct profile_metric *waiting = metric_of(tree_child(&tree, waiter, PROFILE_NODE_LOCK, key));
    struct profile_metric *holding = metric_of(tree_child(&tree, holder, PROFILE_NODE_LOCK, key));
    waiting->lock_wait_here += PERIOD_NS;
    waiting->waits++;
    holding->lock_wait += PERIOD_NS;
    holding->inverse_busy += PERIOD_NS / 4;
    holding->shared_idle += PERIOD_NS / 3;
    struct profile_waits *waits =
        (struct profile_waits *)metric_of(tree_child(&tree, tree.root, PROFILE_NODE_WAITS, key));
    waits->sum_ns += PERIOD_NS;
    waits->longest_ns = PERIOD_NS;
    waits->waits++;
}

static uint32_t node_of(size_t i)
{
    struct context *context = &contexts[i];
    if (!context->node)
        context->node =
            tree_child(&tree, i ? node_of(context->parent) : tree.root, PROFILE_NODE_FRAME, context->key);
    if (!context->node)
        fail("no room for another context");
    return context->node;
}

/* What thread `thread` of `threads` has. */
static void add_contexts(size_t count, size_t thread, size_t threads)
{
    for (size_t i = 0; i < count; i++)
        contexts[i].node = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % threads != thread && i % SHARED != 1)
            continue;
        uint32_t node = node_of(i);
        if (i / threads % 2 || i % SHARED == 1)
            fill(node, 1 + random_number(20));
        if (i / threads % 16 == 15)
            add_lock(node, node_of(random_number(i)));
    }
}

static void add_trees(size_t count, unsigned threads)
{
    contexts = calloc(count, sizeof *contexts);
    if (!contexts)
        fail("no memory");
    for (size_t i = 0; i < PLACES; i++)
        places[i] = PROFILE_PLACE_KEY(1 + random_number(6), random_key());
    for (size_t i = 0; i < count; i++)
        contexts[i] = (struct context){.parent = i ? (uint32_t)random_number(i) : 0, .key = random_key()};
    for (unsigned thread = 0; thread < threads; thread++) {
        if (thread && !tree_init(&tree, thread + 1))
            fail("no room for another tree");
        add_contexts(count, thread, threads);
    }
    free(contexts);
}

static void add_threads(const struct profile_header *header, bool known)
{
    uint32_t number;
    for (unsigned i = 0; i < threads_max; i++) {
        struct profile_thread *thread = arena_record(PROFILE_CHUNK_THREAD, &number);
        if (!thread)
            fail("no room for another thread");
        thread->begin_ns = header->start_ns;
        thread->end_ns = header->end_ns;
        thread->kind = i ? PROFILE_THREAD_WORKER : PROFILE_THREAD_INITIAL;
        thread->tree = known ? i + 1 : 0;
        thread->work = 3e9;
        thread->idle = 1e9;
        thread->recorded = thread->delivered = 800;
    }
}

static void start(const char *dir)
{
    char path[4096];
    uint32_t number;
    snprintf(path, sizeof path, "%s/synthetic.blame", dir);
    if (!arena_open(path, 0666) || !tree_init(&tree, 1))
        fail("cannot write the measurement file");
    struct profile_header *header = arena_header();
    header->start_ns = header->tool_start_ns = 1000000000;
    header->end_ns = 5000000000;
    header->start_realtime_ns = clock_realtime_ns();
    header->period_ns = (uint64_t)PERIOD_NS;
    header->rate = 200;
    header->depth = 512;
    header->cores = (threads_max + 1) / 2;
    header->threads_max = threads_max;
    struct profile_module *module = arena_record(PROFILE_CHUNK_MODULE, &number);
    if (!module || !arena_text("command", "synthetic") ||
        readlink("/proc/self/exe", module->path, sizeof(module->path) - 1) < 0)
        fail("cannot name this program");
    module->vaddr_low = (uintptr_t)&__executable_start;
    module->vaddr_high = (uintptr_t)&etext;
    module->flags = PROFILE_MODULE_EXECUTABLE;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? atol(argv[2]) : 0, threads = argc > 4 ? atol(argv[4]) : 1;
    if (count < 1 || count > UINT32_MAX || threads < 1 || threads > 1 << 16 || argc > 5)
        return fputs("usage: make DIR CONTEXTS [SEED [THREADS]]\n", stderr), 2;
    random_state = 88172645463325252ull + (argc > 3 ? (uint64_t)atol(argv[3]) << 20 : 0);
    if (argc > 4)
        threads_max = (unsigned)threads;
    start(argv[1]);
    add_trees((size_t)count, (unsigned)threads);
    add_threads(arena_header(), argc > 4);
    arena_finish();
    return 0;
}
