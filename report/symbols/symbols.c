/* The interface of the symbol lookup: modules by id, results cached by key. */
#include "report/symbols/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/symbols/bodies.h"
#include "report/symbols/calls.h"
#include "report/symbols/demangle.h"
#include "report/symbols/dwarf.h"
#include "report/symbols/frames.h"
#include "report/symbols/perf_map.h"
#include "report/symbols/plt.h"
#include "report/symbols/state.h"

#define PERF_MAP_LATE_S 10 /* behind the measurement's end: some write them as they end */

static const struct symbol_frame unknown_frame = {
    .name = "<unknown function>", .host_name = "", .file = "", .at_file = "", .task_name = ""};

static const char *module_base_name(struct pool *pool, const struct profile_module *record)
{
    const char *path = pool_text(pool, "%.*s", (int)sizeof record->path, record->path);
    const char *slash = strrchr(path, '/');
    if (record->flags & PROFILE_MODULE_VDSO)
        return "[vdso]";
    return slash ? slash + 1 : path;
}

struct symbols *symbols_open(const struct profile_module *modules, size_t module_count)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return NULL;
    symbols->modules = calloc(module_count + 1, sizeof *symbols->modules);
    symbols->answers.sources = calloc(module_count + 1, sizeof *symbols->answers.sources);
    if (!symbols->modules || !symbols->answers.sources) {
        free(symbols->modules);
        free(symbols->answers.sources);
        free(symbols);
        return NULL;
    }
    symbols->module_count = symbols->answers.module_count = module_count;
    symbols->imports = (struct symbols_imports){.modules = symbols->modules, .module_count = module_count};
    for (size_t i = 0; i < module_count; i++) {
        symbols->modules[i].record = &modules[i];
        symbols->modules[i].id = (uint32_t)i + 1;
        symbols->modules[i].pool = &symbols->pool;
        symbols->modules[i].imports = &symbols->imports;
        symbols->modules[i].base_name = module_base_name(&symbols->pool, &modules[i]);
    }
    return symbols;
}

void symbols_still_runs(struct symbols *symbols, pid_t pid)
{
    for (size_t i = 0; i < symbols->module_count; i++)
        symbols->modules[i].running = pid;
}

void symbols_mounts(struct symbols *symbols, const char *mounts)
{
    char own[64];
    ssize_t bytes = readlink("/proc/self/ns/mnt", own, sizeof own - 1);
    own[bytes > 0 ? bytes : 0] = '\0';
    symbols->elsewhere = mounts && bytes > 0 && strcmp(own, mounts) != 0;
}

void symbols_beside(struct symbols *symbols, const char *measurement)
{
    const char *kept = pool_text(&symbols->pool, "%s", measurement);
    for (size_t i = 0; i < symbols->module_count; i++)
        symbols->modules[i].measurement = kept;
}

void symbols_close(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->module_count; i++) {
        symbols_dwarf_close(&symbols->modules[i]);
        symbols_module_close(&symbols->modules[i]);
    }
    symbols_answers_free(&symbols->answers);
    symbols_map_free(&symbols->imports.names);
    perf_map_free(symbols->compiled);
    pool_free(&symbols->pool);
    free(symbols->modules);
    free(symbols->file);
    free(symbols);
}

struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id)
{
    return module_id == 0 || module_id > symbols->module_count ? NULL : &symbols->modules[module_id - 1];
}

/* What a report asks is worth keeping, if the module's file knew it; what a search asks on its way is not. */
static void note_asked(struct symbols *symbols, uint64_t key, struct symbols_answer *answer)
{
    struct symbols_module *module = symbols_module_of(symbols, PROFILE_KEY_MODULE(key));
    if (symbols->searching || answer->asked)
        return;
    answer->asked = !module || symbols_module_open(module); /* of code that is no file's what is known is known now alone */
    symbols->news |= answer->asked;
    if (module)
        module->unnamed |= !answer->asked;
}

