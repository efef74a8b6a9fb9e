/* Small programs with debug information, of several compilers: tests/fuzz/binaries. Fuzzers change them. */
#ifndef BLAME_TESTS_FUZZ_SEED_BINARIES_H
#define BLAME_TESTS_FUZZ_SEED_BINARIES_H

#include <stddef.h>
#include <stdint.h>

#define SEED_BINARIES 4u
#define SEED_SECTIONS 48u

struct seed_section {
    const char *name;
    uint64_t vaddr;
    size_t offset, size; /* in the file */
};

struct seed_binary {
    const unsigned char *bytes;
    size_t size;
    const struct seed_binary *of_program; /* it is the debug file of that one; NULL: it is a program */
    struct seed_section section[SEED_SECTIONS];
    size_t section_count;
};

extern struct seed_binary seed_binaries[SEED_BINARIES];

/* Once, before all else. */
void seed_binaries_read(void);

/* Of a debug file that of its program; the process ends where there is none. */
const struct seed_section *seed_section(const struct seed_binary *binary, const char *name);

/* A byte of a header, or of a section, those of which most is read more often; by two random numbers. */
size_t seed_binary_place(const struct seed_binary *binary, uint64_t what, uint64_t where);

#endif
