#include "command/profile/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cct/profile_tree.h"
#include "command/profile/pair_map.h"
#include "command/profile/timeline_record.h"
#include "command/text/memory.h"
#include "command/text/unfinished.h"

#define MAIN_TREE 1u

struct writer {
    const struct profile *profile;
    unsigned char *chunks;
    uint32_t count;
    size_t room;
    struct pair_map open; /* maps (kind, owner) to the number of the chunk that is being filled */
    uint32_t *node_idx;   /* for each node of the profile, its index in the file */
    bool full;            /* whether the file would need more than PROFILE_MAX_CHUNKS chunks */
};

static struct profile_chunk *profile_writer_chunk(const struct writer *writer, uint32_t number)
{
    return (struct profile_chunk *)(writer->chunks + (size_t)number * PROFILE_CHUNK_BYTES);
}

static uint32_t profile_writer_add_chunk(struct writer *writer, uint32_t kind, uint32_t owner)
{
    /* no file will be written, so the last chunk can be overwritten from here on */
    if (writer->count == PROFILE_MAX_CHUNKS) {
        writer->full = true;
        writer->count--;
    }
    if (writer->count == writer->room) {
        writer->room = writer->room ? 2 * writer->room : 16;
        writer->chunks = memory_check(reallocarray(writer->chunks, writer->room, PROFILE_CHUNK_BYTES));
    }
    struct profile_chunk *chunk = profile_writer_chunk(writer, writer->count);
    memset(chunk, 0, PROFILE_CHUNK_BYTES);
    chunk->kind = kind;
    chunk->owner = owner;
    chunk->used = kind == PROFILE_CHUNK_TREE || kind == PROFILE_CHUNK_TIME;
    chunk->metric_unit = PROFILE_UNITS_PER_CHUNK;
    *pair_map_slot(&writer->open, kind, owner) = writer->count;
    return writer->count++;
}

/* Returns the number of a chunk of this kind and owner that has room. Adds a chunk if there is none. wanted:
 * units in a tree's chunk, bytes of text, or 1 record. */
static uint32_t profile_writer_chunk_with_room(struct writer *writer, uint32_t kind, uint32_t owner, uint32_t wanted,
                                               uint32_t most)
{
    uint32_t number = *pair_map_slot(&writer->open, kind, owner);
    if (number == PAIR_MAP_NEW)
        return profile_writer_add_chunk(writer, kind, owner);
    const struct profile_chunk *chunk = profile_writer_chunk(writer, number);
    uint32_t limit = kind == PROFILE_CHUNK_TREE ? chunk->metric_unit : most;
    return chunk->used + wanted <= limit ? number : profile_writer_add_chunk(writer, kind, owner);
}

/* Writes a node and its record, and returns the node's index in the file. The record has the size of a
 * metric, or is NULL. */
static uint32_t profile_writer_add_node(struct writer *writer, const struct profile_node *node, const void *record)
{
    uint32_t number = profile_writer_chunk_with_room(writer, PROFILE_CHUNK_TREE, MAIN_TREE, record ? 3 : 1, 0);
    struct profile_chunk *chunk = profile_writer_chunk(writer, number);
    struct profile_node *to = (struct profile_node *)chunk + chunk->used;
    *to = *node;
    if (record) {
        chunk->metric_unit -= 2;
        memcpy((struct profile_node *)chunk + chunk->metric_unit, record, sizeof(struct profile_metric));
        to->metric = number * PROFILE_UNITS_PER_CHUNK + chunk->metric_unit;
    }
    return number * PROFILE_UNITS_PER_CHUNK + chunk->used++;
}

static void profile_writer_add_record(struct writer *writer, uint32_t kind, const void *record, size_t bytes)
{
    uint32_t most = (uint32_t)(PROFILE_CHUNK_BYTES / bytes - 1);
    struct profile_chunk *chunk =
        profile_writer_chunk(writer, profile_writer_chunk_with_room(writer, kind, 0, 1, most));
    memcpy((char *)chunk + (size_t)(1 + chunk->used++) * bytes, record, bytes);
}

static bool profile_record_is_zero(const void *record)
{
    static const struct profile_metric nothing;
    return memcmp(record, &nothing, sizeof nothing) == 0;
}

/* Writes a node's sums. Reverses what profile_merge_metric() does for blocked time, time without a core and MPI
 * calls. */
