/* Implements the symbol lookup: finds modules by their numbers, and answers questions about keys. Answers are
 * cached. */
#include "command/symbols/symbols.h"

#include <dwarf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "command/symbols/answers.h"
#include "command/symbols/atomic.h"
#include "command/symbols/bodies.h"
#include "command/symbols/calls.h"
#include "command/symbols/construct.h"
#include "command/symbols/demangle.h"
#include "command/symbols/dwarf.h"
#include "command/symbols/inline.h"
#include "command/symbols/lines.h"
#include "command/symbols/module.h"
#include "command/symbols/perf_map.h"
#include "command/symbols/plt.h"
#include "command/symbols/state.h"
#include "command/symbols/waiting_loop.h"
#include "command/symbols/symbol.h"
#include "command/symbols/unwind.h"

/* ---- from an address to frames ---- */

/* Builds the frames of an address. Names come from DWARF, or, without DWARF, from the symbol table. Without a
 * symbol, the name is module+0xoffset. The two functions that clang makes of one construct become one frame. */

/* Returns the name in DWARF or the name of the symbol, whichever is better. The symbol's name is better if
 * DWARF has no name (clang -gline-tables-only) or no linkage name (static C++ functions by GCC). The place of
 * the definition always comes from DWARF. */
static const struct symbols_name *symbols_frame_better_name(struct symbols_module *module,
                                                            const struct symbols_raw *raw)
{
    const struct symbols_name *known = raw->name;
    if (known->linkage)
        return known;
    const struct symbols_entry *entry = symbols_module_function(module, raw->low);
    if (!entry || entry->start != raw->low || (*known->raw && strncmp(entry->name, "_Z", 2) != 0))
        return known;
    uint64_t key = (uintptr_t)known;
    struct symbols_name *better = symbols_map_find(&module->names, key);
    const struct symbols_name *symbol = symbols_frames_symbol(module, entry->name);
    if (better || !symbol || !(better = pool_alloc(module->pool, sizeof *better)))
        return better ? better : known;
    *better = *symbol;
    better->file = known->file;
    better->line = known->line;
    symbols_map_put(&module->names, key, better);
    return better;
}

static size_t symbols_frames_from_symbol(struct symbols_module *module, uint64_t vaddr, struct symbols_unit *unit,
                                         struct symbols_raw *raw)
{
    const struct symbols_entry *entry = symbols_module_function(module, vaddr);
    const struct symbols_name *name = entry ? symbols_frames_symbol(module, entry->name) : NULL;
    *raw = (struct symbols_raw){.at = {.file = ""}, .low = entry ? entry->start : vaddr};
    if (unit)
        raw->at = symbols_lines_at(unit, vaddr, raw->low);
    raw->name = name;
    return name != NULL;
}

/* Names a construct "[parallel reg+0x1234]". If the function that starts the construct has a symbol, the name
 * becomes "solve [parallel libreg.so+0x1234]". */
static void symbols_frame_name_construct(struct symbols_module *module, const struct symbols_body *body,
                                         struct symbol_frame *frame)
{
    const struct symbols_entry *entry = symbols_module_function(module, body->host);
    const struct symbols_name *host = entry ? symbols_frames_symbol(module, entry->name) : NULL;
    frame->construct = body->task ? SYMBOL_TASK : SYMBOL_PARALLEL;
    frame->host_name = host ? host->display : "";
    frame->name = pool_text(module->pool, "%s%s[%s %s]", frame->host_name, *frame->host_name ? " " : "",
                            body->task ? "task" : "parallel", frame->name);
}

/* Names code without a symbol by the offset of its function, so that each function becomes one row. If the
 * unwind tables do not show where the function starts, uses the offset of the address itself. */
static void symbols_frame_name_offset(struct symbols_module *module, uint64_t vaddr, struct symbol_frame *frame)
{
    uint64_t low, high;
    bool known = symbols_unwind_extent(module, vaddr, &low, &high);
    const struct symbols_body *body = known ? symbols_bodies_at(module, low) : NULL;
    frame->name = *module->base_name ? pool_text(module->pool, "%s+0x%llx", module->base_name,
                                                 (unsigned long long)(known ? low : vaddr))
                                     : "<unknown function>";
    if (body)
        symbols_frame_name_construct(module, body, frame);
}

/* Returns roughly where a function is defined, if debug information has only line tables: at the first line
 * of its code, or at the first line of the inlined call with which the code starts. */
