#include "compare/canonical.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

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

/* Bytes of a bracketed text at text; 0: it does not end. */
static size_t bracketed(const char *text, char open, char close)
{
    size_t depth = 0;
    for (const char *at = text; *at; at++) {
        depth += *at == open;
        depth -= *at == close;
        if (!depth)
            return (size_t)(at + 1 - text);
    }
    return 0;
}

/* Bytes of what compilers call a lambda: main::{lambda(int)#1}, main::$_0, <lambda(int)>. */
static size_t lambda_bytes(const char *text)
{
    if (starts(text, "{lambda("))
        return bracketed(text, '{', '}');
    if (starts(text, "<lambda(")) {
        size_t parameters = bracketed(text + 7, '(', ')'), bytes = 7 + parameters;
        return parameters ? bytes + (text[bytes] == '>') : 0;
    }
    return starts(text, "$_") && isdigit((unsigned char)text[2]) ? 2 + strspn(text + 2, "0123456789") : 0;
}

/* Bytes of "operator<<" and so on, whose signs are no brackets. */
static size_t operator_bytes(const char *begin, const char *text)
{
    bool word = text > begin && (isalnum((unsigned char)text[-1]) || text[-1] == '_');
    if (word || !starts(text, "operator"))
        return 0;
    if (starts(text + 8, "()") || starts(text + 8, "[]"))
        return 10;
    return 8 + strspn(text + 8, "<>=!+-*/%^&|~,");
}

/* Bytes at text that are left out; depth: of template arguments, which keep their parentheses. */
static size_t skipped(const char *begin, const char *text, int depth)
{
    if (starts(text, " [clone ") || starts(text, " [lambda ")) {
        const char *end = strchr(text, ']');
        return end ? (size_t)(end + 1 - text) : 0;
    }
    if (*text == '.' && text > begin)
        return copy_mark_bytes(text);
    if (*text == '#')
        return number_in_braces(text);
    if (*text == ' ' && text[1] == '>' && text > begin && text[-1] == '>')
        return 1;
    if (depth)
        return 0;
    if (starts(text, " const") && (!text[6] || text[6] == ':' || text[6] == ' '))
        return 6;
    return *text == '(' && text > begin && !starts(text, "(anonymous") ? bracketed(text, '(', ')') : 0;
}

static char *copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* The construct's bracket, which is the last. */
static const char *find_bracket(const char *name)
{
    const char *bracket = strrchr(name, '[');
    return bracket && (starts(bracket, "[parallel") || starts(bracket, "[task")) ? bracket : NULL;
}

/* GCC does not say of an inlined lambda that it is one. */
static void drop_lambda_of_operator(char *name)
{
    static const char text[] = "::{lambda}::operator()";
    for (char *at = name; (at = strstr(at, text));)
        memmove(at, at + 10, strlen(at + 10) + 1);
}

char *canonical_name(enum row_kind kind, const char *name)
{
    bool construct = kind == ROW_PARALLEL || kind == ROW_TASK;
    const char *bracket = construct ? find_bracket(name) : NULL;
    char *result = memory_array(4 * strlen(name) + 16, 1), *to = result;
    int depth = 0;
    for (const char *from = name; *from && from != bracket;) {
        size_t lambda = lambda_bytes(from), sign = operator_bytes(name, from);
        size_t skip = lambda ? lambda : sign ? sign : skipped(name, from, depth);
        if (lambda)
            to = stpcpy(to, "{lambda}");
        else if (sign)
            to = copy(to, from, sign);
        if (skip) {
            from += skip;
            continue;
        }
        depth += *from == '<';
        depth -= *from == '>' && depth;
        *to++ = *from++;
    }
    *to = '\0';
    drop_lambda_of_operator(result);
    strcat(result, !bracket ? "" : kind == ROW_TASK ? "[task]" : "[parallel]");
    return result;
}

char *canonical_module(const char *module)
{
    char *result = memory_text("%s", module), *mark = strstr(result, ".so.");
    if (mark && strspn(mark + 3, ".0123456789") == strlen(mark + 3))
        mark[3] = '\0';
    return result;
}

size_t canonical_host_bytes(const char *canonical)
{
    const char *bracket = find_bracket(canonical), *mark = strstr(canonical, "::operator()");
    if (!bracket && mark)
        return (size_t)(mark - canonical);
    return bracket && bracket > canonical ? (size_t)(bracket - canonical - 1) : 0;
}
