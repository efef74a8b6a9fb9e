#include "command/text/strings.h"

#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

struct strings {
    const char **text;
    struct pool memory; /* pool from which the copies of the texts are allocated */
    uint32_t *hash;
    uint32_t count, capacity;
    uint32_t *slots;     /* hash table; an occupied slot contains an id + 1, an empty slot 0 */
    uint32_t slot_count; /* number of slots: a power of two, greater than `count` */
};

static uint32_t strings_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t *strings_find_slot(struct strings *strings, uint32_t hash, const char *text)
{
    uint32_t mask = strings->slot_count - 1, at = hash & mask;
    for (; strings->slots[at]; at = (at + 1) & mask) {
        uint32_t id = strings->slots[at] - 1;
        if (strings->hash[id] == hash && strcmp(strings->text[id], text) == 0)
            break;
    }
    return &strings->slots[at];
}

static void strings_grow(struct strings *strings)
{
    uint32_t capacity = strings->capacity ? 2 * strings->capacity : 64, slot_count = 2 * capacity;
    uint32_t *slots = memory_array(slot_count, sizeof *slots);
    strings->text = memory_check(reallocarray(strings->text, capacity, sizeof *strings->text));
    strings->hash = memory_check(reallocarray(strings->hash, capacity, sizeof *strings->hash));
    free(strings->slots);
    strings->slots = slots;
    strings->slot_count = slot_count;
    strings->capacity = capacity;
    for (uint32_t id = 0; id < strings->count; id++) {
        uint32_t at = strings->hash[id] & (slot_count - 1);
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = id + 1;
    }
}

struct strings *strings_new(void)
{
    struct strings *strings = memory_array(1, sizeof *strings);
    strings_intern(strings, "");
    return strings;
}

void strings_free(struct strings *strings)
{
    if (!strings)
        return;
    pool_free(&strings->memory);
    free(strings->text);
    free(strings->hash);
    free(strings->slots);
    free(strings);
}

uint32_t strings_intern(struct strings *strings, const char *text)
{
    text = text ? text : "";
    if (strings->count == strings->capacity)
        strings_grow(strings);
    uint32_t hash = strings_hash(text), *slot = strings_find_slot(strings, hash, text);
    if (*slot)
        return *slot - 1;
    size_t bytes = strlen(text) + 1;
    strings->text[strings->count] = memcpy(pool_alloc(&strings->memory, bytes), text, bytes);
    strings->hash[strings->count] = hash;
    *slot = ++strings->count;
    return strings->count - 1;
}

const char *strings_text(const struct strings *strings, uint32_t id)
{
    return strings->text[id];
}
