/* Names the functions that compilers outline from OpenMP constructs, for example "relax [parallel
 * amg.c:123]". The host of a construct is the function in whose source the construct stands. */
#include "command/symbols/construct.h"

#include <stdlib.h>
#include <dwarf.h>
#include <string.h>

#include "command/symbols/calls.h"
#include "command/symbols/code.h"
#include "command/symbols/demangle.h"
#include "command/symbols/dwarf.h"
#include "command/symbols/inline.h"
#include "command/symbols/lines.h"
#include "command/symbols/module.h"
#include "command/text/grow.h"

/* ---- the lines of constructs in read-only strings ---- */

/* Finds the line of a construct in code compiled by flang.
 *
 * flang 19 gives an outlined function no line, and the first row of its line table is unreliable. Like clang,
 * however, it passes a string ";file;function;line;column;;" to the runtime at every construct. These strings
 * are in read-only data, so the lines of all constructs in a function are known. The rows of the outlined
 * function's line table then show which of these lines is its own. */

/* Returns the text before the next ';' and moves *text past it. Returns NULL if the string does not have the
 * expected form. */
static const char *symbols_next_ident_field(const char **text, const char *end, size_t *bytes)
{
    const char *from = *text;
    const char *stop = memchr(from, ';', (size_t)(end - from));
    if (!stop || memchr(from, '\0', (size_t)(stop - from)))
        return NULL;
    *bytes = (size_t)(stop - from);
    *text = stop + 1;
    return from;
}

static void symbols_construct_add_ident(struct symbols_module *module, const char *text, const char *end)
{
    size_t file_bytes, function_bytes, line_bytes, column_bytes;
    const char *file = symbols_next_ident_field(&text, end, &file_bytes);
    const char *function = file ? symbols_next_ident_field(&text, end, &function_bytes) : NULL;
    const char *line = function ? symbols_next_ident_field(&text, end, &line_bytes) : NULL;
    const char *column = line ? symbols_next_ident_field(&text, end, &column_bytes) : NULL;
    if (!column || text == end || *text != ';' || line_bytes == 0 || line_bytes > 9 ||
        strspn(line, "0123456789") != line_bytes || column_bytes == 0 || strspn(column, "0123456789") != column_bytes)
        return;
    int number = atoi(line);
    if (number > 0 && grow_list(&module->idents, &module->ident_room, module->ident_count, sizeof *module->idents)) {
        module->idents[module->ident_count++] = (struct symbols_ident){
            .function = pool_text(module->pool, "%.*s", (int)function_bytes, function), .line = number};
    }
}

static void symbols_construct_load_idents(struct symbols_module *module)
{
    GElf_Shdr header;
    module->idents_known = true;
    for (Elf_Scn *section = NULL; (section = symbols_elf_next(module->main.elf, section, SHT_PROGBITS, &header));) {
        if ((header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) != SHF_ALLOC)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        const char *from = data ? data->d_buf : NULL;
        const char *end = from ? from + data->d_size : NULL;
        for (const char *text = from; text && text < end; text++) {
            text = memchr(text, ';', (size_t)(end - text));
            if (!text)
                break;
            /* no zero byte need stand before the string: a constant of Fortran's may end there, which has none */
            symbols_construct_add_ident(module, text + 1, end);
        }
    }
}

/* Returns the line of the last construct in `host` that starts before `line`, or 0 if there is none. */
static int symbols_construct_before(const struct symbols_module *module, const char *host, int line)
{
    int result = 0;
    for (size_t i = 0; i < module->ident_count; i++) {
        const struct symbols_ident *ident = &module->idents[i];
        if (ident->line < line && ident->line > result && strcmp(ident->function, host) == 0)
            result = ident->line;
    }
    return result;
}

/* Returns the line of the construct from which flang outlined a function, or 0 if it is unknown. DWARF does
 * not give this line. */
