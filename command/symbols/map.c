/* A map from numbers to pointers, and sorted address ranges. */
#include "command/symbols/map.h"

#include <stdlib.h>

#include "command/text/grow.h"

void *symbols_map_find(struct symbols_map *map, uint64_t key)
{
    uint32_t *slot = pair_map_slot(&map->index, key, 0);
    return slot && *slot != PAIR_MAP_NEW ? map->entries[*slot].value : NULL;
}

bool symbols_map_put(struct symbols_map *map, uint64_t key, void *value)
{
    uint32_t *slot = pair_map_slot(&map->index, key, 0);
    if (!slot || !grow_list(&map->entries, &map->room, map->count, sizeof *map->entries))
        return false;
    if (*slot == PAIR_MAP_NEW)
        *slot = (uint32_t)map->count++;
    map->entries[*slot] = (struct symbols_mapped){key, value};
    return true;
}

void symbols_map_free(struct symbols_map *map)
{
    pair_map_free(&map->index);
    free(map->entries);
    *map = (struct symbols_map){0};
}

bool symbols_ranges_add(struct symbols_ranges *ranges, uint64_t low, uint64_t high, uint32_t index)
{
    if (high <= low || !grow_list(&ranges->list, &ranges->room, ranges->count, sizeof *ranges->list))
        return false;
    ranges->list[ranges->count++] = (struct symbols_range){.low = low, .high = high, .index = index};
    return true;
}

static int symbols_range_order(const void *left, const void *right)
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
        qsort(ranges->list, ranges->count, sizeof *ranges->list, symbols_range_order);
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
    /* The number of steps is limited, because a single range may cover everything in a damaged file. */
    for (size_t steps = 0; low > 0 && steps < 4096; low--, steps++) {
        const struct symbols_range *range = &ranges->list[low - 1];
        if (range->reach <= vaddr)
            break;
        if (vaddr < range->high && (!best || range->high - range->low < best->high - best->low))
            best = range;
    }
    return best;
}
