/* Maps, and ranges of addresses. */
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
    struct pair_map index; /* (key, 0) -> index in entries */
    struct symbols_mapped *entries;
    size_t count, room;
};
void *symbols_map_find(struct symbols_map *map, uint64_t key); /* NULL: none. */
bool symbols_map_put(struct symbols_map *map, uint64_t key, void *value);
void symbols_map_free(struct symbols_map *map);

/* ---- address ranges, sorted ---- */

struct symbols_range {
    uint64_t low, high; /* [low, high) */
    /* largest `high` up to here; a backward search may stop once it is at or below the address */
    uint64_t reach;
    uint32_t index; /* owner of the range */
};
struct symbols_ranges {
    struct symbols_range *list;
    size_t count, room;
};
bool symbols_ranges_add(struct symbols_ranges *ranges, uint64_t low, uint64_t high, uint32_t index);
void symbols_ranges_sort(struct symbols_ranges *ranges);
/* Returns the smallest range around vaddr; NULL if there is none. */
const struct symbols_range *symbols_ranges_find(const struct symbols_ranges *ranges, uint64_t vaddr);

#endif
