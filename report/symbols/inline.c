/* Names of functions by DWARF, and the chain of inlined calls at an address. */
#include "report/symbols/inline.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/demangle.h"
#include "report/symbols/dwarf.h"
#include "report/symbols/lines.h"

static const char *string_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
    return text ? text : "";
}

const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage)
{
    const char *name = string_of(die, DW_AT_linkage_name);
    if (!*name)
        name = string_of(die, DW_AT_MIPS_linkage_name);
    *linkage = *name != '\0';
    return *linkage ? name : string_of(die, DW_AT_name);
}

static int language_of(Dwarf_Die *die)
{
    Dwarf_Die unit;
    return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

static bool is_fortran(int language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08 || language == 0x2d /* Fortran18 */;
}

static bool is_cxx(int language)
{
    return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
           language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 ||
           language == 0x2b /* 17 */ || language == 0x2c /* 20 */;
}

static void follow(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    for (int i = 0; i < 16 && dwarf_attr(die, name, &attribute) && dwarf_formref_die(&attribute, &origin);
         i++)
        *die = origin;
}

/* GCC leaves out the linkage name of functions with internal linkage: name the scopes around them instead. */
static const char *qualified(struct pool *pool, Dwarf_Die die, const char *name)
{
    Dwarf_Die *scopes = NULL;
    follow(&die, DW_AT_abstract_origin);
    follow(&die, DW_AT_specification);
    int count = dwarf_getscopes_die(&die, &scopes);
    for (int i = 1; i < count && i < SYMBOLS_MAX_DEPTH; i++) {
        const char *scope = dwarf_diename(&scopes[i]);
        switch (dwarf_tag(&scopes[i])) {
        case DW_TAG_namespace:
            name = pool_text(pool, "%s::%s", scope ? scope : "(anonymous namespace)", name);
            break;
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_subprogram:
            name = scope ? pool_text(pool, "%s::%s", scope, name) : name;
            break;
        default:
            break;
        }
    }
    free(scopes);
    return name;
}

static const char *display_name(struct pool *pool, Dwarf_Die *die, const struct symbols_name *name)
{
    int language = language_of(die);
    const char *plain = string_of(die, DW_AT_name);
    if (is_fortran(language) && *plain)
        return symbols_name_readable(pool, plain, strlen(plain));
    if (name->linkage)
        return symbols_name_readable(pool, name->raw, strlen(name->raw));
    return is_cxx(language) && *plain ? qualified(pool, *die, plain) : plain;
}

/* dwarf_decl_file of elfutils before 0.192 takes file 0 for "none", which is the unit's own file in DWARF 5. */
const char *symbols_dwarf_file(Dwarf_Die *die)
{
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &number) != 0 ||
        dwarf_cu_info(attribute.cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL) != 0)
        return "";
    return symbols_lines_file(&unit, number);
}

const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die)
{
    Dwarf_Die source = *die;
    if (dwarf_tag(&source) == DW_TAG_inlined_subroutine)
        follow(&source, DW_AT_abstract_origin);
    struct symbols_name *name = symbols_map_find(&module->names, (uintptr_t)source.addr);
    if (name || !(name = pool_alloc(module->pool, sizeof *name)))
        return name;
    name->raw = symbols_dwarf_raw(&source, &name->linkage);
    name->display = display_name(module->pool, &source, name);
    name->file = symbols_dwarf_file(&source);
    if (dwarf_decl_line(&source, &name->line) != 0 || name->line < 0)
        name->line = 0;
    symbols_map_put(&module->names, (uintptr_t)source.addr, name);
    return name;
}

/* Start of the part of the function (or inlined copy) that vaddr lies in. */
static uint64_t part_start(Dwarf_Die *die, uint64_t vaddr)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (vaddr >= start && vaddr < end)
            return start;
    return vaddr;
}

struct chain {
    Dwarf_Die calls[SYMBOLS_MAX_FRAMES]; /* outermost first */
    size_t count;
    /* Calls of the functions of include/blame.h are a part of the line that has the outermost: sites[i] is the
     * call that led from calls[i - 1] to calls[i], `hidden` the one that led on from the last. */
    Dwarf_Die sites[SYMBOLS_MAX_FRAMES];
    Dwarf_Die hidden;
    bool has_hidden;
    uint64_t vaddr;
};

static bool has_code(Dwarf_Die *die)
{
    return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* The program's calls of the profiler's own header: nobody's code. */
static bool is_of_header(Dwarf_Die *call)
{
    const char *file = symbols_dwarf_file(call), *name = strrchr(file, '/');
    name = name ? name + 1 : file;
    return strcmp(name, "blame.h") == 0 || strcmp(name, "blame.F90") == 0;
}

static void take_call(struct chain *chain, Dwarf_Die *call)
{
    if (is_of_header(call)) {
        if (!chain->has_hidden)
            chain->hidden = *call;
        chain->has_hidden = true;
    } else if (chain->count < SYMBOLS_MAX_FRAMES) {
        chain->sites[chain->count] = chain->has_hidden ? chain->hidden : *call;
        chain->calls[chain->count++] = *call;
        chain->has_hidden = false;
    }
}

/* Where the address is, all is found below. A block without addresses may hold calls that have some. */
static enum symbols_step descend(void *argument, Dwarf_Die *die, uint32_t *around)
{
    struct chain *chain = argument;
    int tag = dwarf_tag(die);
    (void)around;
    if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(die, chain->vaddr) == 1) {
        take_call(chain, die);
        return SYMBOLS_ENTER_LAST;
    }
    if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
        return dwarf_haspc(die, chain->vaddr) == 1 ? SYMBOLS_ENTER_LAST : has_code(die) ? SYMBOLS_SKIP : SYMBOLS_ENTER;
    return SYMBOLS_SKIP;
}

static struct symbols_position call_position(struct symbols_unit *unit, Dwarf_Die *call)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    struct symbols_position position = {.file = ""};
    if (dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &line) == 0 && line <= INT32_MAX)
        position.line = (int)line;
    if (position.line && dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &file) == 0)
        position.file = symbols_lines_file(&unit->die, file);
    return position;
}

size_t symbols_inline_chain(struct symbols_module *module, uint64_t vaddr, struct symbols_raw *raws,
                            struct symbols_unit **unit, struct symbols_function **function)
{
    struct chain chain = {.vaddr = vaddr};
    *function = NULL;
    *unit = symbols_dwarf_unit(module, vaddr);
    *function = *unit ? symbols_dwarf_function(*unit, vaddr) : NULL;
    if (!*function)
        return 0;
    chain.calls[chain.count++] = (*function)->die;
    symbols_dwarf_walk(&(*function)->die, descend, &chain);
    for (size_t i = 0; i < chain.count; i++) {
        Dwarf_Die *die = &chain.calls[chain.count - 1 - i];
        uint64_t start = part_start(die, vaddr);
        raws[i].name = symbols_dwarf_name(module, die);
        raws[i].inlined = i + 1 < chain.count;
        raws[i].low = raws[i].inlined ? start : (*function)->low;
        raws[i].at = i > 0              ? call_position(*unit, &chain.sites[chain.count - i])
                     : chain.has_hidden ? call_position(*unit, &chain.hidden)
                                        : symbols_lines_at(*unit, vaddr, start);
        if (!raws[i].name)
            return 0;
    }
    return chain.count;
}
