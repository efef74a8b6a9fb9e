/* Reads fields of aarch64 instructions, which have four bytes each. All [any]. */
#ifndef BLAME_BASE_A64_H
#define BLAME_BASE_A64_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if those bits of `code` that are set in `mask` equal `value`. [any] */
static inline bool a64_is(uint32_t code, uint32_t mask, uint32_t value)
{
    return (code & mask) == value;
}

static inline unsigned a64_field(uint32_t code, unsigned low, unsigned bits) /* [any] */
{
    return code >> low & ((1u << bits) - 1);
}

static inline int64_t a64_signed(uint32_t code, unsigned low, unsigned bits) /* [any] */
{
    return (int64_t)((uint64_t)code << (64 - low - bits)) >> (64 - bits);
}

#endif
