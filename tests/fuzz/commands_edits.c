/* How measurement files are changed: bits, bytes, numbers of headers, nodes and records to their extremes, ends that are missing. */
#include <stdbool.h>
#include <string.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "tests/fuzz/commands.h"
#define FUZZ_OWN_OPTIONS /* those of in_process.c */
#include "tests/fuzz/fuzz.h"

static const uint64_t extremes[] = {0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 127, 255, 256, 1023, 1024, 1025, 4095, 32767,
                                    32768, 65535, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x7fffffffffffffff,
                                    0x8000000000000000, 0xffffffffffffffff,
                                    /* Doubles: infinite, no number, the largest, below nothing, the least. */
                                    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7fefffffffffffff,
                                    0xbff0000000000000, 1, 0x43e0000000000000,
                                    /* Floats, two of them. */
                                    0x7f8000007f800000, 0x7fc000007fc00000, 0xbf800000bf800000};

static const struct profile_chunk *chunk_of(const struct base *base, size_t number)
{
    return (const struct profile_chunk *)(base->bytes + PROFILE_HEADER_BYTES + number * PROFILE_CHUNK_BYTES);
}

static size_t record_bytes(uint32_t kind)
{
    static const size_t bytes[] = {
        [PROFILE_CHUNK_TREE] = PROFILE_UNIT_BYTES,     [PROFILE_CHUNK_THREAD] = PROFILE_THREAD_BYTES,
        [PROFILE_CHUNK_MODULE] = PROFILE_MODULE_BYTES, [PROFILE_CHUNK_TEXT] = 1,
        [PROFILE_CHUNK_NAME] = PROFILE_NAME_BYTES,     [PROFILE_CHUNK_RANK] = PROFILE_RANK_BYTES,
        [PROFILE_CHUNK_TIME] = PROFILE_UNIT_BYTES,     [PROFILE_CHUNK_TRACE] = 1};
    return kind < sizeof bytes / sizeof *bytes && bytes[kind] ? bytes[kind] : PROFILE_UNIT_BYTES;
}

/* What is read of it: its first words, then what is used, and of trees the metrics at the end. */
static size_t place_in_chunk(const struct profile_chunk *chunk)
{
    if (next_random() % 8 == 0)
        return next_random() % sizeof *chunk;
    if (next_random() % 16 == 0)
        return next_random() % PROFILE_CHUNK_BYTES;
    if (chunk->kind == PROFILE_CHUNK_TREE && chunk->metric_unit < PROFILE_UNITS_PER_CHUNK && next_random() % 3 == 0)
        return (chunk->metric_unit + next_random() % (PROFILE_UNITS_PER_CHUNK - chunk->metric_unit)) *
                   PROFILE_UNIT_BYTES +
               next_random() % PROFILE_UNIT_BYTES;
    size_t used = record_bytes(chunk->kind) * (1 + (size_t)chunk->used);
    return next_random() % (used < PROFILE_CHUNK_BYTES ? used : PROFILE_CHUNK_BYTES);
}

static size_t choose_place(const struct base *base)
{
    size_t chunks = base->size > PROFILE_HEADER_BYTES ? (base->size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES : 0;
    if (chunks == 0 || next_random() % 10 == 0)
        return next_random() % sizeof(struct profile_header);
    size_t number = next_random() % chunks;
    return PROFILE_HEADER_BYTES + number * PROFILE_CHUNK_BYTES + place_in_chunk(chunk_of(base, number));
}

/* A node's kind, its parent, or its record: those of another node. */
static bool choose_node(struct edit *edit, const struct base *base)
{
    size_t chunks = (base->size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES, number = next_random() % chunks;
    const struct profile_chunk *chunk = chunk_of(base, number);
    if (chunk->kind != PROFILE_CHUNK_TREE || chunk->used < 2 || chunk->used > PROFILE_UNITS_PER_CHUNK)
        return false;
    size_t unit = 1 + next_random() % (chunk->used - 1), other = 1 + next_random() % (chunk->used - 1);
    const struct profile_node *node = (const struct profile_node *)chunk + other;
    uint32_t index = (uint32_t)(number * PROFILE_UNITS_PER_CHUNK + other);
    *edit = (struct edit){.at = PROFILE_HEADER_BYTES + number * PROFILE_CHUNK_BYTES + unit * PROFILE_UNIT_BYTES,
                          .bytes = 4};
    switch (next_random() % 5) {
    case 0:
        edit->at += offsetof(struct profile_node, kind);
        edit->bytes = 1;
        edit->value = next_random() % (PROFILE_NODE_MOVED + 3);
        break;
    case 1:
        edit->at += offsetof(struct profile_node, parent);
        edit->value = index;
        break;
    case 2:
        edit->at += offsetof(struct profile_node, metric);
        edit->value = node->metric;
        break;
    case 3:
        edit->at += offsetof(struct profile_node, first_child) + 4 * (next_random() % 2);
        edit->value = next_random();
        break;
    default:
        edit->bytes = 8;
        edit->value = next_random() % 4 ? node->key ^ (1ull << next_random() % 64) : next_random();
    }
    return true;
}

static void choose_one(struct edit *edit, const struct base *base)
{
    uint64_t old = 0, value = next_random();
    if (base->size > PROFILE_HEADER_BYTES && next_random() % 4 == 0 && choose_node(edit, base))
        return;
    size_t at = choose_place(base), bytes = (size_t)1 << next_random() % 4;
    at -= at % bytes;
    memcpy(&old, base->bytes + at, bytes);
    switch (next_random() % 5) {
    case 0:
        value = old ^ 1ull << value % (8 * bytes);
        break;
    case 1:
        value = old + (value % 2 ? 1 : -1);
        break;
    case 2:
        break;
    default:
        value = extremes[value % (sizeof extremes / sizeof *extremes)];
    }
    *edit = (struct edit){.at = at, .bytes = (uint32_t)bytes, .value = value};
}

void edits_choose(struct edits *edits, const struct base *base, uint64_t number)
{
    random_state = (number + 1) * 0x9e3779b97f4a7c15;
    for (int i = 0; i < 4; i++)
        next_random();
    edits->count = 1 + next_random() % (next_random() % 3 ? 3 : MOST_EDITS - 1);
    for (size_t i = 0; i < edits->count; i++)
        choose_one(&edits->edit[i], base);
    if (next_random() % 30 == 0)
        edits->edit[edits->count++] = (struct edit){.at = next_random() % base->size};
}

void base_forget_binaries(struct base *base)
{
    size_t chunks = (base->size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES;
    for (size_t number = 0; number < chunks; number++) {
        const struct profile_chunk *chunk = chunk_of(base, number);
        for (size_t i = 1; chunk->kind == PROFILE_CHUNK_MODULE && i <= chunk->used; i++) {
            struct profile_module *module =
                (struct profile_module *)(base->bytes + PROFILE_HEADER_BYTES + number * PROFILE_CHUNK_BYTES) + i;
            if (module->path[0] == '/')
                module->path[0] = '~';
        }
    }
}
