/* Reads from DWARF the names of functions and the chain of calls that are inlined at an address. */
#include "command/symbols/inline.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "command/symbols/demangle.h"
#include "command/symbols/dwarf.h"
#include "command/symbols/lines.h"

#define MAX_HOSTS 8 /* maximum number of enclosing functions that a name shows */

static const char *symbols_die_string(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
    return text ? text : "";
}

const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage)
{
    const char *name = symbols_die_string(die, DW_AT_linkage_name);
    if (!*name)
        name = symbols_die_string(die, DW_AT_MIPS_linkage_name);
    *linkage = *name != '\0';
    return *linkage ? name : symbols_die_string(die, DW_AT_name);
}

static int symbols_die_language(Dwarf_Die *die)
{
    Dwarf_Die unit;
    return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

static bool symbols_language_is_fortran(int language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08 || language == 0x2d /* DW_LANG_Fortran18 */;
}

static bool symbols_language_is_cxx(int language)
{
    return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
           language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 || language == 0x2b /* C++17 */ ||
           language == 0x2c /* C++20 */;
}

static void symbols_die_follow_reference(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    for (int i = 0; i < 16 && dwarf_attr(die, name, &attribute) && dwarf_formref_die(&attribute, &origin); i++)
        *die = origin;
}

/* Does not call dwarf_decl_file: elfutils before 0.192 takes file 0 for "no file", but in DWARF 5 file 0 is
 * the unit's own source file. */
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

/* Finds the class of a member function from the type of its object pointer. GCC does not place the entry of a
 * lambda's function inside the entry of its class. */
static bool symbols_die_class_of_function(Dwarf_Die *function, Dwarf_Die *class)
{
    Dwarf_Attribute attribute;
    if (!dwarf_formref_die(dwarf_attr(function, DW_AT_object_pointer, &attribute), class))
        return false;
    for (int i = 0; i < 8; i++) {
        int tag = dwarf_tag(class);
        if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
            return true;
        if (!dwarf_formref_die(dwarf_attr(class, DW_AT_type, &attribute), class))
            return false;
    }
    return false;
}

static bool symbols_die_is_lambda(const char *name, Dwarf_Die *class)
{
    const char *text = dwarf_diename(class);
    return strncmp(name, "operator()", strlen("operator()")) == 0 &&
           (!text || strncmp(text, "<lambda", strlen("<lambda")) == 0);
}

/* Returns a name such as "operator() [lambda solve.cc:17]". Without the position, all lambdas of a function
 * would have the same name. */
static const char *symbols_lambda_text(struct pool *pool, const char *name, Dwarf_Die *class)
{
    int line = 0;
    const char *file = symbols_dwarf_file(class), *slash = strrchr(file, '/');
    dwarf_decl_line(class, &line);
    return *file && line > 0 ? pool_text(pool, "%s [lambda %s:%d]", name, slash ? slash + 1 : file, line) : name;
}

/* Returns the text that a scope adds to a qualified name, or NULL if it adds none. */
static const char *symbols_scope_text(Dwarf_Die *scope, bool fortran)
{
    bool flag;
    Dwarf_Attribute attribute;
    const char *name = dwarf_diename(scope);
    switch (dwarf_tag(scope)) {
    case DW_TAG_namespace:
        return name ? name : "(anonymous namespace)";
    case DW_TAG_subprogram: /* a Fortran main program is not part of the names of its internal procedures */
        return fortran && (dwarf_formflag(dwarf_attr(scope, DW_AT_main_subprogram, &attribute), &flag) == 0 ||
                           (name && strcmp(name, "_QQmain") == 0))
                   ? NULL
                   : name;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return symbols_die_is_lambda("operator()", scope) ? NULL : name;
    case DW_TAG_module:
        return name;
    default:
        return NULL;
    }
}

/* Returns the name with its enclosing scopes. It is needed if there is no linkage name (GCC omits it for
 * functions with internal linkage), and in Fortran, whose linkage names do not contain the enclosing
 * procedure. */
static const char *symbols_qualified_name(struct pool *pool, Dwarf_Die die, const char *name, bool fortran, int depth)
{
    Dwarf_Die *scopes = NULL, class;
    symbols_die_follow_reference(&die, DW_AT_abstract_origin);
    if (!depth && symbols_die_class_of_function(&die, &class) && symbols_die_is_lambda(name, &class))
        name = symbols_lambda_text(pool, name, &class);
    symbols_die_follow_reference(&die, DW_AT_specification);
    int count = dwarf_getscopes_die(&die, &scopes);
    for (int i = 1; i < count && i < SYMBOLS_MAX_DEPTH; i++) {
        const char *scope = symbols_scope_text(&scopes[i], fortran);
        name = scope ? pool_text(pool, "%s::%s", scope, name) : name;
        /* the scopes of the enclosing function may be elsewhere */
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram && depth < MAX_HOSTS) {
            name = symbols_qualified_name(pool, scopes[i], name, fortran, depth + 1);
            break;
        }
    }
    free(scopes);
    return name;
}

