/* A file of names, with a hash that fits: what is taken can be written again. */
#define main mutate_at_random
#include "tests/fuzz/fuzz_symbols_file.c"
#undef main

static void check(const uint8_t *data, size_t count)
{
    struct world world;
    size_t again_bytes = 0;
    uint8_t *bytes = malloc(count);
    memcpy(bytes, data, count);
    if (count >= BODY_AT) {
        uint64_t hash = hash_of(bytes + BODY_AT, count - BODY_AT);
        memcpy(bytes + HASH_AT, &hash, sizeof hash);
    }
    if (!decode(&world, bytes, count, 0, NULL)) {
        uint8_t *again = symbols_file_encode(&world.answers, &header, &again_bytes);
        if (!again)
            abort();
        free(again);
    }
    drop(&world);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    if (count)
        check(data, count);
    return 0;
}

/* One in two is made of the whole file that was written, so that there need not be one in the corpus. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t count, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t count, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t count, size_t most, unsigned seed)
{
    struct world world;
    size_t bytes;
    if (count >= BODY_AT)
        return LLVMFuzzerMutate(data, count, most);
    make(&world);
    fill(&world);
    uint8_t *file = symbols_file_encode(&world.answers, &header, &bytes);
    drop(&world);
    count = bytes < most ? bytes : most;
    memcpy(data, file, count);
    free(file);
    random_state = seed * 2ull + 1;
    return mutate(data, count);
}