static int symbols_idents_line(struct symbols_module *module, struct symbols_unit *unit,
                               struct symbols_function *function, const char *host, int host_line)
{
    Dwarf_Addr high;
    int first = 0;
    /* the strings have the name of the procedure without its module and host */
    for (const char *scope; (scope = strstr(host, "::"));)
        host = scope + 2;
    if (strcmp(host, "MAIN__") == 0)
        host = "_QQmain";
    if (!module->idents_known)
        symbols_construct_load_idents(module);
    for (size_t i = 0; i < module->ident_count; i++)
        if (module->idents[i].line > host_line && strcmp(module->idents[i].function, host) == 0 &&
            (!first || module->idents[i].line < first))
            first = module->idents[i].line;
    if (dwarf_highpc(&function->die, &high) != 0)
        return first;
    /* lines before the first construct of the host are those of variable declarations */
    int body = symbols_lines_least(unit, function->low, high, first ? first : host_line + 1);
    if (!body || !first)
        return body ? body : first;
    /* If there is a construct on the first line of the body, the body is normally that of this construct
     * ("parallel do" has rows of its own). But if the line before also has a construct, the body is that of
     * the construct on the line before, and the construct on the first line is nested in the body. */
    bool on_construct = symbols_construct_before(module, host, body + 1) == body;
    int before = symbols_construct_before(module, host, body);
    return before && (!on_construct || before == body - 1) ? before : body;
}

/* ---- constructs ---- */

/* maximum number of addresses on the line of a construct at which the host is searched for */
#define MAX_HOST_SEARCH  64
#define MAX_HOST_NESTING 8 /* maximum nesting of constructs whose names do not contain the host's name */

/* ---- the line ---- */

/* Returns the line of the directive, given the inner one of clang's two functions for a construct. At -O0 the
 * inner function is not inlined into the outer one. The name of the outer function starts like that of the
 * inner one, and it is declared on the nearest line before. */
static struct symbols_position symbols_construct_line_of_outer(struct symbols_module *module, struct symbols_unit *unit,
                                                               const struct symbols_name *inner)
{
    const char *end = inner->raw, *next;
    struct symbols_position best = {.file = inner->file, .line = 0};
    while ((next = strstr(end + 1, CLANG_MARK)))
        end = next;
    size_t prefix = (size_t)(end - inner->raw) + strlen(CLANG_MARK);
    for (size_t i = 0; i < unit->function_count; i++) {
        bool linkage;
        struct symbols_function *function = &unit->functions[i];
        const char *raw = function->low ? symbols_dwarf_raw(&function->die, &linkage) : "";
        if (strncmp(raw, inner->raw, prefix) != 0 || strspn(raw + prefix, ".0123456789") != strlen(raw + prefix))
            continue;
        const struct symbols_name *outer = symbols_dwarf_name(module, &function->die);
        if (outer && outer->line <= inner->line && outer->line > best.line && strcmp(outer->file, inner->file) == 0)
            best.line = outer->line;
    }
    return best.line ? best : (struct symbols_position){.file = inner->file, .line = inner->line};
}

static struct symbols_position symbols_construct_line(struct symbols_module *module, struct symbols_unit *unit,
                                                      const struct symbols_raw *raw, struct symbols_outlined outlined)
{
    struct symbols_position position = {.file = raw->name->file, .line = raw->name->line};
    if (outlined.compiler == SYMBOLS_CLANG && outlined.inner && unit && position.line)
        return symbols_construct_line_of_outer(module, unit, raw->name);
    if (!position.line && unit && !raw->inlined)
        position = symbols_lines_entry(unit, raw->low);
    return position;
}

/* ---- the host ---- */

static const char *symbols_construct_host_by_stem(struct symbols_module *module, struct symbols_unit *unit,
                                                  const char *raw, size_t stem, struct symbols_position *defined)
{
    for (size_t i = 0; unit && i < unit->function_count; i++) {
        bool linkage;
        const char *name = symbols_dwarf_raw(&unit->functions[i].die, &linkage);
        if (strncmp(name, raw, stem) == 0 && !name[stem]) {
            const struct symbols_name *host = symbols_dwarf_name(module, &unit->functions[i].die);
            if (host && *host->display) {
                *defined = (struct symbols_position){.file = host->file, .line = host->line};
                return host->display;
            }
        }
    }
    return symbols_name_readable(module->pool, raw, stem);
}