/* Removes the prefix of a name such as "master.0.procedure". gfortran gives this name to the function that it
 * generates from a procedure with ENTRY statements. The procedure and its entries call the function. */
static const char *symbols_name_without_master(const char *name)
{
    const char *rest = strncmp(name, "master.", strlen("master.")) == 0 ? name + strlen("master.") : name;
    size_t digits = strspn(rest, "0123456789");
    return digits && rest[digits] == '.' && rest[digits + 1] ? rest + digits + 1 : name;
}

bool symbols_dwarf_is_master(const struct symbols_name *name)
{
    return symbols_name_without_master(name->raw) != name->raw;
}

static const char *symbols_die_display_name(struct pool *pool, Dwarf_Die *die, int language,
                                            const struct symbols_name *name)
{
    const char *plain = symbols_die_string(die, DW_AT_name);
    if (symbols_language_is_fortran(language) && *plain) {
        plain = symbols_name_without_master(plain);
        const char *text =
            symbols_qualified_name(pool, *die, symbols_name_readable(pool, plain, strlen(plain)), true, 0);
        /* gfortran places the ENTRYs of a module procedure outside the DWARF entry of the module */
        return strstr(name->raw, "_MOD_") && !strstr(text, "::")
                   ? symbols_name_readable(pool, name->raw, strlen(name->raw))
                   : text;
    }
    if (name->linkage)
        return symbols_name_readable(pool, name->raw, strlen(name->raw));
    return symbols_language_is_cxx(language) && *plain ? symbols_qualified_name(pool, *die, plain, false, 0) : plain;
}

/* Finds the file and line where the function is defined. The function of a lambda has no line of its own, so
 * it gets the line of its class. */
static void symbols_die_find_definition(Dwarf_Die *die, struct symbols_name *name)
{
    Dwarf_Die class;
    name->file = symbols_dwarf_file(die);
    if (dwarf_decl_line(die, &name->line) == 0 && name->line > 0)
        return;
    name->line = 0;
    if (!symbols_die_class_of_function(die, &class) ||
        !symbols_die_is_lambda(symbols_die_string(die, DW_AT_name), &class) ||
        dwarf_decl_line(&class, &name->line) != 0)
        return;
    name->file = symbols_dwarf_file(&class);
}

const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die)
{
    Dwarf_Die source = *die;
    if (dwarf_tag(&source) == DW_TAG_inlined_subroutine)
        symbols_die_follow_reference(&source, DW_AT_abstract_origin);
    struct symbols_name *name = symbols_map_find(&module->names, (uintptr_t)source.addr);
    if (name || !(name = pool_alloc(module->pool, sizeof *name)))
        return name;
    name->raw = symbols_dwarf_raw(&source, &name->linkage);
    int language = symbols_die_language(&source);
    if (language < 0) /* the entry is in a partial unit made by dwz, which has no language */
        language = symbols_die_language(die);
    name->display = symbols_die_display_name(module->pool, &source, language, name);
    symbols_die_find_definition(&source, name);
    symbols_map_put(&module->names, (uintptr_t)source.addr, name);
    return name;
}