static void profile_writer_put_sums(struct writer *writer, uint32_t i)
{
    const struct merged_node *from = &writer->profile->nodes[i];
    struct profile_metric metric = from->metric.metric;
    struct profile_node node = {.key = from->key,
                                .kind = from->kind,
                                .parent = i ? writer->node_idx[from->parent] : 0,
                                .first_child = (uint32_t)from->threads,
                                .next_sibling = (uint32_t)(from->threads >> 32)};
    struct profile_metric blocked = {.work = from->metric.blocked, .shared_idle = from->metric.blocked_idle};
    if (from->kind == PROFILE_NODE_PSEUDO && from->key == PROFILE_PSEUDO_NO_CORE) {
        metric.work = from->metric.no_core;
        metric.overhead = -from->metric.own_elsewhere;
    } else if (from->kind == PROFILE_NODE_PSEUDO && from->key == PROFILE_PSEUDO_STOPPED) {
        metric.inverse_busy = writer->profile->stopped_ns;
    } else if (from->kind == PROFILE_NODE_MPI) {
        /* The file stores the number of calls in 32 bits. For more calls, only the averages are kept. */
        double calls = from->metric.mpi_calls, part = calls > UINT32_MAX ? UINT32_MAX / calls : 1;
        metric.work = from->metric.mpi_wait;
        metric.waits = (uint32_t)(calls * part);
        metric.overhead = from->metric.mpi_ranks * part;
        metric.lock_wait_here = from->metric.mpi_bytes * part;
    }
    metric.shared_idle -= blocked.shared_idle;
    if (from->kind == PROFILE_NODE_RANKS) {
        struct profile_ranks ranks = profile_ranks_of_sums(&from->metric);
        memcpy(&metric, &ranks, sizeof metric);
    }
    writer->node_idx[i] = profile_writer_add_node(writer, &node, profile_record_is_zero(&metric) ? NULL : &metric);
    struct profile_cores cores = {
        .idle = from->metric.core_idle, .beyond = from->metric.core_beyond, .squares = from->metric.core_squares};
    struct profile_node used = {.kind = PROFILE_NODE_CORES, .parent = writer->node_idx[i]};
    if (!profile_record_is_zero(&cores))
        profile_writer_add_node(writer, &used, &cores);
    if (profile_record_is_zero(&blocked))
        return;
    struct profile_node below = {
        .key = PROFILE_PSEUDO_BLOCKED, .kind = PROFILE_NODE_PSEUDO, .parent = writer->node_idx[i]};
    profile_writer_add_node(writer, &below, &blocked);
}

static void profile_writer_put_nodes(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    writer->node_idx = memory_array(profile->node_count, sizeof *writer->node_idx);
    for (uint32_t i = 0; i < profile->node_count; i++)
        profile_writer_put_sums(writer, i);
    for (size_t i = 0; i < profile->counters_count; i++) {
        const struct merged_counters *counters = &profile->counters[i];
        struct profile_node node = {.kind = PROFILE_NODE_COUNTERS, .parent = writer->node_idx[counters->node]};
        profile_writer_add_node(writer, &node, &counters->counters);
    }
    for (size_t i = 0; i < profile->spread_count; i++) {
        const struct merged_spread *spread = &profile->spreads[i];
        struct profile_node node = {
            .kind = PROFILE_NODE_SPREAD, .key = spread->key, .parent = writer->node_idx[spread->node]};
        profile_writer_add_node(writer, &node, &spread->spread);
    }
    for (size_t i = 0; i < profile->balance_count; i++) {
        const struct merged_balance *balance = &profile->balances[i];
        struct profile_node node = {
            .kind = PROFILE_NODE_BALANCE, .key = balance->key, .parent = writer->node_idx[balance->node]};
        profile_writer_add_node(writer, &node, &balance->balance);
    }
    for (size_t i = 0; i < profile->wake_count; i++) {
        const struct merged_wake *wake = &profile->wakes[i];
        struct profile_node node = {.kind = PROFILE_NODE_WOKEN,
                                    .key = PROFILE_WAKE_KEY(wake->wake, writer->node_idx[wake->waker]),
                                    .parent = writer->node_idx[wake->waiter]};
        struct profile_woken woken = {.ns = wake->ns, .waits = wake->waits};
        profile_writer_add_node(writer, &node, &woken);
    }
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        struct profile_node node = {
            .kind = PROFILE_NODE_PROBE, .key = probe->tree, .parent = writer->node_idx[probe->node]};
        struct profile_node counted = {.kind = PROFILE_NODE_COUNTERS,
                                       .parent = profile_writer_add_node(writer, &node, &probe->probe)};
        if (profile->counter_count)
            profile_writer_add_node(writer, &counted, &probe->counters);
    }
}