/* Returns the name of the host. GCC places the DWARF entry of an outlined function inside that of its host. */
static const char *symbols_construct_host_by_nesting(struct symbols_module *module, struct symbols_unit *unit,
                                                     const struct symbols_function *function)
{
    uint32_t index = function ? function->enclosing : 0;
    for (int i = 0; index && i < SYMBOLS_MAX_DEPTH; i++) {
        struct symbols_function *around = &unit->functions[index - 1];
        const struct symbols_name *name = symbols_dwarf_name(module, &around->die);
        if (name && *name->display && symbols_construct_parse(name->raw).kind == SYMBOL_PROCEDURE) {
            struct symbols_raw raw = {.name = name, .low = around->low};
            const struct symbols_entry *entry =
                !name->linkage && around->low ? symbols_module_function(module, around->low) : NULL;
            if (entry && entry->start == around->low && strncmp(entry->name, "_Z", 2) == 0)
                raw.name = symbols_frames_symbol(module, entry->name);
            return raw.name ? raw.name->display : name->display;
        }
        index = around->enclosing;
    }
    return "";
}

/* Returns the name of the last function that is declared on the construct's line or before. This function is
 * the host, unless a local class or lambda is declared in between. */
static const char *symbols_construct_host_by_declaration(struct symbols_module *module, struct symbols_unit *unit,
                                                         struct symbols_position at)
{
    struct symbols_function *best = NULL;
    int best_line = 0, line;
    for (size_t i = 0; i < unit->function_count; i++) {
        Dwarf_Die *die = &unit->functions[i].die;
        bool linkage;
        if (dwarf_decl_line(die, &line) != 0 || line > at.line || line <= best_line)
            continue;
        const char *raw = symbols_dwarf_raw(die, &linkage);
        if (*raw && raw[0] != '.' && strcmp(symbols_dwarf_file(die), at.file) == 0 &&
            symbols_construct_parse(raw).kind == SYMBOL_PROCEDURE) {
            best = &unit->functions[i];
            best_line = line;
        }
    }
    const struct symbols_name *name = best ? symbols_dwarf_name(module, &best->die) : NULL;
    return name ? name->display : "";
}

static const char *symbols_construct_host_by_line(struct symbols_module *module, struct symbols_unit *unit,
                                                  struct symbols_position at, uint64_t low, int nesting);

/* Returns the name of the host if vaddr is in the host's own code, which starts the construct. Returns ""
 * otherwise. */
static const char *symbols_construct_host_at(struct symbols_module *module, uint64_t vaddr, struct symbols_position at,
                                             int nesting)
{
    struct symbols_raw raws[SYMBOLS_MAX_FRAMES];
    struct symbols_unit *unit;
    struct symbols_function *function;
    struct symbols_position unused;
    size_t count = symbols_inline_chain(module, vaddr, raws, &unit, &function);
    const struct symbols_entry *entry = count ? NULL : symbols_module_function(module, vaddr);
    /* debug information has only line tables */
    if (entry && (raws[0].name = symbols_frames_symbol(module, entry->name))) {
        raws[0].inlined = false;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        struct symbols_outlined outlined = symbols_construct_parse(raws[i].name->raw);
        if (outlined.kind == SYMBOL_PROCEDURE)
            return raws[i].name->raw[0] == '.' ? "" : raws[i].name->display;
        if (outlined.stem)
            return symbols_construct_host_by_stem(module, unit, raws[i].name->raw, outlined.stem, &unused);
        if (raws[i].name->line && !outlined.inner && !raws[i].inlined) {
            struct symbols_position around = {.file = raws[i].name->file, .line = raws[i].name->line};
            return around.line < at.line
                       ? symbols_construct_host_by_line(module, unit, around, raws[i].low, nesting + 1)
                       : "";
        }
    }
    return "";
}

/* Returns the name of the host, found by the line of the construct. If the host has several copies, as
 * templates do, the nearest one before the outlined function is taken. */
static const char *symbols_construct_host_by_line(struct symbols_module *module, struct symbols_unit *unit,
                                                  struct symbols_position at, uint64_t low, int nesting)
{
    uint64_t vaddrs[MAX_HOST_SEARCH];
    uint64_t best_distance = UINT64_MAX;
    const char *best = "";
    if (!at.line || nesting > MAX_HOST_NESTING)
        return "";
    size_t count = symbols_lines_find(unit, at.file, at.line, vaddrs, MAX_HOST_SEARCH);
    for (size_t i = 0; i < count; i++) {
        uint64_t distance = vaddrs[i] <= low ? low - vaddrs[i] : UINT64_MAX - 1;
        const char *host = distance < best_distance ? symbols_construct_host_at(module, vaddrs[i], at, nesting) : "";
        if (*host) {
            best = host;
            best_distance = distance;
        }
    }
    return *best ? best : symbols_construct_host_by_declaration(module, unit, at);
}

