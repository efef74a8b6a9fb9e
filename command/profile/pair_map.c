#include "command/profile/pair_map.h"

#include <stdlib.h>

#include "command/text/memory.h"

static size_t pair_map_hash(uint64_t a, uint64_t b)
{
    uint64_t hash = a * 0x9e3779b97f4a7c15ull ^ (b + 0x7f4a7c159e3779b9ull) * 0xc2b2ae3d27d4eb4full;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    return (size_t)(hash ^ hash >> 29);
}

static struct pair_entry *pair_map_find(const struct pair_map *map, uint64_t a, uint64_t b)
{
    size_t mask = map->capacity - 1;
    size_t at = pair_map_hash(a, b) & mask;
    while (map->slots[at].taken && (map->slots[at].a != a || map->slots[at].b != b))
        at = (at + 1) & mask;
    return &map->slots[at];
}

static void pair_map_grow(struct pair_map *map)
{
    struct pair_map bigger = {.capacity = map->capacity ? 2 * map->capacity : 64, .count = map->count};
    bigger.slots = memory_array(bigger.capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].taken)
            *pair_map_find(&bigger, map->slots[i].a, map->slots[i].b) = map->slots[i];
    free(map->slots);
    *map = bigger;
}

uint32_t *pair_map_slot(struct pair_map *map, uint64_t a, uint64_t b)
{
    if (4 * (map->count + 1) > 3 * map->capacity)
        pair_map_grow(map);
    struct pair_entry *entry = pair_map_find(map, a, b);
    if (!entry->taken) {
        *entry = (struct pair_entry){.a = a, .b = b, .value = PAIR_MAP_NEW, .taken = 1};
        map->count++;
    }
    return &entry->value;
}

void pair_map_free(struct pair_map *map)
{
    free(map->slots);
    *map = (struct pair_map){0};
}