static struct symbols_position symbols_frame_near_definition(struct symbols_module *module, struct symbols_unit *unit,
                                                             uint64_t low)
{
    struct symbols_raw raws[SYMBOLS_MAX_FRAMES];
    struct symbols_function *function;
    struct symbols_unit *same;
    size_t count = symbols_inline_chain(module, low, raws, &same, &function);
    return count > 1 ? raws[count - 1].at : symbols_lines_entry(unit, low);
}

static void symbols_frame_fill(struct symbols_module *module, struct symbols_unit *unit,
                               struct symbols_function *function, const struct symbols_raw *raw,
                               struct symbol_frame *frame)
{
    struct symbols_outlined outlined = symbols_construct_parse(raw->name->raw);
    *frame = (struct symbol_frame){.name = raw->name->display, .host_name = "", .task_name = ""};
    if (!*frame->name)
        frame->name = "<unknown function>";
    frame->file = raw->name->file;
    frame->line = raw->name->line;
    if (unit && !frame->line && !raw->inlined) {
        struct symbols_position entry = symbols_frame_near_definition(module, unit, raw->low);
        frame->file = entry.file;
        frame->line = entry.line;
    }
    if (outlined.kind != SYMBOL_PROCEDURE) {
        symbols_construct_name(module, unit, raw->inlined ? NULL : function, raw, frame);
        frame->merge_into_caller = outlined.inner && !raw->inlined;
    }
    frame->merge_into_caller |= symbols_dwarf_is_master(raw->name);
    frame->inlined = raw->inlined;
    frame->at_file = raw->at.file;
    frame->at_line = raw->at.line;
}

/* Returns the full path of a source file. GCC stores a path as it was given on the command line, relative to
 * its working directory. */
static const char *symbols_source_full_path(struct symbols_module *module, struct symbols_unit *unit, const char *file)
{
    if (!unit || !*file || *file == '/' || *file == '<')
        return file;
    const char *known = symbols_map_find(&module->paths, (uintptr_t)file);
    if (known)
        return known;
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr_integrate(&unit->die, DW_AT_comp_dir, &attribute));
    const char *rest = strncmp(file, "./", 2) == 0 ? file + 2 : file;
    const char *path = folder && *folder == '/' ? pool_text(module->pool, "%s/%s", folder, rest) : file;
    symbols_map_put(&module->paths, (uintptr_t)file, (void *)(uintptr_t)path);
    return path;
}

/* Returns whether the inner function of a construct is inlined into the outer one. The two then become one
 * frame, with the position of the inner function. */
static bool symbols_construct_merges_into(const struct symbols_raw *inner, const struct symbols_raw *outer)
{
    struct symbols_outlined a = symbols_construct_parse(inner->name->raw);
    struct symbols_outlined b = symbols_construct_parse(outer->name->raw);
    if (!inner->inlined || a.kind == SYMBOL_PROCEDURE || b.kind == SYMBOL_PROCEDURE || b.inner)
        return false;
    return a.inner || (a.task_part && b.kind == SYMBOL_TASK);
}

/* Builds the frames of an address in the pool. Returns their number, which is at least 1, or 0 if memory runs
 * out. */
static size_t symbols_frames_build(struct symbols_module *module, uint64_t vaddr, struct symbol_frame **frames)
{
    struct symbols_raw raws[SYMBOLS_MAX_FRAMES];
    struct symbols_unit *unit;
    struct symbols_function *function;
    size_t count = symbols_inline_chain(module, vaddr, raws, &unit, &function);
    if (count)
        raws[count - 1].name = symbols_frame_better_name(module, &raws[count - 1]);
    if (!count || !*raws[count - 1].name->raw) {
        count = symbols_frames_from_symbol(module, vaddr, unit, raws);
        function = NULL;
    }
    *frames = pool_alloc(module->pool, (count ? count : 1) * sizeof **frames);
    if (!*frames)
        return 0;
    if (!count) {
        **frames = (struct symbol_frame){.host_name = "", .file = "", .task_name = ""};
        (*frames)->at_file = symbols_source_full_path(module, unit, raws[0].at.file);
        (*frames)->at_line = raws[0].at.line;
        symbols_frame_name_offset(module, vaddr, *frames);
        return 1;
    }
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && symbols_construct_merges_into(&raws[i], &raws[i + 1])) {
            raws[i + 1].at = raws[i].at;
        } else {
            struct symbol_frame *frame = &(*frames)[made++];
            symbols_frame_fill(module, unit, function, &raws[i], frame);
            frame->file = symbols_source_full_path(module, unit, frame->file);
            frame->at_file = symbols_source_full_path(module, unit, frame->at_file);
        }
    }
    return made;
}

