/* Hash functions. All [handler]. */
#ifndef BLAME_BASE_HASH_H
#define BLAME_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 2^64 divided by the golden ratio. Multiplying by it spreads neighbouring numbers; the high bits of the
 * product are spread best. */
#define HASH_FACTOR 0x9e3779b97f4a7c15ull

static inline uint64_t hash_number(uint64_t number)
{
    return number * HASH_FACTOR;
}

/* FNV-1a. */
static inline uint64_t hash_bytes(const void *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ull;
    return hash;
}

/* The same for whole words of 8 bytes, in an eighth of the time. */
static inline uint64_t hash_words(const void *words, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325ull, word;
    for (size_t i = 0; i < count; i++) {
        __builtin_memcpy(&word, (const char *)words + i * sizeof(word), sizeof(word));
        hash = (hash ^ word) * 0x100000001b3ull;
    }
    return hash;
}

#endif
