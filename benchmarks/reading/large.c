/* Writes a large profile: CONTEXTS contexts in each of which about a quarter of THREADS threads has samples.
 *     large FILE PROGRAM CONTEXTS THREADS
 * The contexts' addresses are in PROGRAM, which gives them names and lines. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cct/profile_format.h"
#include "cct/profile_metrics.h"
#include "cct/profile_time.h"
#include "cct/profile_tree.h"
#include "tests/fuzz/profile_builder.h"

#define ADDRESSES 5000  /* different code addresses */
#define PERIOD_NS 5e6   /* weight of a sample */
#define MOST      10000 /* samples of one context in one thread */
#define TIMED     64    /* contexts of each thread that have bins of time */
#define SECONDS   100

/* A context. Each has the address of a call, or is a part of its parent: other threads' waiting, a lock, a missing core. */
struct context {
    uint32_t parent;
    uint8_t kind;
    uint64_t key;
};

static uint64_t seed = 4711;

static double uniform(void) /* more than 0, at most 1 */
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)((seed >> 33) + 1) / 2147483648.0;
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((1 - uniform()) * limit);
}

/* Finds the section .text of a program. */
static Elf64_Shdr text_section(const char *path)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    char name[6] = "";
    FILE *file = fopen(path, "rb");
    if (!file || fread(&header, sizeof header, 1, file) != 1 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        exit(fprintf(stderr, "large: %s: not an ELF file\n", path));
#define READ(offset, to) (fseek(file, (long)(offset), SEEK_SET) == 0 && fread(&(to), sizeof(to), 1, file) == 1)
    bool good = READ(header.e_shoff + header.e_shstrndx * sizeof names, names);
    for (unsigned i = 1; good && i < header.e_shnum && strcmp(name, ".text") != 0; i++)
        good = READ(header.e_shoff + i * sizeof section, section) && READ(names.sh_offset + section.sh_name, name);
    fclose(file);
    if (!good || strncmp(name, ".text", sizeof name) != 0)
        exit(fprintf(stderr, "large: %s: no section .text\n", path));
    return section;
}

/* Half of the contexts are leaves, and a path has about 25 calls. */
static struct context *make_contexts(uint32_t count, const Elf64_Shdr *text)
{
    static uint64_t address[ADDRESSES];
    struct context *contexts = calloc(count, sizeof *contexts);
    for (uint32_t i = 0; i < ADDRESSES; i++)
        address[i] = PROFILE_KEY(1, text->sh_addr + (uint64_t)(uniform() * (double)(text->sh_size - 1)));
    contexts[0] = (struct context){0, PROFILE_NODE_ROOT, 0};
    for (uint32_t i = 1; i < count; i++) {
        uint32_t parent = i / 4 + below(i - i / 4), what = below(100);
        while (contexts[parent].kind > PROFILE_NODE_FRAME)
            parent--;
        uint64_t key = address[below(ADDRESSES)];
        contexts[i] = what < 10   ? (struct context){parent, PROFILE_NODE_WAITERS,
                                                     PROFILE_PLACE_KEY(PROFILE_PLACE_WORKSHARE, address[below(50)])}
                      : what < 12 ? (struct context){parent, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE}
                      : what < 13 ? (struct context){parent, PROFILE_NODE_LOCK,
                                                     PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0x404000 + 32 * below(40))}
                                  : (struct context){parent, PROFILE_NODE_FRAME, key};
    }
    return contexts;
}

static void add_record(struct profile_builder *to, uint32_t tree, uint32_t node, uint8_t kind)
{
    double samples = 1 / uniform(), p = PERIOD_NS * (double)(uint64_t)(samples < MOST ? samples : MOST),
           busy = 1 + below(8);
    struct profile_metric metric = {
        .samples = (uint64_t)(p / PERIOD_NS), .inverse_busy = p / busy, .shared_idle = p / busy};
    struct profile_idle idle = {.loops = p / 2, .scarcity = p / 4, .shared_idle = p};
    *(kind == PROFILE_NODE_LOCK ? &metric.lock_wait_here : &metric.work) = p;
    if (kind == PROFILE_NODE_LOCK)
        metric.lock_wait = p;
    builder_record(to, tree, node, kind == PROFILE_NODE_WAITERS ? (const void *)&idle : &metric);
}

