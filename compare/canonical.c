#include "compare/canonical.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What compilers append to the symbol of a copy of a function; a number may follow. */
static const char *const copy_mark[] = {".isra", ".part",     ".constprop", ".cold",
                                        ".llvm", ".lto_priv", ".clone",     ".specialized"};

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Bytes of a mark with its number at text; 0: none. */
static size_t copy_mark_bytes(const char *text)
{
    for (size_t i = 0; i < sizeof copy_mark / sizeof *copy_mark; i++) {
        if (!starts(text, copy_mark[i]))
            continue;
        const char *end = text + strlen(copy_mark[i]);
        if (*end == '.' && isdigit((unsigned char)end[1]))
            for (end++; isdigit((unsigned char)*end);)
                end++;
        if (!isalnum((unsigned char)*end) && *end != '_')
            return (size_t)(end - text);
    }
    return 0;
}

/* "#2" in front of "}", as in {lambda(int)#2}. */
static size_t number_in_braces(const char *text)
{
    const char *end = text;
    if (*end++ != '#' || !isdigit((unsigned char)*end))
        return 0;
    while (isdigit((unsigned char)*end))
        end++;
    return *end == '}' ? (size_t)(end - text) : 0;
}

/* Bytes at text that are left out. */
static size_t skipped(const char *begin, const char *text)
{
    if (starts(text, " [clone ")) {
        const char *end = strchr(text, ']');
        return end ? (size_t)(end + 1 - text) : 0;
    }
    if (*text == '.' && text > begin)
        return copy_mark_bytes(text);
    if (*text == '#')
        return number_in_braces(text);
    /* clang's lambdas in functions that other files cannot see: main::$_0 */
    if (isdigit((unsigned char)*text) && text - begin >= 2 && text[-1] == '_' && text[-2] == '$')
        return strspn(text, "0123456789");
    return 0;
}

/* The construct's bracket, which is the last. */
static const char *find_bracket(const char *name)
{
    const char *bracket = strrchr(name, '[');
    return bracket && (starts(bracket, "[parallel") || starts(bracket, "[task")) ? bracket : NULL;
}

char *canonical_name(enum row_kind kind, const char *name)
{
    bool construct = kind == ROW_PARALLEL || kind == ROW_TASK;
    const char *bracket = construct ? find_bracket(name) : NULL;
    char *result = malloc(strlen(name) + 16), *to = result;
    if (!result)
        return NULL;
    for (const char *from = name; *from && from != bracket;) {
        size_t skip = skipped(name, from);
        if (skip)
            from += skip;
        else
            *to++ = *from++;
    }
    strcpy(to, !bracket ? "" : kind == ROW_TASK ? "[task]" : "[parallel]");
    return result;
}

char *canonical_module(const char *module)
{
    char *result = strdup(module), *mark = result ? strstr(result, ".so.") : NULL;
    if (mark && strspn(mark + 3, ".0123456789") == strlen(mark + 3))
        mark[3] = '\0';
    return result;
}

size_t canonical_host_bytes(const char *canonical)
{
    const char *bracket = find_bracket(canonical);
    return bracket && bracket > canonical ? (size_t)(bracket - canonical - 1) : 0;
}
