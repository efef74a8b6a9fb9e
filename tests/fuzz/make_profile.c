/* make_profile FILE [TREES NODES SEED]: writes a synthetic measurement file, the seed of fuzz_profile_read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/profile_builder.h"

int main(int argc, char **argv)
{
    struct profile_builder builder;
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE [TREES NODES SEED]\n", argv[0]);
        return 2;
    }
    builder_example(&builder, argc > 2 ? (uint32_t)atoi(argv[2]) % 64 : 3,
                    argc > 3 ? (uint32_t)atoi(argv[3]) : 200, argc > 4 ? (unsigned)atoi(argv[4]) : 1);
    bool good = builder_write(&builder, argv[1]);
    builder_free(&builder);
    if (!good)
        perror(argv[1]);
    return !good;
}
