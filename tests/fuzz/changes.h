/* Inputs of guided fuzzers that are changes of a good file: small ones reach all of a large file, and a corpus takes kilobytes.
 * The first byte chooses a command, the second a file, then there is a struct change each. */
#ifndef BLAME_TESTS_FUZZ_CHANGES_H
#define BLAME_TESTS_FUZZ_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#define CHANGES_HEAD 2u
#define CHANGES_MOST 24u

#define CHANGE_WIDTH 3u  /* 1, 2, 4, 8 bytes */
#define CHANGE_ADD   4u  /* to what is there */
#define CHANGE_COPY  8u  /* 1, 32, 64 or 32768 bytes, from `value` on */
#define CHANGE_END   16u /* the file ends there */

struct change {
    uint32_t at;
    uint8_t how, reserved[3];
    uint64_t value;
};

/* Of the file so many bytes are left. */
size_t changes_apply(const uint8_t *data, size_t count, unsigned char *bytes, size_t size);

/* Each fuzzer's own: a change of that file that may lead somewhere, by next_random(). */
void changes_choose(struct change *change, size_t file);

/* libFuzzer calls these; they return the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t count, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_count, const uint8_t *right, size_t right_count,
                                 uint8_t *out, size_t most, unsigned seed);

/* libFuzzer's; without it, what the mutator makes is by chance alone. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t count, size_t most) __attribute__((weak));

#endif
