#include "tests/fuzz/changes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_OWN_OPTIONS
#include "tests/fuzz/fuzz.h"

static void apply(const struct change *change, unsigned char *bytes, size_t size)
{
    static const size_t copied[] = {1, 32, 64, 32768};
    size_t width =
        change->how & CHANGE_COPY ? copied[change->how & CHANGE_WIDTH] : (size_t)1 << (change->how & CHANGE_WIDTH);
    uint64_t value = 0;
    if (change->at > size || width > size - change->at)
        return;
    if (change->how & CHANGE_COPY) {
        if (width < size)
            memmove(bytes + change->at, bytes + change->value % (size - width), width);
        return;
    }
    if (change->how & CHANGE_ADD)
        memcpy(&value, bytes + change->at, width);
    value += change->value;
    memcpy(bytes + change->at, &value, width);
}

size_t changes_apply(const uint8_t *data, size_t count, unsigned char *bytes, size_t size)
{
    size_t left = size;
    struct change change;
    for (size_t at = CHANGES_HEAD; at + sizeof change <= count && at < CHANGES_HEAD + CHANGES_MOST * sizeof change;
         at += sizeof change) {
        memcpy(&change, data + at, sizeof change);
        if (change.how & CHANGE_END)
            left = change.at < left ? change.at : left;
        else
            apply(&change, bytes, size);
    }
    return left;
}

static size_t changes_in(size_t count)
{
    return count < CHANGES_HEAD ? 0 : (count - CHANGES_HEAD) / sizeof(struct change);
}

static void put(uint8_t *data, size_t number)
{
    struct change change = {0};
    changes_choose(&change, data[1]);
    memcpy(data + CHANGES_HEAD + number * sizeof change, &change, sizeof change);
}

static size_t drop(uint8_t *data, size_t number, size_t changes)
{
    uint8_t *at = data + CHANGES_HEAD + number * sizeof(struct change);
    memmove(at, at + sizeof(struct change), (changes - number - 1) * sizeof(struct change));
    return changes - 1;
}

/* A place near by: records lie side by side. */
static void shift(uint8_t *data, size_t number)
{
    static const uint32_t steps[] = {1, 4, 8, 32, 64};
    struct change change;
    uint8_t *at = data + CHANGES_HEAD + number * sizeof change;
    memcpy(&change, at, sizeof change);
    uint32_t step = steps[next_random() % (sizeof steps / sizeof *steps)];
    change.at += next_random() % 2 ? step : -step;
    memcpy(at, &change, sizeof change);
}

static void mutate_bytes(uint8_t *data, size_t number)
{
    uint8_t *at = data + CHANGES_HEAD + number * sizeof(struct change);
    if (LLVMFuzzerMutate)
        LLVMFuzzerMutate(at + 8, sizeof(struct change) - 8, sizeof(struct change) - 8);
    else
        at[next_random() % sizeof(struct change)] ^= (uint8_t)(1u << next_random() % 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t count, size_t most, unsigned seed)
{
    srandom(seed);
    random_state = (seed + 1ull) * 0x9e3779b97f4a7c15;
    next_random();
    size_t changes = changes_in(count), room = changes_in(most) < CHANGES_MOST ? changes_in(most) : CHANGES_MOST;
    if (count < CHANGES_HEAD && most >= CHANGES_HEAD)
        memset(data, 0, CHANGES_HEAD);
    changes = changes > room ? room : changes;
    size_t number = changes ? next_random() % changes : 0;
    uint64_t what = next_random() % 18;
    if (what >= 14)
        data[0] = (uint8_t)next_random();
    else if (what == 13)
        data[1] = (uint8_t)next_random();
    else if ((what < 6 || changes == 0) && changes < room)
        put(data, changes++);
    else if (what < 8 && changes)
        put(data, number);
    else if (what == 8 && changes > 1)
        changes = drop(data, number, changes);
    else if (what == 9 && changes)
        shift(data, number);
    else if (changes)
        mutate_bytes(data, number);
    return CHANGES_HEAD + changes * sizeof(struct change);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_count, const uint8_t *right, size_t right_count,
                                 uint8_t *out, size_t most, unsigned seed)
{
    random_state = (seed + 1ull) * 0x9e3779b97f4a7c15;
    size_t count = CHANGES_HEAD;
    if (left_count < CHANGES_HEAD || right_count < CHANGES_HEAD || most < CHANGES_HEAD)
        return 0;
    memcpy(out, left, CHANGES_HEAD);
    const uint8_t *from[] = {left, right};
    const size_t changes[] = {changes_in(left_count), changes_in(right_count)};
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < changes[side]; i++)
            if (next_random() % 2 && count + sizeof(struct change) <= most && changes_in(count) < CHANGES_MOST) {
                memcpy(out + count, from[side] + CHANGES_HEAD + i * sizeof(struct change), sizeof(struct change));
                count += sizeof(struct change);
            }
    return count;
}
