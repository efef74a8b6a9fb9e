/* A hash map from a pair of 64-bit numbers to a 32-bit index. Not used in the measured program. */
#ifndef BLAME_COMMAND_PROFILE_PAIR_MAP_H
#define BLAME_COMMAND_PROFILE_PAIR_MAP_H

#include <stddef.h>
#include <stdint.h>

#define PAIR_MAP_NEW UINT32_MAX /* value of a pair that pair_map_slot() has just added */

struct pair_entry {
    uint64_t a, b;
    uint32_t value;
    uint32_t taken;
};

/* A map. If all its bytes are zero, it is empty. */
struct pair_map {
    struct pair_entry *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* Returns a pointer to the value of the pair (a, b). If the pair is new, adds it with the value PAIR_MAP_NEW.
 * The pointer is valid until the next call. */
uint32_t *pair_map_slot(struct pair_map *map, uint64_t a, uint64_t b);
void pair_map_free(struct pair_map *map);

#endif
