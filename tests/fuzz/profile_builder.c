#include "tests/fuzz/profile_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_format.h"
#include "cct/profile_metrics.h"
#include "cct/profile_time.h"
#include "cct/profile_trace.h"
#include "cct/profile_tree.h"

void builder_start(struct profile_builder *builder)
{
    *builder = (struct profile_builder){.size = PROFILE_HEADER_BYTES};
    builder->bytes = calloc(1, builder->size);
    *builder_header(builder) = (struct profile_header){.version = PROFILE_VERSION,
                                                       .byte_order = PROFILE_BYTE_ORDER,
                                                       .header_bytes = PROFILE_HEADER_BYTES,
                                                       .chunk_bytes = PROFILE_CHUNK_BYTES,
                                                       .unit_bytes = PROFILE_UNIT_BYTES,
                                                       .thread_bytes = PROFILE_THREAD_BYTES,
                                                       .module_bytes = PROFILE_MODULE_BYTES,
                                                       .finished = 1,
                                                       .pid = 4711,
                                                       .start_realtime_ns = 1700000000123456789,
                                                       .start_ns = 1000000000,
                                                       .tool_start_ns = 1000000000,
                                                       .end_ns = 3000000000,
                                                       .period_ns = 5000000,
                                                       .rate = 200,
                                                       .depth = 512,
                                                       .csv = 1,
                                                       .summary = 1,
                                                       .cores = 2,
                                                       .threads_max = 2};
    memcpy(builder_header(builder)->magic, PROFILE_MAGIC, 8);
}

void builder_free(struct profile_builder *builder)
{
    free(builder->bytes);
    builder->bytes = NULL;
}

struct profile_header *builder_header(struct profile_builder *builder)
{
    return (struct profile_header *)builder->bytes;
}

struct profile_chunk *builder_chunk(struct profile_builder *builder, uint32_t n)
{
    return (struct profile_chunk *)(builder->bytes + PROFILE_HEADER_BYTES + (size_t)n * PROFILE_CHUNK_BYTES);
}

struct profile_node *builder_at(struct profile_builder *builder, uint32_t node_idx)
{
    return (struct profile_node *)builder_chunk(builder, node_idx / PROFILE_UNITS_PER_CHUNK) +
           node_idx % PROFILE_UNITS_PER_CHUNK;
}

/* A new chunk's number + 1. */
static uint32_t new_chunk(struct profile_builder *builder, uint32_t kind, uint32_t owner)
{
    builder->bytes = realloc(builder->bytes, builder->size + PROFILE_CHUNK_BYTES);
    memset(builder->bytes + builder->size, 0, PROFILE_CHUNK_BYTES);
    builder->size += PROFILE_CHUNK_BYTES;
    uint32_t n = builder_header(builder)->chunk_count++;
    *builder_chunk(builder, n) = (struct profile_chunk){.kind = kind, .owner = owner};
    if (kind == PROFILE_CHUNK_TREE)
        *builder_chunk(builder, n) =
            (struct profile_chunk){.kind = kind, .owner = owner, .used = 1, .metric_unit = PROFILE_UNITS_PER_CHUNK};
    return n + 1;
}

/* The tree's chunk with room for `units` more, its number. */
static uint32_t tree_chunk(struct profile_builder *builder, uint32_t tree, uint32_t units)
{
    uint32_t n = builder->open_chunk[tree];
    if (n == 0 || builder_chunk(builder, n - 1)->used + units > builder_chunk(builder, n - 1)->metric_unit)
        n = builder->open_chunk[tree] = new_chunk(builder, PROFILE_CHUNK_TREE, tree);
    return n - 1;
}

uint32_t builder_node(struct profile_builder *builder, uint32_t tree, uint32_t parent, uint8_t kind, uint64_t key)
{
    uint32_t n = tree_chunk(builder, tree, 1);
    uint32_t node_idx = n * PROFILE_UNITS_PER_CHUNK + builder_chunk(builder, n)->used++;
    *builder_at(builder, node_idx) = (struct profile_node){.key = key, .parent = parent, .kind = kind};
    return node_idx;
}

