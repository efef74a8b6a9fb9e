/* A hash map that finds the 32-bit index of a record. The caller stores the records with their keys. Meant
 * for large profiles, which have millions of nodes and rows: an entry takes 8 bytes, compared with 24 in a
 * pair_map. Not used in the measured program. */
#ifndef BLAME_COMMAND_PROFILE_INDEX_MAP_H
#define BLAME_COMMAND_PROFILE_INDEX_MAP_H

#include <stddef.h>
#include <stdint.h>

struct index_entry {
    uint32_t tag; /* hash of the record's key; 0: the entry is empty */
    uint32_t index;
};

/* A map. If all its bytes are zero, it is empty. */
struct index_map {
    struct index_entry *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* Returns a hash of a pair of numbers; never 0. */
static inline uint32_t index_map_hash(uint64_t a, uint64_t b)
{
    uint64_t hash = a * 0x9e3779b97f4a7c15ull ^ (b + 0x7f4a7c159e3779b9ull) * 0xc2b2ae3d27d4eb4full;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    return (uint32_t)(hash >> 32) | 1u << 31;
}

/* Makes room for one more entry. */
void index_map_reserve(struct index_map *map);

/* Returns the first entry with this hash, or the empty entry where the record belongs. If the entry's record
 * is not the one sought, index_map_next() returns the next candidate. The map must have room for an entry:
 * call index_map_reserve() first. */
static inline struct index_entry *index_map_first(const struct index_map *map, uint32_t tag)
{
    size_t mask = map->capacity - 1, at = tag & mask;
    while (map->slots[at].tag && map->slots[at].tag != tag)
        at = (at + 1) & mask;
    return &map->slots[at];
}

static inline struct index_entry *index_map_next(const struct index_map *map, const struct index_entry *from)
{
    size_t mask = map->capacity - 1, at = ((size_t)(from - map->slots) + 1) & mask;
    while (map->slots[at].tag && map->slots[at].tag != from->tag)
        at = (at + 1) & mask;
    return &map->slots[at];
}

/* Fills an empty entry. */
static inline void index_map_put(struct index_map *map, struct index_entry *entry, uint32_t tag, uint32_t index)
{
    *entry = (struct index_entry){.tag = tag, .index = index};
    map->count++;
}

void index_map_free(struct index_map *map);

#endif