/* Writes a LANE or TIME node, and its record in a TIME chunk. */
static void profile_writer_add_time_node(struct writer *writer, uint8_t kind, uint32_t parent, uint64_t key,
                                         const void *record, size_t bytes)
{
    uint32_t units = (uint32_t)(bytes / PROFILE_UNIT_BYTES);
    uint32_t number =
        profile_writer_chunk_with_room(writer, PROFILE_CHUNK_TIME, MAIN_TREE, units, PROFILE_UNITS_PER_CHUNK);
    struct profile_chunk *chunk = profile_writer_chunk(writer, number);
    struct profile_node node = {
        .kind = kind, .parent = parent, .key = key, .metric = number * PROFILE_UNITS_PER_CHUNK + chunk->used};
    memcpy((struct profile_node *)chunk + chunk->used, record, bytes);
    chunk->used += units;
    profile_writer_add_node(writer, &node, NULL);
}

static void profile_writer_add_lane(struct writer *writer, uint32_t number)
{
    const struct profile *profile = writer->profile;
    const struct timeline *timeline = &profile->timeline;
    const struct timeline_lane *lane = &timeline->lanes[number];
    const struct profile_thread *thread = &profile->threads[lane->thread];
    size_t bytes = sizeof(struct timeline_lane_record) + timeline->lane_bins * sizeof(float[PROFILE_TIME_STATES]);
    struct timeline_lane_record *record = memory_array(1, bytes);
    *record = (struct timeline_lane_record){.level = timeline->level,
                                            .shift = (uint8_t)__builtin_ctzll(timeline->lane_bin_ns),
                                            .cell_level = timeline->cell_level,
                                            .cell_shift = (uint8_t)__builtin_ctzll(timeline->bin_ns),
                                            .bins = timeline->lane_bins,
                                            .cell_bins = timeline->bins,
                                            .threads = lane->threads,
                                            .rank = lane->rank,
                                            .rank_record = lane->rank_record,
                                            .cell_lane = lane->cell_lane,
                                            .tid = thread->tid,
                                            .begin_ns = thread->begin_ns,
                                            .origin_ns = timeline->origin_ns,
                                            .without = timeline->without};
    for (size_t bin = 0; bin < timeline->lane_bins; bin++)
        for (size_t state = 0; state < PROFILE_TIME_STATES; state++)
            record->ns[bin][state] = (float)lane->ns[bin][state];
    profile_writer_add_time_node(writer, PROFILE_NODE_LANE, writer->node_idx[0], 1 + number, record, bytes);
    free(record);
}

/* Writes the bins of one context in one lane. */
static void profile_writer_put_cells(struct writer *writer, const struct timeline_cell *cells, size_t count)
{
    uint8_t shift = (uint8_t)__builtin_ctzll(writer->profile->timeline.bin_ns);
    struct profile_few_bins few = {.form = PROFILE_TIME_FEW, .shift = shift, .count = (uint8_t)count};
    struct profile_bins dense = {.form = PROFILE_TIME_DENSE, .shift = shift};
    struct profile_node node = {
        .kind = PROFILE_NODE_TIME, .key = 1 + cells->lane, .parent = writer->node_idx[cells->node]};
    for (size_t i = 0; i < count; i++) {
        if (count <= PROFILE_FEW_BINS) {
            few.entry[i].bin = cells[i].bin;
            few.entry[i].value = cells[i].value;
        } else {
            dense.bin[cells[i].bin] = cells[i].value;
        }
    }
    if (count <= PROFILE_FEW_BINS)
        profile_writer_add_node(writer, &node, &few);
    else
        profile_writer_add_time_node(writer, node.kind, node.parent, node.key, &dense, sizeof dense);
}

static void profile_writer_put_timeline(struct writer *writer)
{
    const struct timeline *timeline = &writer->profile->timeline;
    struct timeline_cell *cells = timeline_cells_by_lane(timeline, writer->profile->node_count);
    for (uint32_t i = 0; i < timeline->lane_count; i++)
        profile_writer_add_lane(writer, i);
    for (size_t i = 0, end; i < timeline->cell_count; i = end) {
        for (end = i + 1;
             end < timeline->cell_count && cells[end].node == cells[i].node && cells[end].lane == cells[i].lane;)
            end++;
        profile_writer_put_cells(writer, &cells[i], end - i);
    }
    free(cells);
}

static void profile_writer_add_lock(struct writer *writer, struct pair_map *nodes, const struct profile_lock *lock)
{
    uint32_t *slot = pair_map_slot(nodes, lock->key, 0);
    struct profile_waits waits = {.sum_ns = lock->sum_ns, .longest_ns = lock->longest_ns, .waits = lock->waits};
    struct profile_node node = {.key = lock->key, .kind = PROFILE_NODE_WAITS, .parent = writer->node_idx[0]};
    if (*slot == PAIR_MAP_NEW)
        *slot = profile_writer_add_node(writer, &node, lock->initialiser ? NULL : &waits);
    else if (!lock->initialiser)
        profile_writer_add_node(writer, &node, &waits); /* readers add up WAITS nodes with the same key */
    if (lock->initialiser) {
        node = (struct profile_node){.key = lock->initialiser, .kind = PROFILE_NODE_INITIALISER, .parent = *slot};
        profile_writer_add_node(writer, &node, &waits);
    }
    if (lock->variable) {
        node = (struct profile_node){.key = lock->variable, .kind = PROFILE_NODE_VARIABLE, .parent = *slot};
        profile_writer_add_node(writer, &node, NULL);
    }
}

