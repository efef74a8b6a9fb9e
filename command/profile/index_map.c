#include "command/profile/index_map.h"

#include <stdlib.h>

#include "command/text/memory.h"

void index_map_reserve(struct index_map *map)
{
    if (4 * (map->count + 1) <= 3 * map->capacity)
        return;
    struct index_map bigger = {.capacity = map->capacity ? 2 * map->capacity : 64, .count = map->count};
    bigger.slots = memory_array(bigger.capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < map->capacity; i++) {
        size_t at = map->slots[i].tag & (bigger.capacity - 1);
        if (!map->slots[i].tag)
            continue;
        while (bigger.slots[at].tag)
            at = (at + 1) & (bigger.capacity - 1);
        bigger.slots[at] = map->slots[i];
    }
    free(map->slots);
    *map = bigger;
}

void index_map_free(struct index_map *map)
{
    free(map->slots);
    *map = (struct index_map){0};
}
