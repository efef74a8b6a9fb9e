/* fuzz_symbols_file COUNT SEED: writes a file of names, reads it back, then reads COUNT mutated ones, most of
 * them with a hash that fits, and writes what was read. It fails by crashing, when an answer comes back
 * different, or when a file with a wrong hash is taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "command/symbols/kept.h"
#include "tests/fuzz/fuzz.h"

#define MODULES    3u
#define HASH_AT    32u /* struct file_header of symbols_file.c */
#define BODY_AT    40u
#define MOST_BYTES 65536u

static const struct profile_header header = {.start_realtime_ns = 1234567890123456789, .pid = 4711};

struct world {
    struct symbols_answers answers;
    struct pool pool;
};

static void make(struct world *world)
{
    *world = (struct world){.answers.module_count = MODULES};
    world->answers.sources = calloc(MODULES, sizeof *world->answers.sources);
}

static void drop(struct world *world)
{
    symbols_answers_free(&world->answers);
    pool_free(&world->pool);
}

static struct symbols_answer *add(struct world *world, enum symbols_question question, uint64_t key)
{
    struct symbols_answer *answer = symbols_answers_add(&world->answers, &world->pool, question, key);
    answer->asked = true;
    return answer;
}

/* Each kind of answer, in two modules; of the third nothing is known. */
static void fill(struct world *world)
{
    static const struct symbol_frame inlined[] = {
        {.name = "f(int)",
         .inlined = true,
         .file = "/s/a.h",
         .line = 3,
         .at_file = "/s/a.h",
         .at_line = 5,
         .host_name = "",
         .task_name = ""},
        {.name = "fib [task fib.c:17]",
         .construct = SYMBOL_PARALLEL,
         .construct_uncertain = true,
         .merge_into_caller = true,
         .host_name = "fib",
         .task_name = "fib [task fib.c:17]",
         .file = "/s/fib.c",
         .line = 17,
         .at_file = "/s/other.c",
         .at_line = -1},
    };
    static const struct tail_frame frames[] = {
        {.key = PROFILE_KEY(1, 0x1200), .at_jump = true},
        {.candidates = "a or b"},
    };
    for (uint32_t module = 1; module < MODULES; module++) {
        world->answers.sources[module - 1] =
            (struct symbols_source){.named = true, .level = SYMBOLS_LEVEL_DEBUG, .size = 1000 + module, .mtime_ns = -5};
        for (uint64_t i = 0; i < 20; i++) {
            uint64_t key = PROFILE_KEY(module, 0x1000 + i * i * 37);
            struct symbol_call *call = pool_alloc(&world->pool, sizeof *call);
            struct symbols_answer *answer = add(world, SYMBOLS_ASK_FRAMES, key);
            answer->count = 1 + i % 2;
            answer->frames = inlined;
            answer = add(world, SYMBOLS_ASK_ENTRY, key);
            answer->count = i % 3 != 0;
            answer->entry = answer->count ? PROFILE_KEY(module, 0x1000) : 0;
            *call = (struct symbol_call){.key = key,
                                         .name = i % 2 ? "malloc" : "",
                                         .tail = i % 2,
                                         .target = i % 2 ? 0 : PROFILE_KEY(module, 0x40),
                                         .launches = i % 3,
                                         .body = i % 5 ? 0 : PROFILE_KEY(module, 0x7fffffff)};
            answer = add(world, SYMBOLS_ASK_CALL, key);
            answer->count = i % 4 != 0;
            answer->call = answer->count ? call : NULL;
            answer = add(world, SYMBOLS_ASK_DATA, key);
            answer->count = i % 2;
            answer->text = i % 2 ? "table+0x10" : NULL;
            struct symbols_gap gap = {
                .caller = key, .goal = PROFILE_KEY(3 - module, 0x3000 + i), .count = i % 3, .frames = frames};
            symbols_answers_add_gap(&world->answers, &gap);
        }
    }
}

static bool wants(void *context, uint32_t module_id, bool same_tool)
{
    return same_tool && module_id != *(uint32_t *)context;
}

static uint32_t others[] = {0, 3, 0, 1};
static const struct symbols_numbers numbers = {others, MODULES};

static const char *decode(struct world *world, const uint8_t *bytes, size_t count, uint32_t unwanted,
                          const struct symbols_numbers *of)
{
    make(world);
    const struct symbols_file file = {bytes, count, &header, of, wants, &unwanted};
    return symbols_file_decode(&world->answers, &world->pool, &file);
}

static bool is_of(uint32_t module, uint64_t key)
{
    return !key || PROFILE_KEY_MODULE(key) == module;
}