/* ---- the name ---- */

static const char *symbols_file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *symbols_construct_make_text(struct symbols_module *module, enum symbol_construct kind,
                                               const struct symbol_frame *frame)
{
    const char *word = kind == SYMBOL_TASK ? "task" : "parallel";
    const char *space = *frame->host_name ? " " : "";
    if (!frame->line)
        return pool_text(module->pool, "%s%s[%s]", frame->host_name, space, word);
    return pool_text(module->pool, "%s%s[%s %s:%d]", frame->host_name, space, word, symbols_file_base_name(frame->file),
                     frame->line);
}

/* Returns the function of that name that has code of its own; NULL if all its copies are inlined. */
static struct symbols_function *symbols_construct_whole(struct symbols_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->ranges.count; i++) {
        struct symbols_function *function = &unit->functions[unit->ranges.list[i].index];
        Dwarf_Attribute attribute;
        const char *linkage = dwarf_formstring(dwarf_attr_integrate(&function->die, DW_AT_linkage_name, &attribute));
        if (function->low && linkage && strcmp(linkage, name) == 0)
            return function;
    }
    return NULL;
}

static void symbols_construct_resolve(struct symbols_module *module, struct symbols_unit *unit,
                                      struct symbols_function *function, const struct symbols_raw *raw,
                                      struct symbol_frame *frame)
{
    struct symbols_outlined outlined = symbols_construct_parse(raw->name->raw);
    struct symbols_position at = symbols_construct_line(module, unit, raw, outlined);
    struct symbols_position host_defined = {.file = ""};
    frame->construct = outlined.kind;
    frame->construct_uncertain = outlined.uncertain;
    frame->host_name = "";
    if (outlined.compiler == SYMBOLS_FLANG && unit && !function) /* an undeferred task that flang inlined */
        function = symbols_construct_whole(unit, raw->name->raw);
    if (outlined.uncertain && unit) {
        int launched_as = symbols_calls_launch(module, unit, function && raw->inlined ? function->low : raw->low);
        frame->construct = launched_as == 1 ? SYMBOL_TASK : SYMBOL_PARALLEL;
        frame->construct_uncertain = launched_as < 0;
    }
    if (outlined.compiler == SYMBOLS_GCC && unit)
        frame->host_name = symbols_construct_host_by_nesting(module, unit, function);
    if (!*frame->host_name && outlined.stem)
        frame->host_name = symbols_construct_host_by_stem(module, unit, raw->name->raw, outlined.stem, &host_defined);
    else if (!*frame->host_name && unit)
        frame->host_name = symbols_construct_host_by_line(module, unit, at, raw->low, 0);
    if (outlined.compiler == SYMBOLS_FLANG && unit && function) {
        at.file = host_defined.file;
        at.line = *at.file ? symbols_idents_line(module, unit, function, frame->host_name, host_defined.line) : 0;
    }
    frame->file = at.line ? at.file : "";
    frame->line = at.line;
    frame->name = symbols_construct_make_text(module, frame->construct, frame);
    frame->task_name = frame->construct_uncertain ? symbols_construct_make_text(module, SYMBOL_TASK, frame) : "";
}

void symbols_construct_name(struct symbols_module *module, struct symbols_unit *unit, struct symbols_function *function,
                            const struct symbols_raw *raw, struct symbol_frame *frame)
{
    /* All addresses in a construct have the same name and differ only in position, so each construct is
     * resolved only once. For an inlined copy, the key of the map is the address of the name record plus 1,
     * which equals no other key. For other functions, the key is the entry address. The name record cannot be
     * the key there, because without DWARF, functions with the same name in several files share one. */
    uint64_t key = raw->inlined ? (uintptr_t)raw->name + 1 : raw->low | 1ull << 63;
    struct symbol_frame *known = symbols_map_find(&module->names, key);
    if (!known) {
        symbols_construct_resolve(module, unit, function, raw, frame);
        known = pool_alloc(module->pool, sizeof *known);
        if (known) {
            *known = *frame;
            symbols_map_put(&module->names, key, known);
        }
        return;
    }
    *frame = *known;
}
