/* Writes measurement files of a job's ranks that never ran: a random calling context tree, the same in all ranks but for a twentieth of the contexts, with
 * times of each rank's own. The same arguments make the same files. Usage: make DIR FIRST COUNT RANKS CONTEXTS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/profile_builder.h"

#define THREADS    2
#define PAGE_BYTES 4096
#define SECONDS    10
#define SHIFT      27u /* of contexts' bins in that time */
#define BINS       74u
#define DENSE      64u

static uint64_t random_state;

static uint64_t random_number(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void put_header(struct profile_builder *builder, uint32_t rank, uint32_t ranks)
{
    struct profile_header *header = builder_header(builder);
    header->finished = header->in_job = 1;
    header->rank = rank;
    header->ranks = ranks;
    header->threads_max = header->cores = THREADS;
    header->start_ns = header->tool_start_ns = 1000000000;
    header->end_ns = 11000000000;
    header->start_realtime_ns = 1700000000000000000 + rank;
    header->rate = 200;
    header->period_ns = 5000000;
    builder_text(builder, "command", "synthetic");
    builder_text(builder, "job_identity", "synthetic\n");
    builder_text(builder, "job", "synthetic");
    builder_text(builder, "host", "node");
    struct profile_module module = {.vaddr_high = 0x1000000, .build_id_bytes = 20, .build_id = {1}, .path = "/synthetic"};
    builder_module(builder, &module);
    for (int i = 0; i < THREADS; i++) {
        struct profile_thread thread = {.kind = i ? PROFILE_THREAD_WORKER : PROFILE_THREAD_INITIAL,
                                        .tid = i,
                                        .begin_ns = 1000000000,
                                        .end_ns = 11000000000,
                                        .tree = 1,
                                        .work = 8e9,
                                        .idle = 2e9,
                                        .recorded = 2000,
                                        .delivered = 2000};
        builder_thread(builder, &thread);
    }
}

/* The context's samples in bins, as the tool has them: many of the first DENSE contexts, at most three of the others. */
static void put_bins(struct profile_builder *builder, uint32_t node, uint32_t number, double work, uint64_t own)
{
    struct profile_moments few = {.shift = SHIFT, .count = (uint8_t)(1 + own % PROFILE_MOMENTS)};
    struct profile_bins dense = {.form = PROFILE_TIME_DENSE, .shift = SHIFT};
    uint32_t count = number / 2 < DENSE ? BINS : few.count;
    struct profile_time_value value = {(float)(work / count), (float)(work / THREADS / count), (float)(work / 4 / count), 0};
    for (uint32_t i = 0; i < count; i++) {
        dense.bin[i] = value;
        few.moment[i % PROFILE_MOMENTS].bin = (uint32_t)((own >> 8) % BINS + i) % BINS;
        few.moment[i % PROFILE_MOMENTS].value = value;
    }
    if (count == BINS)
        builder_time(builder, 1, node, PROFILE_NODE_TIME, &dense, sizeof dense);
    else
        builder_record(builder, 1, builder_node(builder, 1, node, PROFILE_NODE_TIME, 0), &few);
}

static void put_lane(struct profile_builder *builder, uint32_t root)
{
    struct profile_lane lane = {.shift = SHIFT - PROFILE_TIME_FINER};
    uint32_t bins = (uint32_t)(SECONDS * 1e9 / (1u << lane.shift));
    for (uint32_t i = 0; i < bins; i++) {
        lane.ns[i][PROFILE_TIME_WORK] = (float)(THREADS * 8e9 / bins);
        lane.ns[i][PROFILE_TIME_IDLE] = (float)(THREADS * 2e9 / bins);
    }
    builder_time(builder, 1, root, PROFILE_NODE_LANE, &lane, sizeof lane);
}

static void put_tree(struct profile_builder *builder, uint32_t rank, uint32_t contexts)
{
    uint32_t *node = calloc(contexts + 1, sizeof *node);
    uint64_t own = 0x9e3779b97f4a7c15 * (rank + 1); /* its times */
    if (!node)
        exit(1);
    random_state = 88172645463325252;
    node[0] = builder_node(builder, 1, 0, PROFILE_NODE_ROOT, 0);
    for (uint32_t i = 1; i <= contexts; i++) {
        uint64_t parent = random_number(i), address = random_number(0x1000000);
        if (random_number(20) == 0)
            address += 1 + rank % 8;
        own = own * 6364136223846793005 + 1442695040888963407;
        node[i] = builder_node(builder, 1, node[parent], PROFILE_NODE_FRAME, PROFILE_KEY(1, address));
        if (i % 2) {
            double work = 5e6 * (1 + (double)(own >> 60));
            builder_metric(builder, 1, node[i],
                           &(struct profile_metric){
                               .samples = 1 + (own >> 60), .work = work, .inverse_busy = work / THREADS, .shared_idle = work / 4});
            put_bins(builder, node[i], i, work, own);
        }
    }
    put_lane(builder, node[0]);
    free(node);
}

/* With holes, as where a tool's mapping was never written to. */
static bool write_file(const struct profile_builder *builder, const char *path)
{
    static const unsigned char nothing[PAGE_BYTES];
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    bool good = file >= 0 && ftruncate(file, (off_t)builder->size) == 0;
    for (size_t at = 0; good && at < builder->size; at += PAGE_BYTES) {
        size_t bytes = builder->size - at < PAGE_BYTES ? builder->size - at : PAGE_BYTES;
        if (memcmp(builder->bytes + at, nothing, bytes) != 0)
            good = pwrite(file, builder->bytes + at, bytes, (off_t)at) == (ssize_t)bytes;
    }
    if (file >= 0 && close(file) != 0)
        good = false;
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: make DIR FIRST COUNT RANKS CONTEXTS\n");
        return 2;
    }
    uint32_t first = (uint32_t)atoi(argv[2]), count = (uint32_t)atoi(argv[3]);
    for (uint32_t rank = first; rank < first + count; rank++) {
        struct profile_builder builder;
        char path[4096];
        snprintf(path, sizeof path, "%s/rank-%06u.blame", argv[1], rank);
        builder_start(&builder);
        put_header(&builder, rank, (uint32_t)atoi(argv[4]));
        put_tree(&builder, rank, (uint32_t)atoi(argv[5]));
        bool good = write_file(&builder, path);
        builder_free(&builder);
        if (!good) {
            perror(path);
            return 1;
        }
    }
    return 0;
}
