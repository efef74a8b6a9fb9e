/* A map from numbers to pointers, and sorted address ranges. */
#ifndef BLAME_COMMAND_SYMBOLS_MAP_H
#define BLAME_COMMAND_SYMBOLS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/profile/pair_map.h"

struct symbols_mapped {
    uint64_t key;
    void *value;
};
struct symbols_map {
    struct pair_map index; /* index in `entries`, by the pair (key, 0) */
    struct symbols_mapped *entries;
    size_t count, room;
};
/* Returns the pointer stored for `key`, or NULL if there is none. */
void *symbols_map_find(struct symbols_map *map, uint64_t key);
bool symbols_map_put(struct symbols_map *map, uint64_t key, void *value);
void symbols_map_free(struct symbols_map *map);

/* ---- sorted address ranges ---- */

struct symbols_range {
    uint64_t low, high; /* [low, high) */
    /* largest `high` of this range and of all ranges before it. A search that goes backward can stop when
     * `reach` is not above the address */
    uint64_t reach;
    uint32_t index; /* number of what the range belongs to, for example a function */
};
struct symbols_ranges {
    struct symbols_range *list;
    size_t count, room;
};
bool symbols_ranges_add(struct symbols_ranges *ranges, uint64_t low, uint64_t high, uint32_t index);
void symbols_ranges_sort(struct symbols_ranges *ranges);
/* Returns the smallest range that contains vaddr, or NULL if there is none. */
const struct symbols_range *symbols_ranges_find(const struct symbols_ranges *ranges, uint64_t vaddr);

#endif
