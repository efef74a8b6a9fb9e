/* needs: tests/fuzz/in_process.c tests/fuzz/command_lines.c tests/fuzz/changes.c tests/fuzz/seed_binaries.c tests/fuzz/profile_builder.c */
/* libs: -Wl,--wrap=exit */
/* Whole commands over a good measurement of a program whose file is changed: its ELF headers, tables, code and DWARF; or its debug file, of which
 * the program then has the right checksum. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "tests/fuzz/changes.h"
#include "tests/fuzz/in_process.h"
#include "tests/fuzz/profile_builder.h"
#include "tests/fuzz/seed_binaries.h"

#define FUZZ_OWN_OPTIONS
#include "tests/fuzz/fuzz.h"

#define BINARY "app"
#define DEBUG  "app.debug"

static unsigned char *measurement[SEED_BINARIES], *changed;
static size_t measurement_size;

/* Addresses are somewhere in the code, locks in the data. */
static void move_key(struct profile_node *node, const struct seed_section *code, const struct seed_section *data)
{
    uint64_t key = node->key, at = code->vaddr + PROFILE_KEY_VADDR(key) % code->size;
    switch (node->kind) {
    case PROFILE_NODE_FRAME:
    case PROFILE_NODE_RUNTIME:
    case PROFILE_NODE_REGION:
        node->key = PROFILE_KEY(1, at);
        break;
    case PROFILE_NODE_WAITERS:
        node->key = PROFILE_PLACE_KEY(key >> 60, PROFILE_KEY(1, at));
        break;
    case PROFILE_NODE_LOCK:
        node->key = PROFILE_LOCK_KEY(PROFILE_LOCK_KEY_KIND(key), 0x550000000000 + data->vaddr + key % data->size);
        break;
    }
}

static unsigned char *make_measurement(const struct seed_binary *binary)
{
    struct profile_builder builder;
    builder_example(&builder, 1, 40, 1);
    builder_text(&builder, "job_identity", IN_PROCESS_JOB);
    const struct seed_section *code = seed_section(binary, ".text"), *data = seed_section(binary, ".data");
    for (uint32_t n = 0; n < builder_header(&builder)->chunk_count; n++) {
        struct profile_chunk *chunk = builder_chunk(&builder, n);
        for (uint32_t unit = 1; chunk->kind == PROFILE_CHUNK_TREE && unit < chunk->used; unit++)
            move_key((struct profile_node *)chunk + unit, code, data);
        if (chunk->kind == PROFILE_CHUNK_MODULE) {
            struct profile_module *module = (struct profile_module *)chunk + 1;
            strcpy(module->path, BINARY);
            module->build_id_bytes = 0;
            module[1].path[0] = '~';
        }
    }
    measurement_size = builder.size;
    return builder.bytes;
}

static void start(void)
{
    size_t most = 0;
    seed_binaries_read();
    for (size_t i = 0; i < SEED_BINARIES; i++) {
        measurement[i] = make_measurement(&seed_binaries[i]);
        most = seed_binaries[i].size > most ? seed_binaries[i].size : most;
    }
    changed = malloc(most);
    in_process_start(measurement[0], measurement_size);
    atexit(in_process_print_counts);
}

/* The program with the sum of what its debug file is now: at the end of .gnu_debuglink. */
static void put_program(const struct seed_binary *binary, size_t debug_bytes)
{
    const struct seed_section *link = seed_section(binary->of_program, ".gnu_debuglink");
    uint32_t sum = (uint32_t)crc32(0, changed, (uInt)debug_bytes);
    unsigned char *program = malloc(binary->of_program->size);
    memcpy(program, binary->of_program->bytes, binary->of_program->size);
    memcpy(program + link->offset + link->size - sizeof sum, &sum, sizeof sum);
    in_process_put(BINARY, program, binary->of_program->size);
    free(program);
}

/* Half of all runs are of commands that ask for all that there is. */
static size_t command_of(uint8_t choice)
{
    static const uint8_t asking[] = {0, 8, 10, 31, 33, 36, 43, 54, 59};
    return choice < 128 ? asking[choice % sizeof asking] : choice - 128u;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    if (!changed)
        start();
    if (count < CHANGES_HEAD)
        return 0;
    const struct seed_binary *binary = &seed_binaries[data[1] % SEED_BINARIES];
    memcpy(changed, binary->bytes, binary->size);
    size_t size = changes_apply(data, count, changed, binary->size);
    if (binary->of_program)
        put_program(binary, size);
    in_process_put(binary->of_program ? DEBUG : BINARY, changed, size);
    in_process_run(command_of(data[0]), measurement[data[1] % SEED_BINARIES], measurement_size);
    return 0;
}

static uint64_t choose_value(uint64_t old)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        7,
                                        8,
                                        0x0f,
                                        0x10,
                                        0x1f,
                                        0x20,
                                        0x3f,
                                        0x40,
                                        0x7f,
                                        0x80,
                                        0x81,
                                        0xff,
                                        0x100,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0xfffffff0,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        0xffffffffffffffff,
                                        0xfffffffffffffff8,
                                        0x7f80808080808080};
    switch (next_random() % 4) {
    case 0:
        return old ^ 1ull << next_random() % 64;
    case 1:
        return old + next_random() % 33 - 16;
    case 2:
        return next_random();
    default:
        return extremes[next_random() % (sizeof extremes / sizeof *extremes)];
    }
}

void changes_choose(struct change *change, size_t file)
{
    uint64_t old = 0;
    if (!changed)
        start();
    const struct seed_binary *binary = &seed_binaries[file % SEED_BINARIES];
    random_state = (uint64_t)random() << 31 ^ (uint64_t)random() ^ 1;
    uint8_t width = next_random() % 2 ? 0 : (uint8_t)(next_random() % 4);
    change->at = (uint32_t)seed_binary_place(binary, next_random(), next_random());
    change->at -= next_random() % 4 ? change->at % (1u << width) : 0;
    if (change->at + (1u << width) <= binary->size)
        memcpy(&old, binary->bytes + change->at, (size_t)1 << width);
    change->value = choose_value(old);
    change->how = next_random() % 64 == 0   ? CHANGE_END
                  : next_random() % 24 == 0 ? (uint8_t)(CHANGE_COPY | next_random() % 3)
                                            : width;
}