void builder_metric(struct profile_builder *builder, uint32_t tree, uint32_t node_idx,
                    const struct profile_metric *metric)
{
    uint32_t at = builder_at(builder, node_idx)->metric;
    if (at == 0) {
        uint32_t n = tree_chunk(builder, tree, 2);
        at = n * PROFILE_UNITS_PER_CHUNK + (builder_chunk(builder, n)->metric_unit -= 2);
        builder_at(builder, node_idx)->metric = at;
    }
    struct profile_metric *sum = (struct profile_metric *)builder_at(builder, at);
    sum->samples += metric->samples;
    sum->work += metric->work;
    sum->overhead += metric->overhead;
    sum->lock_wait += metric->lock_wait;
    sum->inverse_busy += metric->inverse_busy;
    sum->shared_idle += metric->shared_idle;
    sum->lock_wait_here += metric->lock_wait_here;
    sum->waits += metric->waits;
}

void builder_record(struct profile_builder *builder, uint32_t tree, uint32_t node_idx, const void *record)
{
    builder_metric(builder, tree, node_idx, &(struct profile_metric){0});
    memcpy(builder_at(builder, builder_at(builder, node_idx)->metric), record, sizeof(struct profile_metric));
}

uint32_t builder_time(struct profile_builder *builder, uint32_t tree, uint32_t parent, uint8_t kind, const void *record,
                      size_t bytes)
{
    uint32_t units = (uint32_t)(bytes / PROFILE_UNIT_BYTES), node = builder_node(builder, tree, parent, kind, 0),
             n = builder->time_chunk[tree];
    if (n == 0 || builder_chunk(builder, n - 1)->used + units > PROFILE_UNITS_PER_CHUNK) {
        n = builder->time_chunk[tree] = new_chunk(builder, PROFILE_CHUNK_TIME, tree);
        builder_chunk(builder, n - 1)->used = 1;
    }
    struct profile_chunk *chunk = builder_chunk(builder, n - 1);
    builder_at(builder, node)->metric = (n - 1) * PROFILE_UNITS_PER_CHUNK + chunk->used;
    memcpy(builder_at(builder, builder_at(builder, node)->metric), record, bytes);
    chunk->used += units;
    return node;
}

void builder_thread(struct profile_builder *builder, const struct profile_thread *thread)
{
    uint32_t n = builder->thread_chunk;
    if (n == 0 || builder_chunk(builder, n - 1)->used == PROFILE_CHUNK_BYTES / PROFILE_THREAD_BYTES - 1)
        n = builder->thread_chunk = new_chunk(builder, PROFILE_CHUNK_THREAD, 0);
    struct profile_chunk *chunk = builder_chunk(builder, n - 1);
    ((struct profile_thread *)chunk)[1 + chunk->used++] = *thread;
}

void builder_module(struct profile_builder *builder, const struct profile_module *module)
{
    uint32_t n = builder->module_chunk;
    if (n == 0 || builder_chunk(builder, n - 1)->used == PROFILE_CHUNK_BYTES / PROFILE_MODULE_BYTES - 1)
        n = builder->module_chunk = new_chunk(builder, PROFILE_CHUNK_MODULE, 0);
    struct profile_chunk *chunk = builder_chunk(builder, n - 1);
    ((struct profile_module *)chunk)[1 + chunk->used++] = *module;
}

uint32_t builder_name(struct profile_builder *builder, const struct profile_name *name)
{
    const uint32_t room = PROFILE_CHUNK_BYTES / PROFILE_NAME_BYTES - 1;
    uint32_t n = builder->name_chunk, number = 1;
    if (n == 0 || builder_chunk(builder, n - 1)->used == room)
        n = builder->name_chunk = new_chunk(builder, PROFILE_CHUNK_NAME, 0);
    for (uint32_t i = 0; i < n - 1; i++)
        number += builder_chunk(builder, i)->kind == PROFILE_CHUNK_NAME ? room : 0;
    struct profile_chunk *chunk = builder_chunk(builder, n - 1);
    number += chunk->used;
    ((struct profile_name *)chunk)[1 + chunk->used++] = *name;
    return number;
}

