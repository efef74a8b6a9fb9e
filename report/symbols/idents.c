/* The line of a construct in flang's code.
 *
 * flang 19 gives outlined functions neither a line of their own nor a reliable first row. But like clang it
 * passes the runtime ";file;function;line;column;;" at every construct, in read-only data, so the lines of a
 * function's constructs are known; the rows of the outlined function say which of them it is. */
#include "report/symbols/idents.h"

#include <stdlib.h>
#include <string.h>

#include "report/symbols/lines.h"
#include "report/text/grow.h"

/* One more field, up to the next ';', from *text; NULL: the string is not of this form. */
static const char *next_field(const char **text, const char *end, size_t *bytes)
{
    const char *from = *text;
    const char *stop = memchr(from, ';', (size_t)(end - from));
    if (!stop || memchr(from, '\0', (size_t)(stop - from)))
        return NULL;
    *bytes = (size_t)(stop - from);
    *text = stop + 1;
    return from;
}

static void add_ident(struct symbols_module *module, const char *text, const char *end)
{
    size_t file_bytes, function_bytes, line_bytes;
    const char *file = next_field(&text, end, &file_bytes);
    const char *function = file ? next_field(&text, end, &function_bytes) : NULL;
    const char *line = function ? next_field(&text, end, &line_bytes) : NULL;
    if (!line || line_bytes == 0 || line_bytes > 9 || strspn(line, "0123456789") != line_bytes)
        return;
    int number = atoi(line);
    if (number > 0 &&
        grow_list(&module->idents, &module->ident_room, module->ident_count, sizeof *module->idents)) {
        module->idents[module->ident_count++] = (struct symbols_ident){
            .function = pool_text(module->pool, "%.*s", (int)function_bytes, function), .line = number};
    }
}

static void load_idents(struct symbols_module *module)
{
    GElf_Shdr header;
    module->idents_known = true;
    for (Elf_Scn *section = NULL;
         (section = symbols_elf_next(module->main.elf, section, SHT_PROGBITS, &header));) {
        if ((header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) != SHF_ALLOC)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        const char *from = data ? data->d_buf : NULL;
        const char *end = from ? from + data->d_size : NULL;
        for (const char *text = from; text && text < end; text++) {
            text = memchr(text, ';', (size_t)(end - text));
            if (!text)
                break;
            if (text == from || text[-1] == '\0')
                add_ident(module, text + 1, end);
        }
    }
}

/* The greatest line below `line` on which `host` has a construct; 0: none. */
static int construct_before(const struct symbols_module *module, const char *host, int line)
{
    int result = 0;
    for (size_t i = 0; i < module->ident_count; i++) {
        const struct symbols_ident *ident = &module->idents[i];
        if (ident->line < line && ident->line > result && strcmp(ident->function, host) == 0)
            result = ident->line;
    }
    return result;
}

int symbols_idents_line(struct symbols_module *module, struct symbols_unit *unit,
                        struct symbols_function *function, const char *host, int host_line)
{
    Dwarf_Addr high;
    int first = 0;
    for (const char *scope; (scope = strstr(host, "::"));) /* identifiers have the procedure's name alone */
        host = scope + 2;
    if (strcmp(host, "MAIN__") == 0)
        host = "_QQmain";
    if (!module->idents_known)
        load_idents(module);
    for (size_t i = 0; i < module->ident_count; i++)
        if (module->idents[i].line > host_line && strcmp(module->idents[i].function, host) == 0 &&
            (!first || module->idents[i].line < first))
            first = module->idents[i].line;
    if (dwarf_highpc(&function->die, &high) != 0)
        return first;
    /* Rows above the host's first construct are declarations of variables. */
    int body = symbols_lines_least(unit, function->low, high, first ? first : host_line + 1);
    if (!body || !first)
        return body ? body : first;
    /* A body that starts on a construct's line is that construct's ("parallel do" has rows of its own),
     * unless the line above is one too: then it is a construct at the start of the body. */
    bool on_construct = construct_before(module, host, body + 1) == body;
    int before = construct_before(module, host, body);
    return before && (!on_construct || before == body - 1) ? before : body;
}
