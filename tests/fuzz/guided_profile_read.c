/* needs: tests/fuzz/fake_symbols.c tests/fuzz/profile_builder.c */
/* The made measurement file with the input's changes: small inputs reach all of a large file, and a corpus takes kilobytes. */
#define main mutate_at_random
#include "tests/fuzz/fuzz_profile_read.c"
#undef main

/* At a byte of one of the used units of a chunk (0: the header): so many bytes are replaced, or added to. */
struct change {
    uint8_t chunk, how, unit, offset;
    uint8_t value[8];
};

static void apply(const struct change *change, unsigned char *bytes, size_t size)
{
    size_t at = change->offset, width = (size_t)1 << change->how % 4, chunks = (size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES;
    if (change->chunk)
        at = PROFILE_HEADER_BYTES + change->chunk % chunks * PROFILE_CHUNK_BYTES + (size_t)change->unit * PROFILE_UNIT_BYTES + at % PROFILE_UNIT_BYTES;
    else
        at += (size_t)change->unit * 256;
    at -= at % width;
    uint64_t value = 0, old = 0;
    if (at + width > size)
        return;
    memcpy(&value, change->value, width);
    memcpy(&old, bytes + at, width);
    value += change->how & 4 ? old : 0;
    memcpy(bytes + at, &value, width);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    static struct seed seed;
    static int memory = -1;
    static FILE *out;
    static char path[64], error[1024];
    if (!seed.bytes) {
        seed = load_seed(NULL);
        memory = memfd_create("fuzz", 0);
        out = fopen("/dev/null", "w");
        snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    }
    if (count < 4)
        return 0;
    /* How it is shown, and whether its end is missing. */
    uint64_t round = data[0] | (uint64_t)data[1] << 8;
    size_t size = data[2] == 1 ? seed.size * data[3] / 256 : seed.size;
    unsigned char *bytes = malloc(seed.size);
    memcpy(bytes, seed.bytes, seed.size);
    for (size_t at = 4; at + sizeof(struct change) <= count; at += sizeof(struct change))
        apply((const struct change *)(data + at), bytes, seed.size);
    if (ftruncate(memory, (off_t)size) != 0 || pwrite(memory, bytes, size, 0) != (ssize_t)size)
        abort();
    free(bytes);
    struct profile *profile = profile_read(path, error, sizeof error);
    if (!profile && (strncmp(error, path, strlen(path)) != 0 || strchr(error, '\n')))
        abort();
    if (profile) {
        exercise(profile, out, round);
        profile_free(profile);
    }
    return 0;
}
