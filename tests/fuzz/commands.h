/* Chooses changes of measurement files for guided_commands.c. */
#ifndef BLAME_TESTS_FUZZ_COMMANDS_H
#define BLAME_TESTS_FUZZ_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#define MOST_EDITS 16

struct base {
    unsigned char *bytes;
    size_t size;
};

/* So many bytes at a place get a value; no bytes: the file ends there. */
struct edit {
    uint64_t at, value;
    uint32_t bytes;
};

struct edits {
    struct edit edit[MOST_EDITS];
    size_t count;
};

/* The same for the same number. */
void edits_choose(struct edits *edits, const struct base *base, uint64_t number);

/* Binaries are not there: names are looked up in no time. */
void base_forget_binaries(struct base *base);

#endif