/* ---- modules and answers ---- */

/* number of seconds after the end of the measurement in which a perf map is still accepted, because some
 * compilers write it when they exit */
#define PERF_MAP_LATE_S 10

static const struct symbol_frame unknown_frame = {
    .name = "<unknown function>", .host_name = "", .file = "", .at_file = "", .task_name = ""};

/* Returns the name by which reports call a module. The library before libgomp has libgomp's functions, and users
 * know them as libgomp's. */
static const char *symbols_module_base_name(struct pool *pool, const struct profile_module *record)
{
    static const char before_libgomp[] = "libblame-gomp";
    const char *path = pool_text(pool, "%.*s", (int)sizeof record->path, record->path);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (record->flags & PROFILE_MODULE_VDSO)
        return "[vdso]";
    return strncmp(name, before_libgomp, sizeof before_libgomp - 1) == 0 ? "libgomp.so.1" : name;
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
        symbols->modules[i].base_name = symbols_module_base_name(&symbols->pool, &modules[i]);
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
    symbols_perf_map_free(symbols->compiled);
    pool_free(&symbols->pool);
    free(symbols->modules);
    free(symbols->file);
    free(symbols);
}

struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id)
{
    return module_id == 0 || module_id > symbols->module_count ? NULL : &symbols->modules[module_id - 1];
}

/* Marks an answer to be stored if a report asked the question and the module's file is available. Answers are
 * not stored if a search for tail calls asked. */
static void symbols_note_answer_asked(struct symbols *symbols, uint64_t key, struct symbols_answer *answer)
{
    struct symbols_module *module = symbols_module_of(symbols, PROFILE_KEY_MODULE(key));
    if (symbols->searching || answer->asked)
        return;
    /* code that belongs to no file has a name only as long as the perf map exists */
    answer->asked = !module || symbols_module_open(module);
    symbols->news |= answer->asked;
    if (module)
        module->unnamed |= !answer->asked;
}

/* Returns the name of a critical section, given the symbol of its lock variable, or NULL if the symbol is
 * another one. Compilers name the lock variable after the section. */
static const char *symbols_critical_section_name(struct pool *pool, const char *symbol)
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

static const char *symbols_data_object_name(struct symbols *symbols, struct symbols_module *module, uint64_t vaddr)
{
    const struct symbols_entry *entry = symbols_module_object(module, vaddr);
    if (!entry)
        return NULL;
    const char *critical = symbols_critical_section_name(&symbols->pool, entry->name);
    if (critical)
        return critical;
    const struct symbols_name *name = symbols_frames_symbol(module, entry->name);
    const char *display = name ? name->display : entry->name;
    unsigned long long offset = vaddr - entry->start;
    return offset ? pool_text(&symbols->pool, "%s+0x%llx", display, offset) : display;
}

/* Returns the frame of code that belongs to no file, from the perf map, or NULL if the code has no name. */
static const struct symbol_frame *symbols_compiled_frame(struct symbols *symbols, uint64_t address)
{
    const char *name = symbols_perf_map_name(symbols->compiled, address);
    struct symbol_frame *frame = name ? pool_alloc(&symbols->pool, sizeof *frame) : NULL;
    if (!frame)
        return NULL;
    *frame = unknown_frame;
    frame->name = pool_text(&symbols->pool, "%s", name);
    return frame;
}