static bool are_all_of(uint32_t module, const struct symbols_answers *answers)
{
    bool all = answers->map[SYMBOLS_ASK_CALL].count && answers->map[SYMBOLS_ASK_ENTRY].count;
    for (int question = 0; question < SYMBOLS_QUESTIONS; question++)
        for (size_t i = 0; i < answers->map[question].count; i++) {
            const struct symbols_mapped *entry = &answers->map[question].entries[i];
            const struct symbols_answer *answer = entry->value;
            all = all && is_of(module, entry->key);
            if (question == SYMBOLS_ASK_ENTRY)
                all = all && is_of(module, answer->entry);
            if (question == SYMBOLS_ASK_CALL && answer->count)
                all = all && is_of(module, answer->call->key) && is_of(module, answer->call->target) &&
                      is_of(module, answer->call->body);
        }
    return all;
}

/* What is of a module with another number comes back as of that, twice as of itself; what is of none does not. */
static bool comes_back_renumbered(const uint8_t *bytes, size_t count)
{
    struct world world;
    size_t other_bytes = 0, again_bytes = 0, alone_bytes = 0;
    bool same = !decode(&world, bytes, count, 0, &numbers) && are_all_of(3, &world.answers);
    uint8_t *other = symbols_file_encode(&world.answers, &header, &other_bytes);
    drop(&world);
    same = other && !decode(&world, other, other_bytes, 0, &numbers) && same;
    uint8_t *again = symbols_file_encode(&world.answers, &header, &again_bytes);
    drop(&world);
    same = !decode(&world, bytes, count, 2, NULL) && same;
    uint8_t *alone = symbols_file_encode(&world.answers, &header, &alone_bytes);
    drop(&world);
    same = same && again && alone && alone_bytes == again_bytes && memcmp(alone, again, alone_bytes) == 0;
    free(other);
    free(again);
    free(alone);
    return same;
}

/* What is read is what was written: it is written again, byte for byte; and a module can be left out. */
static bool comes_back(const uint8_t *bytes, size_t count)
{
    struct world world;
    size_t again_bytes = 0;
    bool same = !decode(&world, bytes, count, 0, NULL);
    uint8_t *again = symbols_file_encode(&world.answers, &header, &again_bytes);
    same = same && again && again_bytes == count && memcmp(again, bytes, count) == 0;
    free(again);
    drop(&world);
    same = same && !decode(&world, bytes, count, 2, NULL) && world.answers.map[SYMBOLS_ASK_FRAMES].count == 20 &&
           world.answers.gap_count == 0;
    drop(&world);
    return same;
}

static uint64_t hash_of(const uint8_t *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

/* The new size. */
static size_t mutate(uint8_t *bytes, size_t count)
{
    for (uint64_t times = 1 + next_random() % 8; times; times--) {
        size_t at = next_random() % 8 ? BODY_AT + next_random() % (count - BODY_AT) : next_random() % count;
        uint64_t value = next_random();
        bytes[at] = value % 3 == 0   ? (uint8_t)(bytes[at] ^ (1u << value / 3 % 8))
                    : value % 3 == 1 ? (uint8_t)(value >> 8)
                                     : 0xff;
    }
    return next_random() % 10 ? count : BODY_AT + next_random() % (count - BODY_AT);
}

static bool try_one(const uint8_t *seed, size_t seed_count, uint64_t *taken)
{
    uint8_t *bytes = malloc(seed_count);
    struct world world;
    memcpy(bytes, seed, seed_count);
    size_t count = mutate(bytes, seed_count), again_bytes = 0;
    uint64_t hash = hash_of(bytes + BODY_AT, count - BODY_AT);
    bool fits = next_random() % 8 || memcmp(bytes + HASH_AT, &hash, sizeof hash) == 0;
    if (fits)
        memcpy(bytes + HASH_AT, &hash, sizeof hash);
    bool good = decode(&world, bytes, count, 0, next_random() % 2 ? NULL : &numbers) == NULL;
    if (good) {
        uint8_t *again = symbols_file_encode(&world.answers, &header, &again_bytes);
        ++*taken;
        good = fits && again;
        free(again);
    } else {
        good = true;
    }
    drop(&world);
    free(bytes);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, taken = 0;
    size_t bytes = 0;
    struct world world;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) * 2 + 1 : 1;
    make(&world);
    fill(&world);
    uint8_t *file = symbols_file_encode(&world.answers, &header, &bytes);
    drop(&world);
    if (!file || bytes > MOST_BYTES || !comes_back(file, bytes) || !comes_back_renumbered(file, bytes)) {
        fprintf(stderr, "what was written does not come back\n");
        return 1;
    }
    for (uint64_t round = 0; round < count; round++)
        if (!try_one(file, bytes, &taken)) {
            fprintf(stderr, "round %llu: taken with a wrong hash, or cannot be written again\n",
                    (unsigned long long)round);
            return 1;
        }
    printf("%llu mutated files of names: %llu read, %llu refused\n", (unsigned long long)count,
           (unsigned long long)taken, (unsigned long long)(count - taken));
    free(file);
    return 0;
}