static void profile_write_texts(struct writer *writer)
{
    const uint32_t most = PROFILE_CHUNK_BYTES - PROFILE_UNIT_BYTES;
    const char *at = writer->profile->text, *end = at ? at + writer->profile->text_bytes : at;
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        size_t bytes = value < end ? (size_t)(value + strlen(value) + 1 - at) : most + 1;
        if (bytes > most)
            break;
        uint32_t number = profile_writer_chunk_with_room(writer, PROFILE_CHUNK_TEXT, 0, (uint32_t)bytes, most);
        struct profile_chunk *chunk = profile_writer_chunk(writer, number);
        memcpy((char *)chunk + PROFILE_UNIT_BYTES + chunk->used, at, bytes);
        chunk->used += (uint32_t)bytes;
        at += bytes;
    }
}

static void profile_writer_put_profile(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    struct pair_map locks = {0};
    profile_write_texts(writer);
    for (size_t i = 0; i < profile->rank_count; i++)
        profile_writer_add_record(writer, PROFILE_CHUNK_RANK, &profile->ranks[i], sizeof *profile->ranks);
    for (size_t i = 0; i < profile->module_count; i++)
        profile_writer_add_record(writer, PROFILE_CHUNK_MODULE, &profile->modules[i], sizeof *profile->modules);
    for (size_t i = 0; i < profile->name_count; i++)
        profile_writer_add_record(writer, PROFILE_CHUNK_NAME, &profile->names[i], sizeof *profile->names);
    for (size_t i = 0; i < profile->thread_count; i++)
        profile_writer_add_record(writer, PROFILE_CHUNK_THREAD, &profile->threads[i], sizeof *profile->threads);
    profile_writer_put_nodes(writer);
    profile_writer_put_timeline(writer);
    for (size_t i = 0; i < profile->lock_count; i++)
        profile_writer_add_lock(writer, &locks, &profile->locks[i]);
    pair_map_free(&locks);
}

static void profile_writer_complete_header(struct profile_header *header, uint32_t chunks)
{
    profile_header_identify(header);
    header->chunk_count = chunks;
}

static int profile_write_stream(const struct writer *writer, FILE *out)
{
    char page[PROFILE_HEADER_BYTES] = "";
    struct profile_header header = writer->profile->header;
    profile_writer_complete_header(&header, writer->count);
    memcpy(page, &header, sizeof header);
    errno = 0;
    bool good = fwrite(page, sizeof page, 1, out) == 1 &&
                fwrite(writer->chunks, PROFILE_CHUNK_BYTES, writer->count, out) == writer->count;
    int wrong = good ? 0 : errno ? errno : EIO;
    if (fclose(out) != 0 && !wrong)
        wrong = errno ? errno : EIO;
    return wrong;
}

static int profile_write_file(const struct writer *writer, const char *path)
{
    char *part = memory_text("%s.%ld.part", path, (long)getpid());
    FILE *out = unfinished_file(part);
    int wrong = out ? 0 : errno;
    if (out) {
        wrong = profile_write_stream(writer, out);
        if (!wrong && rename(part, path) != 0)
            wrong = errno;
        unfinished_remove(part); /* no effect after a successful rename */
    }
    free(part);
    return wrong;
}

/* Writes a profile to a path or, if the path is NULL, to the descriptor, which is then closed. */
static int profile_write_to(const struct profile *profile, const char *path, int file)
{
    struct writer writer = {.profile = profile};
    FILE *out = NULL;
    profile_writer_put_profile(&writer);
    int wrong = writer.full ? EOVERFLOW : 0;
    if (!wrong && path)
        wrong = profile_write_file(&writer, path);
    else if (!wrong)
        wrong = (out = fdopen(file, "w")) ? profile_write_stream(&writer, out) : errno;
    free(writer.chunks);
    free(writer.node_idx);
    pair_map_free(&writer.open);
    return wrong;
}

int profile_write(const struct profile *profile, const char *path)
{
    return profile_write_to(profile, path, -1);
}

int profile_write_fd(const struct profile *profile, int file)
{
    return profile_write_to(profile, NULL, file);
}