/* Both compilers name the variable behind a critical section after the section. */
static const char *critical_name(struct pool *pool, const char *symbol)
{
    static const char prefix[] = ".gomp_critical_user_";
    if (strcmp(symbol, "__kmp_unnamed_critical_addr") == 0)
        return "critical (unnamed)";
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return NULL;
    const char *name = symbol + sizeof prefix - 1;
    size_t bytes = strlen(name);
    if (bytes >= 4 && strcmp(name + bytes - 4, ".var") == 0)
        bytes -= 4;
    return bytes ? pool_text(pool, "critical %.*s", (int)bytes, name) : "critical (unnamed)";
}

static const char *data_name(struct symbols *symbols, struct symbols_module *module, uint64_t vaddr)
{
    const struct symbols_entry *entry = symbols_module_object(module, vaddr);
    if (!entry)
        return NULL;
    const char *critical = critical_name(&symbols->pool, entry->name);
    if (critical)
        return critical;
    const struct symbols_name *name = symbols_frames_symbol(module, entry->name);
    const char *display = name ? name->display : entry->name;
    unsigned long long offset = vaddr - entry->start;
    return offset ? pool_text(&symbols->pool, "%s+0x%llx", display, offset) : display;
}

/* Code that is no file's. */
static const struct symbol_frame *compiled_frame(struct symbols *symbols, uint64_t address)
{
    const char *name = perf_map_name(symbols->compiled, address);
    struct symbol_frame *frame = name ? pool_alloc(&symbols->pool, sizeof *frame) : NULL;
    if (!frame)
        return NULL;
    *frame = unknown_frame;
    frame->name = pool_text(&symbols->pool, "%s", name);
    return frame;
}

/* A function in Python: its record has all that is known of it. */
static const struct symbol_frame *python_frame(struct pool *pool, const struct profile_module *record, uint64_t line)
{
    const char *end = record->path + strnlen(record->path, sizeof record->path - 2), *function = end + 1;
    struct symbol_frame *frame = pool_alloc(pool, sizeof *frame);
    if (!frame)
        return NULL;
    const char *file = record->vaddr_low ? pool_text(pool, "%.*s", (int)sizeof record->path, record->path) : ""; /* of R's it is not known */
    int bytes = (int)(record->path + sizeof record->path - function);
    *frame = (struct symbol_frame){.name = *function ? pool_text(pool, "%.*s", bytes, function) : "<unknown function>",
                                   .host_name = "",
                                   .file = file,
                                   .line = record->vaddr_low <= INT_MAX ? (int)record->vaddr_low : 0,
                                   .at_file = file,
                                   .at_line = line <= INT_MAX ? (int)line : 0,
                                   .task_name = ""};
    return frame;
}

static void find_out(struct symbols *symbols, enum symbols_question question, uint64_t key,
                     struct symbols_answer *answer)
{
    struct symbols_module *module = symbols_module_of(symbols, PROFILE_KEY_MODULE(key));
    struct symbol_frame *frames = NULL;
    uint64_t vaddr = PROFILE_KEY_VADDR(key), entry;
    if (!module) {
        answer->frames = question == SYMBOLS_ASK_FRAMES ? compiled_frame(symbols, vaddr) : NULL;
        answer->count = answer->frames != NULL;
        return;
    }
    switch (question) {
    case SYMBOLS_ASK_FRAMES:
        if (module->record->flags & PROFILE_MODULE_PYTHON) {
            answer->frames = python_frame(&symbols->pool, module->record, vaddr);
            answer->count = answer->frames != NULL;
            break;
        }
        answer->count = symbols_frames_build(module, vaddr, &frames);
        answer->frames = frames;
        break;
    case SYMBOLS_ASK_ENTRY:
        entry = symbols_calls_entry(module, vaddr);
        answer->count = entry != 0;
        answer->entry = entry ? PROFILE_KEY(module->id, entry) : 0;
        break;
    case SYMBOLS_ASK_CALL:
        answer->call = symbols_calls_at(module, vaddr);
        answer->count = answer->call != NULL;
        break;
    default:
        answer->text = data_name(symbols, module, vaddr);
        answer->count = answer->text != NULL;
    }
}