void builder_text(struct profile_builder *builder, const char *key, const char *value)
{
    if (builder->text_chunk == 0)
        builder->text_chunk = new_chunk(builder, PROFILE_CHUNK_TEXT, 0);
    struct profile_chunk *chunk = builder_chunk(builder, builder->text_chunk - 1);
    char *to = (char *)chunk + PROFILE_UNIT_BYTES + chunk->used;
    strcpy(to, key);
    strcpy(to + strlen(key) + 1, value);
    chunk->used += (uint32_t)(strlen(key) + strlen(value) + 2);
}

bool builder_write(const struct profile_builder *builder, const char *path)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool good = fwrite(builder->bytes, 1, builder->size, out) == builder->size;
    return fclose(out) == 0 && good;
}

static void example_metric(struct profile_builder *builder, uint32_t tree, uint32_t node, uint32_t kind,
                           unsigned number)
{
    struct profile_metric metric = {.samples = 1 + number % 4};
    double p = 5e6 * (double)metric.samples;
    metric.inverse_busy = p / (1 + number % 2);
    metric.shared_idle = p - metric.inverse_busy;
    if (kind == PROFILE_NODE_WAITERS)
        metric = (struct profile_metric){.shared_idle = metric.shared_idle};
    else if (kind == PROFILE_NODE_RUNTIME)
        metric.overhead = p;
    else if (kind != PROFILE_NODE_LOCK)
        metric.work = p;
    if (kind == PROFILE_NODE_LOCK) {
        metric.lock_wait = metric.lock_wait_here = p;
        metric.waits = 1;
    }
    builder_metric(builder, tree, node, &metric);
}

/* A phase, an event, a parameter, an execution of a phase: below parent, with exact times and counters. */
static uint32_t example_probe(struct profile_builder *builder, uint32_t tree, uint32_t parent, unsigned number)
{
    uint8_t kind = (uint8_t)(PROFILE_NODE_PHASE + number % 4);
    uint64_t key = kind == PROFILE_NODE_INSTANCE ? number % 50 : 1 + number % 6;
    if (kind == PROFILE_NODE_INSTANCE)
        parent = builder_node(builder, tree, parent, PROFILE_NODE_PHASE, 1);
    uint32_t node = builder_node(builder, tree, parent, kind,
                                 kind == PROFILE_NODE_INSTANCE && key == 49 ? PROFILE_INSTANCE_REST : key);
    uint32_t probe_node = builder_node(builder, tree, node, PROFILE_NODE_PROBE, 0);
    double seconds = 1e-3 * (1 + number % 9);
    struct profile_probe probe = {.calls = 1 + number % 3,
                                  .inclusive_ns = seconds * 1e9,
                                  .exclusive_ns = seconds * 5e8,
                                  .shortest_ns = seconds * 1e8,
                                  .longest_ns = seconds * 9e8,
                                  .sum_of_squares = seconds * seconds * 1e18,
                                  .first_begin_ns = 1000000000 + number,
                                  .last_end_ns = 2000000000 + number};
    struct profile_counters counters = {.value = {number, -1, 0, 7}};
    builder_record(builder, tree, probe_node, &probe);
    builder_record(builder, tree, builder_node(builder, tree, probe_node, PROFILE_NODE_COUNTERS, 0), &counters);
    builder_record(builder, tree, builder_node(builder, tree, node, PROFILE_NODE_COUNTERS, 0), &counters);
    return node;
}

