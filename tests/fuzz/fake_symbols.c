#include "tests/fuzz/fake_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "command/profile/pair_map.h"

#define MOST_SET    64
#define MOST_FRAMES 3

struct fake_entry {
    struct symbol_frame frame[MOST_FRAMES];
    char name[MOST_FRAMES][40];
    char file[24];
    size_t count;
};

struct symbols {
    struct pair_map map;
    struct fake_entry **entry;
    size_t count, capacity;
};

static struct {
    uint64_t key;
    struct symbol_frame frames[MOST_FRAMES];
    size_t count;
} set[MOST_SET];
static size_t set_count, function_count;

struct symbol_frame *fake_function(uint64_t key, const char *name, const char *file, int line, int at_line)
{
    size_t i = 0;
    while (i < set_count && set[i].key != key)
        i++;
    if (i == MOST_SET || (i < set_count && set[i].count == MOST_FRAMES))
        abort();
    if (i == set_count) {
        set[set_count].key = key;
        set[set_count++].count = 0;
    } else
        set[i].frames[set[i].count - 1].inlined = true;
    struct symbol_frame *frame = &set[i].frames[set[i].count++];
    *frame = (struct symbol_frame){.name = name,
                                   .host_name = "",
                                   .file = file,
                                   .line = line,
                                   .at_file = file,
                                   .at_line = at_line,
                                   .task_name = ""};
    return frame;
}

void fake_symbols_clear(void)
{
    set_count = 0;
    function_count = 0;
}

struct symbols *symbols_open(const struct profile_module *modules, size_t module_count)
{
    (void)modules;
    (void)module_count;
    return calloc(1, sizeof(struct symbols));
}

void symbols_close(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        free(symbols->entry[i]);
    free(symbols->entry);
    pair_map_free(&symbols->map);
    free(symbols);
}

/* Function number vaddr / 256, line vaddr % 256; some functions are constructs, some have inlined ones, some
 * have no debug information, some are of the kind that folds. */
static void invent(struct fake_entry *entry, uint64_t key)
{
    uint64_t vaddr = PROFILE_KEY_VADDR(key), function = vaddr >> 8;
    entry->count = 1 + (function % 5 == 1 ? 2 : 0);
    snprintf(entry->file, sizeof entry->file, "/src/f%u.c", (unsigned)(function % 97));
    for (size_t i = 0; i < entry->count; i++) {
        bool construct = i == entry->count - 1 && function % 7 == 3, plain = function % 11 == 4;
        snprintf(entry->name[i], sizeof entry->name[i], construct ? "f%llx [parallel f.c:%u]" : "f%llx;,\"%u",
                 (unsigned long long)(function - function % 3 + i), (unsigned)(function % 50));
        entry->frame[i] = (struct symbol_frame){.construct = construct ? SYMBOL_PARALLEL : SYMBOL_PROCEDURE,
                                                .inlined = i + 1 < entry->count,
                                                .name = entry->name[i],
                                                .host_name = "",
                                                .file = plain ? "" : entry->file,
                                                .line = plain ? 0 : 10 + (int)i,
                                                .at_file = plain ? "" : entry->file,
                                                .at_line = plain ? 0 : (int)(vaddr % 256),
                                                .merge_into_caller = function % 13 == 2,
                                                .task_name = ""};
    }
}

size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames)
{
    for (size_t i = 0; i < set_count; i++)
        if (set[i].key == key) {
            *frames = set[i].frames;
            return set[i].count;
        }
    uint32_t *slot = pair_map_slot(&symbols->map, key, 0);
    if (*slot == PAIR_MAP_NEW) {
        if (symbols->count == symbols->capacity) {
            symbols->capacity = symbols->capacity ? 2 * symbols->capacity : 64;
            symbols->entry = realloc(symbols->entry, symbols->capacity * sizeof *symbols->entry);
        }
        *slot = (uint32_t)symbols->count;
        symbols->entry[symbols->count] = calloc(1, sizeof **symbols->entry);
        invent(symbols->entry[symbols->count++], key);
    }
    *frames = symbols->entry[*slot]->frame;
    return symbols->entry[*slot]->count;
}

const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr)
{
    (void)symbols;
    return module_id == 1 && vaddr == 0x4040 ? "the_lock" : NULL;
}

const char *symbols_code_module(struct symbols *symbols, uint64_t key)
{
    return symbols_module_name(symbols, PROFILE_KEY_MODULE(key));
}

const char *symbols_module_name(struct symbols *symbols, uint32_t module_id)
{
    (void)symbols;
    return module_id == 0 ? "" : module_id == 1 ? "app" : module_id == 2 ? "libomp.so.5" : "lib\xff.so";
}

static struct {
    uint64_t entry, last;
    const struct symbol_call *calls;
    size_t count;
} functions[MOST_SET];

void fake_symbols_set_calls(uint64_t entry, uint64_t last, const struct symbol_call *calls, size_t count)
{
    if (function_count == MOST_SET)
        abort();
    functions[function_count].entry = entry;
    functions[function_count].last = last;
    functions[function_count].calls = calls;
    functions[function_count++].count = count;
}

uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key)
{
    (void)symbols;
    for (size_t i = 0; i < function_count; i++)
        if (key >= functions[i].entry && key <= functions[i].last)
            return functions[i].entry;
    return 0;
}

size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls)
{
    (void)symbols;
    *calls = NULL;
    for (size_t i = 0; i < function_count; i++)
        if (functions[i].entry == entry) {
            *calls = functions[i].calls;
            return functions[i].count;
        }
    return 0;
}

const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key)
{
    const struct symbol_call *calls;
    size_t count = symbols_calls(symbols, symbols_function_entry(symbols, key), &calls);
    for (size_t i = 0; i < count; i++)
        if (calls[i].key == key)
            return &calls[i];
    return NULL;
}

uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name)
{
    for (size_t i = 0; i < set_count; i++)
        if (PROFILE_KEY_MODULE(set[i].key) == module_id && strcmp(set[i].frames[set[i].count - 1].name, name) == 0)
            return symbols_function_entry(symbols, set[i].key);
    return 0;
}

size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys)
{
    (void)symbols;
    (void)module_id;
    *keys = NULL;
    return 0;
}

bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count)
{
    (void)symbols;
    (void)caller;
    (void)goal;
    *frames = NULL;
    *count = 0;
    return false;
}

const struct tail_frame *symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                                           const struct tail_frame *frames, size_t count)
{
    static struct tail_frame kept[16];
    static char text[1024];
    (void)symbols;
    (void)caller;
    (void)goal;
    for (size_t i = 0; i < count; i++) {
        kept[i] = frames[i];
        if (frames[i].candidates)
            kept[i].candidates = strcpy(text, frames[i].candidates);
    }
    return kept;
}