static void add_times(struct profile_builder *to, uint32_t tree, uint32_t root, const uint32_t *nodes, uint32_t count)
{
    struct profile_lane lane = {.shift = PROFILE_TIME_SHIFT + 4 - PROFILE_TIME_FINER};
    struct profile_bins bins = {.form = PROFILE_TIME_DENSE, .shift = PROFILE_TIME_SHIFT + 4};
    for (uint32_t i = 0; i < PROFILE_LANE_BINS; i++)
        lane.ns[i][below(PROFILE_TIME_STATES)] = 6e7f;
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++)
        bins.bin[i] =
            (struct profile_time_value){.own = 1e6f, .inverse_busy = 5e5f, .shared_idle = 1e5f * (float)below(4)};
    builder_time(to, tree, root, PROFILE_NODE_LANE, &lane, sizeof lane);
    for (uint32_t i = 0, timed = 0; i < count && timed < TIMED; i++)
        if (nodes[i] && builder_at(to, nodes[i])->kind == PROFILE_NODE_FRAME && ++timed)
            builder_time(to, tree, nodes[i], PROFILE_NODE_TIME, &bins, sizeof bins);
}

/* Writes the tree of one thread: the contexts in which it has samples, and all above them. */
static void add_tree(struct profile_builder *to, uint32_t tree, const struct context *contexts, uint32_t count)
{
    uint32_t *nodes = calloc(count, sizeof *nodes);
    char *sampled = calloc(count, 1), *wanted = calloc(count, 1);
    wanted[0] = 1;
    for (uint32_t i = count - 1; i > 0; i--) {
        sampled[i] = below(4) == 0;
        wanted[i] |= sampled[i];
        wanted[contexts[i].parent] |= wanted[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (wanted[i])
            nodes[i] = builder_node(to, tree, nodes[contexts[i].parent], contexts[i].kind, contexts[i].key);
        if (sampled[i])
            add_record(to, tree, nodes[i], contexts[i].kind);
    }
    add_times(to, tree, nodes[0], nodes, count);
    free(nodes);
    free(sampled);
    free(wanted);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        exit(fprintf(stderr, "usage: large FILE PROGRAM CONTEXTS THREADS\n"));
    uint32_t count = (uint32_t)atol(argv[3]), threads = (uint32_t)atol(argv[4]);
    Elf64_Shdr text = text_section(argv[2]);
    struct context *contexts = make_contexts(count, &text);
    struct profile_builder builder;
    struct profile_module module = {.vaddr_high = text.sh_addr + text.sh_size, .flags = PROFILE_MODULE_EXECUTABLE};
    builder_start(&builder);
    builder_header(&builder)->threads_max = builder_header(&builder)->cores = threads;
    builder_header(&builder)->end_ns = builder_header(&builder)->start_ns + SECONDS * 1000000000ull;
    builder_text(&builder, "command", argv[2]);
    builder_text(&builder, "runtime", "LLVM OMP version: 5.0.20140926");
    snprintf(module.path, sizeof module.path, "%s", argv[2]);
    builder_module(&builder, &module);
    for (uint32_t tree = 1; tree <= threads; tree++) {
        struct profile_thread thread = {.kind = tree == 1 ? PROFILE_THREAD_INITIAL : PROFILE_THREAD_WORKER,
                                        .tid = (int)tree,
                                        .tree = tree,
                                        .begin_ns = 1000000000 + tree,
                                        .end_ns = 1000000000ull * (SECONDS + 1),
                                        .work = SECONDS * 1e9};
        builder_thread(&builder, &thread);
        add_tree(&builder, tree, contexts, count);
    }
    bool good = builder_write(&builder, argv[1]);
    builder_free(&builder);
    free(contexts);
    return good ? 0 : 1;
}
