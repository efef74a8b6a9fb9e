/* Guided fuzzers without libFuzzer, for the ordinary tests: what was kept is run again, and some of what is made of it by chance. Included once a
 * program, by a fuzz_*.c behind its guided_*.c. */
#ifndef BLAME_TESTS_FUZZ_REPLAY_H
#define BLAME_TESTS_FUZZ_REPLAY_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/changes.h"

#define REPLAY_MOST  2048u
#define REPLAY_BYTES (CHANGES_HEAD + CHANGES_MOST * sizeof(struct change))
#define REPLAY_SHARE 10u /* whole commands take so much longer than a reader alone */

static struct replay_input {
    uint8_t bytes[REPLAY_BYTES];
    size_t count;
} replay_inputs[REPLAY_MOST];

/* A line of hexadecimal digits. */
static void replay_read_line(const char *line, struct replay_input *input)
{
    unsigned byte;
    for (input->count = 0; input->count < REPLAY_BYTES && sscanf(line + 2 * input->count, "%2x", &byte) == 1;
         input->count++)
        input->bytes[input->count] = (uint8_t)byte;
}

static size_t replay_read_packed(const char *path, size_t count)
{
    char line[2 * REPLAY_BYTES + 2];
    FILE *in = fopen(path, "r");
    while (in && count < REPLAY_MOST && fgets(line, sizeof line, in))
        replay_read_line(line, &replay_inputs[count++]);
    if (in)
        fclose(in);
    return count;
}

static size_t replay_read(const char *pattern)
{
    glob_t found;
    size_t count = 1; /* the first is the file without a change */
    replay_inputs[0].count = CHANGES_HEAD;
    if (glob(pattern, 0, NULL, &found) != 0)
        return count;
    for (size_t i = 0; i < found.gl_pathc && count < REPLAY_MOST; i++) {
        FILE *in = fopen(found.gl_pathv[i], "rb");
        replay_inputs[count].count = in ? fread(replay_inputs[count].bytes, 1, REPLAY_BYTES, in) : 0;
        count += in != NULL;
        if (in)
            fclose(in);
    }
    globfree(&found);
    return count;
}

/* PROGRAM COUNT SEED [PATTERN]: instead of the corpus these files. */
static int replay_main(int argc, char **argv, const char *corpus, const char *packed)
{
    unsigned long changed = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10000) / REPLAY_SHARE,
                  seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    size_t count = replay_read(argc > 3 ? argv[3] : corpus);
    count = argc > 3 ? count : replay_read_packed(packed, count);
    printf("%zu kept inputs, %lu made of them\n", count - 1, changed);
    fflush(stdout); /* it is thrown away from here on */
    for (size_t i = 0; i < count; i++)
        LLVMFuzzerTestOneInput(replay_inputs[i].bytes, replay_inputs[i].count);
    srand((unsigned)seed);
    for (unsigned long i = 0; i < changed; i++) {
        struct replay_input input = replay_inputs[(size_t)rand() % count];
        for (int times = 1 + rand() % 4; times; times--)
            input.count = LLVMFuzzerCustomMutator(input.bytes, input.count, sizeof input.bytes, (unsigned)rand());
        LLVMFuzzerTestOneInput(input.bytes, input.count);
    }
    return 0;
}

#endif