/* Other ranks' waiting because of a context, and of a call the part that another rank is blamed for. */
static void example_ranks(struct profile_builder *builder, uint32_t tree, uint32_t parent, unsigned number)
{
    struct profile_ranks ranks = {.blame = 1e6 * (number % 7), .wall = 5e5 * (number % 7)};
    struct profile_metric waited = {.samples = 1, .work = 5e6, .inverse_busy = 5e6, .waits = 1};
    uint64_t call = PROFILE_KEY(1 + number % 2, number % 40000);
    uint32_t node =
        builder_node(builder, tree, parent, PROFILE_NODE_RANKS, PROFILE_RANKS_KEY(number % 100, number % 5 ? call : 0));
    builder_record(builder, tree, node, &ranks);
    builder_record(builder, tree, builder_node(builder, tree, parent, PROFILE_NODE_CORES, 0),
                   &(struct profile_cores){.idle = 1e6 * (number % 5), .beyond = 1e5 * (number % 3)});
    node = builder_node(builder, tree, parent, PROFILE_NODE_MPI, number % 100);
    builder_metric(builder, tree, node, &waited);
    builder_record(builder, tree, builder_node(builder, tree, node, PROFILE_NODE_RANKS, 0),
                   &(struct profile_ranks){.waited = 4e6});
}

static void example_names(struct profile_builder *builder)
{
    static const char *const names[] = {"step", "solve", "pack", "unpack", "size = 512", "\xff, \"x\""};
    builder_header(builder)->pauses = 2;
    builder_header(builder)->paused_ns = 70000000;
    builder_header(builder)->probes_lost = 3;
    builder_text(builder, "counters", "perf::TASK-CLOCK\nperf::PAGE-FAULTS");
    builder_text(builder, "misnested", "pack\t1000000001234\tsolve\t1000000005678");
    builder_text(builder, "misnested", "pack\t1000000001234\t\t0");
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct profile_name name = {.kind = PROFILE_NODE_PHASE + i / 2,
                                    .place = PROFILE_KEY(1, 0x4321 + i),
                                    .flags = i == 0   ? PROFILE_NAME_DYNAMIC
                                             : i == 3 ? PROFILE_NAME_THROTTLED
                                                      : 0,
                                    .instances = 50,
                                    .throttled_after = i == 3 ? 100000 : 0};
        strcpy(name.text, names[i]);
        builder_name(builder, &name);
    }
}

/* Of a whole tree in a few bins, of one node in many, and some of a lane. */
static void example_times(struct profile_builder *builder, uint32_t tree, uint32_t root, uint32_t node)
{
    struct profile_few_bins few = {.shift = PROFILE_TIME_SHIFT,
                                   .count = 2,
                                   .entry = {{.bin = 3, .value = {.own = 5e6f}}, {.bin = 90, .value = {.own = 5e6f}}}};
    struct profile_bins bins = {
        .form = PROFILE_TIME_DENSE, .shift = PROFILE_TIME_SHIFT, .merged = (uint16_t)(tree % 2 * 40)};
    struct profile_lane lane = {.shift = PROFILE_TIME_SHIFT - PROFILE_TIME_FINER};
    for (uint32_t i = 0; i < PROFILE_TIME_BINS; i++)
        bins.bin[i] = (struct profile_time_value){
            .own = 1e6f, .inverse_busy = 5e5f, .shared_idle = 1e5f * (float)(i % 4), .lock_wait = 1e3f};
    for (uint32_t i = 0; i < PROFILE_LANE_BINS; i++)
        lane.ns[i][(i / 40 + tree) % PROFILE_TIME_STATES] = 4e6f;
    builder_record(builder, tree, builder_node(builder, tree, root, PROFILE_NODE_TIME, 0), &few);
    builder_time(builder, tree, node, PROFILE_NODE_TIME, &bins, sizeof bins);
    builder_time(builder, tree, root, PROFILE_NODE_LANE, &lane, sizeof lane);
}

static const uint8_t kinds[16] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 9, 5, 5, 6, 7, 0}; /* of nodes, as often */