/* NULL: not known, or no memory. */
static const struct symbols_answer *ask(struct symbols *symbols, enum symbols_question question, uint64_t key)
{
    struct symbols_answer *answer = symbols_map_find(&symbols->answers.map[question], key), found = {0};
    bool compiled = question == SYMBOLS_ASK_FRAMES && PROFILE_KEY_MODULE(key) == 0;
    if (!answer && (compiled || symbols_module_of(symbols, PROFILE_KEY_MODULE(key)))) {
        find_out(symbols, question, key, &found);
        if (found.count || question != SYMBOLS_ASK_FRAMES)
            answer = symbols_answers_add(&symbols->answers, &symbols->pool, question, key);
        if (answer)
            *answer = found;
    }
    if (answer)
        note_asked(symbols, key, answer);
    return answer;
}

size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames)
{
    const struct symbols_answer *answer = ask(symbols, SYMBOLS_ASK_FRAMES, key);
    *frames = answer ? answer->frames : &unknown_frame;
    return answer ? answer->count : 1;
}

const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr)
{
    const struct symbols_answer *answer = ask(symbols, SYMBOLS_ASK_DATA, PROFILE_KEY(module_id, vaddr));
    return answer ? answer->text : NULL;
}

uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key)
{
    const struct symbols_answer *answer = ask(symbols, SYMBOLS_ASK_ENTRY, key);
    return answer ? answer->entry : 0;
}

const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key)
{
    const struct symbols_answer *answer = ask(symbols, SYMBOLS_ASK_CALL, key);
    return answer ? answer->call : NULL;
}

const char *symbols_module_name(struct symbols *symbols, uint32_t module_id)
{
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    return module ? module->base_name : "";
}

const char *symbols_code_module(struct symbols *symbols, uint64_t key)
{
    bool compiled = PROFILE_KEY_MODULE(key) == 0 && ask(symbols, SYMBOLS_ASK_FRAMES, key);
    return compiled ? "[perf map]" : symbols_module_name(symbols, PROFILE_KEY_MODULE(key));
}

void symbols_read_perf_map(struct symbols *symbols, const struct profile_header *header, const char *measurement)
{
    const int64_t s = 1000000000;
    char path[64];
    struct stat status;
    if (header->merged || symbols->compiled || stat(measurement, &status) != 0)
        return;
    int64_t from_ns = header->start_realtime_ns, took_ns = (int64_t)(header->end_ns - header->start_ns);
    snprintf(path, sizeof path, "/tmp/perf-%lld.map", (long long)header->pid);
    symbols->compiled = perf_map_read(path, status.st_uid, from_ns,
                                      header->finished ? from_ns / s + took_ns / s + PERF_MAP_LATE_S : INT64_MAX);
}

bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count)
{
    struct symbols_module *module = symbols_module_of(symbols, PROFILE_KEY_MODULE(caller));
    uint32_t *slot = pair_map_slot(&symbols->answers.gap_map, caller, goal);
    *frames = NULL;
    *count = 0;
    if (slot && *slot != PAIR_MAP_NEW && *slot < symbols->answers.gap_count) {
        *frames = symbols->answers.gaps[*slot].frames;
        *count = symbols->answers.gaps[*slot].count;
        return true;
    }
    symbols->searching = module && symbols_module_open(module);
    return !symbols->searching;
}

const struct tail_frame *symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                                           const struct tail_frame *frames, size_t count)
{
    struct tail_frame *copy = pool_alloc(&symbols->pool, (count + 1) * sizeof *copy);
    symbols->searching = false;
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = frames[i];
        if (copy[i].candidates)
            copy[i].candidates = pool_text(&symbols->pool, "%s", copy[i].candidates);
    }
    struct symbols_gap gap = {.caller = caller, .goal = goal, .count = count, .frames = copy};
    if (copy && symbols_answers_add_gap(&symbols->answers, &gap))
        symbols->news = true;
    return copy;
}

size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls)
{
    struct symbols_module *module = symbols_module_of(symbols, PROFILE_KEY_MODULE(entry));
    const struct symbols_call_list *list = module ? symbols_calls_of(module, PROFILE_KEY_VADDR(entry)) : NULL;
    *calls = list ? list->list : NULL;
    return list ? list->count : 0;
}

uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name)
{
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    uint64_t entry = module ? symbols_calls_named(module, name) : 0;
    return entry ? PROFILE_KEY(module_id, entry) : 0;
}

size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys)
{
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    *keys = NULL;
    return module ? symbols_bodies_all(module, keys) : 0;
}
