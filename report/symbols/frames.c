/* The rows of one address: DWARF's functions, else the symbol, else module+0xoffset; constructs recognised,
 * the two functions that clang makes of a construct merged. */
#include "report/symbols/frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/bodies.h"
#include "report/symbols/construct.h"
#include "report/symbols/demangle.h"
#include "report/symbols/inline.h"
#include "report/symbols/lines.h"
#include "report/symbols/outlined.h"
#include "report/symbols/unwind.h"

/* The symbol says more than DWARF where that has no name (clang -gline-tables-only) or no linkage name (GCC's
 * static C++ functions); the definition stays DWARF's. */
static const struct symbols_name *better_name(struct symbols_module *module, const struct symbols_raw *raw)
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

static size_t frames_symbol(struct symbols_module *module, uint64_t vaddr, struct symbols_unit *unit,
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

/* "[parallel reg+0x1234]", or "solve [parallel libreg.so+0x1234]" where the function that begins it has a symbol. */
static void name_construct(struct symbols_module *module, const struct symbols_body *body, struct symbol_frame *frame)
{
    const struct symbols_entry *entry = symbols_module_function(module, body->host);
    const struct symbols_name *host = entry ? symbols_frames_symbol(module, entry->name) : NULL;
    frame->construct = body->task ? SYMBOL_TASK : SYMBOL_PARALLEL;
    frame->host_name = host ? host->display : "";
    frame->name = pool_text(module->pool, "%s%s[%s %s]", frame->host_name, *frame->host_name ? " " : "",
                            body->task ? "task" : "parallel", frame->name);
}

/* The offset is the function's where the unwind tables know it, so that a function is one row; else the
 * address. */
static void name_offset(struct symbols_module *module, uint64_t vaddr, struct symbol_frame *frame)
{
    uint64_t low, high;
    bool known = symbols_unwind_extent(module, vaddr, &low, &high);
    const struct symbols_body *body = known ? symbols_bodies_at(module, low) : NULL;
    frame->name = *module->base_name ? pool_text(module->pool, "%s+0x%llx", module->base_name,
                                                 (unsigned long long)(known ? low : vaddr))
                                     : "<unknown function>";
    if (body)
        name_construct(module, body, frame);
}

/* With line tables only nothing tells where a function is defined. The first line of its code is close; where
 * an inlined call comes first, that call. */
static struct symbols_position near_definition(struct symbols_module *module, struct symbols_unit *unit,
                                               uint64_t low)
{
    struct symbols_raw raws[SYMBOLS_MAX_FRAMES];
    struct symbols_function *function;
    struct symbols_unit *same;
    size_t count = symbols_inline_chain(module, low, raws, &same, &function);
    return count > 1 ? raws[count - 1].at : symbols_lines_entry(unit, low);
}

static void fill_frame(struct symbols_module *module, struct symbols_unit *unit,
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
        struct symbols_position entry = near_definition(module, unit, raw->low);
        frame->file = entry.file;
        frame->line = entry.line;
    }
    if (outlined.kind != SYMBOL_PROCEDURE) {
        symbols_construct_name(module, unit, raw->inlined ? NULL : function, raw, frame);
        frame->fold_into_caller = outlined.inner && !raw->inlined;
    }
    frame->fold_into_caller |= symbols_dwarf_is_master(raw->name);
    frame->inlined = raw->inlined;
    frame->at_file = raw->at.file;
    frame->at_line = raw->at.line;
}

/* GCC names files as they were given to it, from the folder in which it ran. */
static const char *full_path(struct symbols_module *module, struct symbols_unit *unit, const char *file)
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

/* The inner function of a construct, inlined into the outer one: one row, at the inner one's position. */
static bool merges_into(const struct symbols_raw *inner, const struct symbols_raw *outer)
{
    struct symbols_outlined a = symbols_construct_parse(inner->name->raw);
    struct symbols_outlined b = symbols_construct_parse(outer->name->raw);
    if (!inner->inlined || a.kind == SYMBOL_PROCEDURE || b.kind == SYMBOL_PROCEDURE || b.inner)
        return false;
    return a.inner || (a.task_part && b.kind == SYMBOL_TASK);
}

size_t symbols_frames_build(struct symbols_module *module, uint64_t vaddr, struct symbol_frame **frames)
{
    struct symbols_raw raws[SYMBOLS_MAX_FRAMES];
    struct symbols_unit *unit;
    struct symbols_function *function;
    size_t count = symbols_inline_chain(module, vaddr, raws, &unit, &function);
    if (count)
        raws[count - 1].name = better_name(module, &raws[count - 1]);
    if (!count || !*raws[count - 1].name->raw) {
        count = frames_symbol(module, vaddr, unit, raws);
        function = NULL;
    }
    *frames = pool_alloc(module->pool, (count ? count : 1) * sizeof **frames);
    if (!*frames)
        return 0;
    if (!count) {
        **frames = (struct symbol_frame){.host_name = "", .file = "", .task_name = ""};
        (*frames)->at_file = full_path(module, unit, raws[0].at.file);
        (*frames)->at_line = raws[0].at.line;
        name_offset(module, vaddr, *frames);
        return 1;
    }
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && merges_into(&raws[i], &raws[i + 1])) {
            raws[i + 1].at = raws[i].at;
        } else {
            struct symbol_frame *frame = &(*frames)[made++];
            fill_frame(module, unit, function, &raws[i], frame);
            frame->file = full_path(module, unit, frame->file);
            frame->at_file = full_path(module, unit, frame->at_file);
        }
    }
    return made;
}