void builder_trace(struct profile_builder *builder, uint32_t tree, uint32_t records, unsigned seed)
{
    static const unsigned char begin[] = {
        PROFILE_TRACE_PERIOD, 0xc0, 0x96, 0xb1, 2, PROFILE_TRACE_TIME, 0x80, 0xa8, 0xd6, 0xb9, 7};
    struct profile_trace_chunk *chunk =
        (void *)builder_chunk(builder, new_chunk(builder, PROFILE_CHUNK_TRACE, tree) - 1);
    unsigned char *to = (unsigned char *)(chunk + 1) + sizeof begin;
    builder_header(builder)->traced = 1;
    memcpy(chunk + 1, begin, sizeof begin);
    for (uint32_t i = 0; i < records; i++) {
        seed = seed * 1103515245 + 12345;
        *to = (unsigned char)((seed >> 8) % (PROFILE_TRACE_GAP + 2));
        if (*to++ >= PROFILE_TRACE_SEVERAL)
            *to++ = (unsigned char)(seed >> 17 & 0x7f);
        if (to[-2] >= PROFILE_TRACE_NEW_SEVERAL && to[-2] < PROFILE_TRACE_GAP)
            *to++ = 3;
        chunk->samples += 2;
    }
    chunk->number = 1;
    chunk->used = (uint32_t)(to - (unsigned char *)(chunk + 1));
}

void builder_example(struct profile_builder *builder, uint32_t trees, uint32_t nodes, unsigned seed)
{
    struct profile_module module = {.vaddr_high = 1ull << 40, .load_bias = 0x550000000000, .build_id_bytes = 20};
    struct profile_thread thread = {.delivered = 110,
                                    .recorded = 100,
                                    .dropped = {4, 0, 6},
                                    .work = 1e9,
                                    .idle = 5e8,
                                    .parked = 1e8,
                                    .begin_ns = 1000000000,
                                    .end_ns = 2500000000,
                                    .probed_exact = 7e8,
                                    .probed_sampled = 6.9e8};
    builder_start(builder);
    builder_header(builder)->before_start_ns = 12345678;
    builder_text(builder, "command", "./app with \"arguments\", \xff\xfe \xe2\x82\xac");
    builder_text(builder, "host", "node17");
    example_names(builder);
    strcpy(module.path, "/tmp/app");
    builder_module(builder, &module);
    strcpy(module.path, "/usr/lib/libomp.so.5");
    builder_module(builder, &module);
    for (uint32_t t = 0; t < 3; t++) {
        thread.tree = thread.kind = 1 + t;
        builder_thread(builder, &thread);
        thread.begin_ns += 7000000;
    }
    for (uint32_t tree = 1; tree <= trees; tree++) {
        uint32_t first = builder_node(builder, tree, 0, PROFILE_NODE_ROOT, 0);
        uint32_t roots[3] = {first, builder_node(builder, tree, 0, PROFILE_NODE_TRIE, 0),
                             builder_node(builder, tree, 0, PROFILE_NODE_REGION, PROFILE_KEY(1, 0x1234))};
        uint32_t recent[8];
        for (int i = 0; i < 8; i++)
            recent[i] = roots[i % 5 == 4 ? 1 : i % 5 == 3 ? 2 : 0];
        for (uint32_t i = 0; i < nodes; i++) {
            seed = seed * 1103515245 + 12345;
            unsigned number = seed >> 8;
            uint8_t kind = kinds[number % 16];
            uint64_t key = kind == PROFILE_NODE_PSEUDO ? 1 + number % 8
                           : kind == PROFILE_NODE_LOCK ? PROFILE_LOCK_KEY(number % 6, 0x550000004040 + number % 2)
                           : kind == PROFILE_NODE_WAITERS
                               ? PROFILE_PLACE_KEY(number % 16, PROFILE_KEY(1 + number % 2, number % 40000))
                               : PROFILE_KEY(1 + number % 2, number % 40000);
            uint32_t parent = recent[(number >> 4) % 8];
            if (number % 23 == 0)
                parent = recent[(number >> 4) % 8] = example_probe(builder, tree, parent, number >> 8);
            if (number % 29 == 0)
                example_ranks(builder, tree, parent, number);
            uint32_t node = builder_node(builder, tree, parent, kind, key);
            if (kind == PROFILE_NODE_FRAME)
                recent[(number >> 7) % 8] = (number >> 10) % 9 ? node : roots[(number >> 14) % 3];
            if (number % 3 || kind == PROFILE_NODE_LOCK)
                example_metric(builder, tree, node, kind, number);
        }
        example_times(builder, tree, first, recent[0]);
    }
}
