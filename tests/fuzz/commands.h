/* Measurement files that are changed for the fuzzing of commands: commands.c runs them. */
#ifndef BLAME_TESTS_FUZZ_COMMANDS_H
#define BLAME_TESTS_FUZZ_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_EDITS 16

struct base {
    char name[64];
    unsigned char *bytes;
    size_t size;
    bool rank; /* of a job of two: the other one and the mark are beside it */
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
/* Of the file so many bytes are left. */
size_t edits_apply(const struct edits *edits, unsigned char *bytes, size_t size);
/* A line each; false: they are none. */
void edits_write(const struct edits *edits, FILE *out);
bool edits_read(struct edits *edits, FILE *in);

/* Binaries are not there: names are looked up in no time. */
void base_forget_binaries(struct base *base);

#endif
