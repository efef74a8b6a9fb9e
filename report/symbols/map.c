/* A map, and sorted ranges. */
#include "report/symbols/map.h"

#include <stdlib.h>

#include "report/text/grow.h"

static size_t map_slot(const struct symbols_map *map, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    size_t slot = (size_t)(hash >> 20) & (map->room - 1);
    while (map->values[slot] && map->keys[slot] != key)
        slot = (slot + 1) & (map->room - 1);
    return slot;
}

void *symbols_map_find(const struct symbols_map *map, uint64_t key)
{
    return map->room ? map->values[map_slot(map, key)] : NULL;
}

static bool map_enlarge(struct symbols_map *map)
{
    struct symbols_map larger = {.room = map->room ? map->room * 2 : 256};
    larger.keys = malloc(larger.room * sizeof *larger.keys);
    larger.values = calloc(larger.room, sizeof *larger.values);
    if (!larger.keys || !larger.values) {
        symbols_map_free(&larger);
        return false;
    }
    for (size_t i = 0; i < map->room; i++) {
        if (map->values[i]) {
            size_t slot = map_slot(&larger, map->keys[i]);
            larger.keys[slot] = map->keys[i];
            larger.values[slot] = map->values[i];
        }
    }
    larger.count = map->count;
    symbols_map_free(map);
    *map = larger;
    return true;
}

bool symbols_map_put(struct symbols_map *map, uint64_t key, void *value)
{
    if (map->count * 2 >= map->room && !map_enlarge(map))
        return false;
    size_t slot = map_slot(map, key);
    map->count += map->values[slot] == NULL;
    map->keys[slot] = key;
    map->values[slot] = value;
    return true;
}

void symbols_map_free(struct symbols_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct symbols_map){0};
}

bool symbols_ranges_add(struct symbols_ranges *ranges, uint64_t low, uint64_t high, uint32_t index)
{
    if (high <= low || !grow_list(&ranges->list, &ranges->room, ranges->count, sizeof *ranges->list))
        return false;
    ranges->list[ranges->count++] = (struct symbols_range){.low = low, .high = high, .index = index};
    return true;
}

static int range_order(const void *left, const void *right)
{
    const struct symbols_range *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->high > b->high ? -1 : a->high < b->high;
}

void symbols_ranges_sort(struct symbols_ranges *ranges)
{
    uint64_t reach = 0;
    if (ranges->count)
        qsort(ranges->list, ranges->count, sizeof *ranges->list, range_order);
    for (size_t i = 0; i < ranges->count; i++) {
        reach = ranges->list[i].high > reach ? ranges->list[i].high : reach;
        ranges->list[i].reach = reach;
    }
}

const struct symbols_range *symbols_ranges_find(const struct symbols_ranges *ranges, uint64_t vaddr)
{
    size_t low = 0, high = ranges->count;
    const struct symbols_range *best = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->list[middle].low <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    /* A range of a damaged file may reach over everything: the search backward is bounded. */
    for (size_t steps = 0; low > 0 && steps < 4096; low--, steps++) {
        const struct symbols_range *range = &ranges->list[low - 1];
        if (range->reach <= vaddr)
            break;
        if (vaddr < range->high && (!best || range->high - range->low < best->high - best->low))
            best = range;
    }
    return best;
}
