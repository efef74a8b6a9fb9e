/* Bytes that end where memory does: a read beyond them is a signal. */
#ifndef BLAME_TESTS_UNIT_CFI_EDGE_H
#define BLAME_TESTS_UNIT_CFI_EDGE_H

#include "tests/unit/unit.h"

#include <sys/mman.h>

#define EDGE_BYTES 600000u

/* The bytes of a table that is being written. */
static struct {
    unsigned char bytes[EDGE_BYTES];
    size_t count;
} text;

static inline void put(uint64_t value, size_t size)
{
    assert_true(text.count + size <= EDGE_BYTES);
    memcpy(text.bytes + text.count, &value, size);
    text.count += size;
}

/* The same bytes, valid until the next call. */
static const unsigned char *at_the_edge(const unsigned char *bytes, size_t count)
{
    static char *memory;
    size_t whole = (EDGE_BYTES + 4095) & ~(size_t)4095;
    if (!memory) {
        memory = mmap(NULL, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_int_equal(mprotect(memory + whole, 4096, PROT_NONE), 0);
    }
    return memcpy(memory + whole - count, bytes, count);
}

#endif
