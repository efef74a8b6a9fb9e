/* The interface of the symbol lookup: modules by id, results cached by key. */
#include "report/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "report/symbols_internal.h"

struct cached {
    size_t count;
    const struct symbol_frame *frames;
};

struct symbols {
    struct symbols_arena arena;
    struct symbols_module *modules;
    size_t module_count;
    struct symbols_map cache; /* key -> struct cached */
};

static const struct symbol_frame unknown_frame = {
    .name = "<unknown function>", .host_name = "", .file = "", .at_file = "", .task_name = ""};

static const char *module_base_name(struct symbols_arena *arena, const struct profile_module *record)
{
    const char *path = symbols_arena_text(arena, "%.*s", (int)sizeof record->path, record->path);
    const char *slash = strrchr(path, '/');
    if (record->flags & PROFILE_MODULE_VDSO) {
        return "[vdso]";
    }
    return slash ? slash + 1 : path;
}

struct symbols *symbols_open(const struct profile_module *modules, size_t module_count)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols) {
        return NULL;
    }
    symbols->modules = calloc(module_count ? module_count : 1, sizeof *symbols->modules);
    if (!symbols->modules) {
        free(symbols);
        return NULL;
    }
    symbols->module_count = module_count;
    for (size_t i = 0; i < module_count; i++) {
        symbols->modules[i].record = &modules[i];
        symbols->modules[i].id = (uint32_t)i + 1;
        symbols->modules[i].arena = &symbols->arena;
        symbols->modules[i].base_name = module_base_name(&symbols->arena, &modules[i]);
    }
    return symbols;
}

void symbols_close(struct symbols *symbols)
{
    if (!symbols) {
        return;
    }
    for (size_t i = 0; i < symbols->module_count; i++) {
        symbols_module_close(&symbols->modules[i]);
    }
    symbols_map_free(&symbols->cache);
    symbols_arena_free(&symbols->arena);
    free(symbols->modules);
    free(symbols);
}

static struct symbols_module *module_of(struct symbols *symbols, uint32_t module_id)
{
    return module_id == 0 || module_id > symbols->module_count ? NULL : &symbols->modules[module_id - 1];
}

size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames)
{
    struct cached *cached = symbols_map_find(&symbols->cache, key);
    struct symbols_module *module = module_of(symbols, PROFILE_KEY_MODULE(key));
    struct symbol_frame *built = NULL;
    if (!cached && module) {
        size_t count = symbols_frames_build(module, PROFILE_KEY_VADDR(key), &built);
        cached = count ? symbols_arena_alloc(&symbols->arena, sizeof *cached) : NULL;
        if (cached) {
            *cached = (struct cached){.count = count, .frames = built};
            symbols_map_put(&symbols->cache, key, cached);
        }
    }
    *frames = cached ? cached->frames : &unknown_frame;
    return cached ? cached->count : 1;
}

/* Both compilers name the variable behind a critical section after the section. */
static const char *critical_name(struct symbols_arena *arena, const char *symbol)
{
    static const char prefix[] = ".gomp_critical_user_";
    if (strcmp(symbol, "__kmp_unnamed_critical_addr") == 0) {
        return "critical (unnamed)";
    }
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0) {
        return NULL;
    }
    const char *name = symbol + sizeof prefix - 1;
    size_t bytes = strlen(name);
    if (bytes >= 4 && strcmp(name + bytes - 4, ".var") == 0) {
        bytes -= 4;
    }
    return bytes ? symbols_arena_text(arena, "critical %.*s", (int)bytes, name) : "critical (unnamed)";
}

const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr)
{
    struct symbols_module *module = module_of(symbols, module_id);
    const struct symbols_entry *entry = module ? symbols_module_object(module, vaddr) : NULL;
    if (!entry) {
        return NULL;
    }
    const char *critical = critical_name(&symbols->arena, entry->name);
    if (critical) {
        return critical;
    }
    const struct symbols_name *name = symbols_frames_symbol(module, entry->name);
    const char *display = name ? name->display : entry->name;
    unsigned long long offset = vaddr - entry->start;
    return offset ? symbols_arena_text(&symbols->arena, "%s+0x%llx", display, offset) : display;
}

const char *symbols_module_name(struct symbols *symbols, uint32_t module_id)
{
    struct symbols_module *module = module_of(symbols, module_id);
    return module ? module->base_name : "";
}

uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key)
{
    struct symbols_module *module = module_of(symbols, PROFILE_KEY_MODULE(key));
    uint64_t entry = module ? symbols_calls_entry(module, PROFILE_KEY_VADDR(key)) : 0;
    return entry ? PROFILE_KEY(module->id, entry) : 0;
}

const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key)
{
    struct symbols_module *module = module_of(symbols, PROFILE_KEY_MODULE(key));
    return module ? symbols_calls_at(module, PROFILE_KEY_VADDR(key)) : NULL;
}

size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls)
{
    struct symbols_module *module = module_of(symbols, PROFILE_KEY_MODULE(entry));
    const struct symbols_call_list *list = module ? symbols_calls_of(module, PROFILE_KEY_VADDR(entry)) : NULL;
    *calls = list ? list->list : NULL;
    return list ? list->count : 0;
}

uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name)
{
    struct symbols_module *module = module_of(symbols, module_id);
    uint64_t entry = module ? symbols_calls_named(module, name) : 0;
    return entry ? PROFILE_KEY(module_id, entry) : 0;
}

size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys)
{
    struct symbols_module *module = module_of(symbols, module_id);
    *keys = NULL;
    return module ? symbols_calls_bodies(module, keys) : 0;
}