/* Returns the start of the code range that contains vaddr. The range belongs to a function or to an inlined
 * copy of one. */
static uint64_t symbols_die_range_start(Dwarf_Die *die, uint64_t vaddr)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (vaddr >= start && vaddr < end)
            return start;
    return vaddr;
}

struct chain {
    Dwarf_Die calls[SYMBOLS_MAX_FRAMES]; /* functions at the address, outermost first */
    size_t count;
    /* Calls of functions in include/blame.h are not shown. Their code belongs to the line of the outermost
     * such call. sites[i] is the call in calls[i - 1] that leads to calls[i]. If has_hidden is set, `hidden`
     * is the call in the last function. */
    Dwarf_Die sites[SYMBOLS_MAX_FRAMES];
    Dwarf_Die hidden;
    bool has_hidden;
    uint64_t vaddr;
};

static bool symbols_die_has_code(Dwarf_Die *die)
{
    return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Returns whether the called function is defined in include/blame.h. Users do not want to see these
 * functions. */
static bool symbols_call_is_of_blame_header(Dwarf_Die *call)
{
    const char *file = symbols_dwarf_file(call), *name = strrchr(file, '/');
    name = name ? name + 1 : file;
    return strcmp(name, "blame.h") == 0 || strcmp(name, "blame.F90") == 0;
}

static void symbols_inline_chain_add_call(struct chain *chain, Dwarf_Die *call)
{
    if (symbols_call_is_of_blame_header(call)) {
        if (!chain->has_hidden)
            chain->hidden = *call;
        chain->has_hidden = true;
    } else if (chain->count < SYMBOLS_MAX_FRAMES) {
        chain->sites[chain->count] = chain->has_hidden ? chain->hidden : *call;
        chain->calls[chain->count++] = *call;
        chain->has_hidden = false;
    }
}

/* Enters the DWARF entry whose code contains the address; all further calls are inside it. Also enters a
 * block without addresses, because calls inside it may have addresses. */
static enum symbols_step symbols_inline_chain_descend(void *argument, Dwarf_Die *die, uint32_t *around)
{
    struct chain *chain = argument;
    int tag = dwarf_tag(die);
    (void)around;
    if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(die, chain->vaddr) == 1) {
        symbols_inline_chain_add_call(chain, die);
        return SYMBOLS_ENTER_LAST;
    }
    if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
        return dwarf_haspc(die, chain->vaddr) == 1 ? SYMBOLS_ENTER_LAST
               : symbols_die_has_code(die)         ? SYMBOLS_SKIP
                                                   : SYMBOLS_ENTER;
    return SYMBOLS_SKIP;
}

static struct symbols_position symbols_inlined_call_position(struct symbols_unit *unit, Dwarf_Die *call)
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
    symbols_dwarf_walk(&(*function)->die, symbols_inline_chain_descend, &chain);
    for (size_t i = 0; i < chain.count; i++) {
        Dwarf_Die *die = &chain.calls[chain.count - 1 - i];
        uint64_t start = symbols_die_range_start(die, vaddr);
        raws[i].name = symbols_dwarf_name(module, die);
        raws[i].inlined = i + 1 < chain.count;
        raws[i].low = raws[i].inlined ? start : (*function)->low;
        raws[i].at = i > 0              ? symbols_inlined_call_position(*unit, &chain.sites[chain.count - i])
                     : chain.has_hidden ? symbols_inlined_call_position(*unit, &chain.hidden)
                                        : symbols_lines_at(*unit, vaddr, start);
        if (!raws[i].name)
            return 0;
    }
    return chain.count;
}