/* Returns the frame of a Python or R function. Its name, file and line are in its module record. */
static const struct symbol_frame *symbols_python_frame(struct pool *pool, const struct profile_module *record,
                                                       uint64_t line)
{
    const char *end = record->path + strnlen(record->path, sizeof record->path - 2), *function = end + 1;
    struct symbol_frame *frame = pool_alloc(pool, sizeof *frame);
    if (!frame)
        return NULL;
    const char *file =
        /* R functions have no file */
        record->vaddr_low ? pool_text(pool, "%.*s", (int)sizeof record->path, record->path) : "";
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

static void symbols_find_answer(struct symbols *symbols, enum symbols_question question, uint64_t key,
                                struct symbols_answer *answer)
{
    struct symbols_module *module = symbols_module_of(symbols, PROFILE_KEY_MODULE(key));
    struct symbol_frame *frames = NULL;
    uint64_t vaddr = PROFILE_KEY_VADDR(key), entry;
    if (!module) {
        answer->frames = question == SYMBOLS_ASK_FRAMES ? symbols_compiled_frame(symbols, vaddr) : NULL;
        answer->count = answer->frames != NULL;
        return;
    }
    switch (question) {
    case SYMBOLS_ASK_FRAMES:
        if (module->record->flags & PROFILE_MODULE_PYTHON) {
            answer->frames = symbols_python_frame(&symbols->pool, module->record, vaddr);
            answer->count = answer->frames != NULL;
            break;
        }
        answer->count = symbols_frames_build(module, vaddr, &frames);
        if (answer->count && !(module->record->flags & PROFILE_MODULE_RUNTIME)) {
            frames[0].waits = symbols_waits_at(module, vaddr);
            frames[0].updates = !frames[0].waits && symbols_updates_at(module, vaddr);
            frames[0].combines =
                frames[answer->count - 1].construct != SYMBOL_PROCEDURE && symbols_combines_at(module, vaddr);
        }
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
        answer->text = symbols_data_object_name(symbols, module, vaddr);
        answer->count = answer->text != NULL;
    }
}

/* Returns the answer to a question, or NULL if the answer is unknown or memory runs out. */
static const struct symbols_answer *symbols_ask(struct symbols *symbols, enum symbols_question question, uint64_t key)
{
    struct symbols_answer *answer = symbols_map_find(&symbols->answers.map[question], key), found = {0};
    bool compiled = question == SYMBOLS_ASK_FRAMES && PROFILE_KEY_MODULE(key) == 0;
    if (!answer && (compiled || symbols_module_of(symbols, PROFILE_KEY_MODULE(key)))) {
        symbols_find_answer(symbols, question, key, &found);
        if (found.count || question != SYMBOLS_ASK_FRAMES)
            answer = symbols_answers_add(&symbols->answers, &symbols->pool, question, key);
        if (answer)
            *answer = found;
    }
    if (answer)
        symbols_note_answer_asked(symbols, key, answer);
    return answer;
}

size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames)
{
    const struct symbols_answer *answer = symbols_ask(symbols, SYMBOLS_ASK_FRAMES, key);
    *frames = answer ? answer->frames : &unknown_frame;
    return answer ? answer->count : 1;
}

const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr)
{
    const struct symbols_answer *answer = symbols_ask(symbols, SYMBOLS_ASK_DATA, PROFILE_KEY(module_id, vaddr));
    return answer ? answer->text : NULL;
}

uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key)
{
    const struct symbols_answer *answer = symbols_ask(symbols, SYMBOLS_ASK_ENTRY, key);
    return answer ? answer->entry : 0;
}

const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key)
{
    const struct symbols_answer *answer = symbols_ask(symbols, SYMBOLS_ASK_CALL, key);
    return answer ? answer->call : NULL;
}

const char *symbols_module_name(struct symbols *symbols, uint32_t module_id)
{
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    return module ? module->base_name : "";
}

const char *symbols_code_module(struct symbols *symbols, uint64_t key)
{
    bool compiled = PROFILE_KEY_MODULE(key) == 0 && symbols_ask(symbols, SYMBOLS_ASK_FRAMES, key);
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
    symbols->compiled = symbols_perf_map_read(
        path, status.st_uid, from_ns, header->finished ? from_ns / s + took_ns / s + PERF_MAP_LATE_S : INT64_MAX);
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

/* ---- compilers ---- */

/* Returns the compilers of a module, with their options, as far as debug information names them. */

/* maximum number of compilation units that are examined, enough even for a huge program */
#define MOST_UNITS 4096

static bool symbols_producer_is_known(const char *const *producer, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(producer[i], text) == 0)
            return true;
    return false;
}

size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS])
{
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    Dwarf *dwarf = module ? symbols_module_dwarf(module) : NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    size_t count = 0;
    for (int i = 0; dwarf && i < MOST_UNITS && count < SYMBOLS_PRODUCERS &&
                    dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0;
         i++) {
        Dwarf_Attribute attribute;
        const char *text = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_producer, &attribute));
        if (text && *text && !symbols_producer_is_known(producer, count, text))
            producer[count++] = text;
    }
    return count;
}
