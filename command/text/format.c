#include "command/text/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/text/memory.h"

const char *format_decimal(char to[FORMAT_NUMBER_BYTES], double value, int decimals)
{
    uint64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    if (!isfinite(value))
        value = 0;
    bool negative = value < 0;
    double magnitude = fabs(value) * (double)scale + 0.5;
    /* a double this large is an integer, so %.0f is enough, which does not depend on the locale */
    if (magnitude >= 9e18) {
        snprintf(to, FORMAT_NUMBER_BYTES, "%.0f%s%.*s", value, decimals ? "." : "", decimals, "000000000");
        return to;
    }
    uint64_t units = (uint64_t)magnitude;
    const char *sign = negative && units ? "-" : "";
    if (decimals)
        snprintf(to, FORMAT_NUMBER_BYTES, "%s%llu.%0*llu", sign, (unsigned long long)(units / scale), decimals,
                 (unsigned long long)(units % scale));
    else
        snprintf(to, FORMAT_NUMBER_BYTES, "%s%llu", sign, (unsigned long long)units);
    return to;
}

/* Writes the decimal digits of `units`, at least `least` of them, so that the last one stands just before
 * `end`. Returns the address of the first digit. */
static char *format_put_digits(char *end, uint64_t units, int least)
{
    for (int place = 0; place < least || units; place++) {
        *--end = (char)('0' + units % 10);
        units /= 10;
    }
    return end;
}

/* Avoids printf for numbers of ordinary size, because blame writes millions of them. */
char *format_micro(char to[FORMAT_NUMBER_BYTES], double value)
{
    if (value == 0) {
        memcpy(to, "0.000000", 8);
        return to + 8;
    }
    double micro = fabs(value) * 1e6 + 0.5;
    if (!(micro < 1e18))
        return to + strlen(format_decimal(to, value, 6));
    uint64_t units = (uint64_t)micro;
    if (value < 0 && units)
        *to++ = '-';
    char digits[24], *end = digits + sizeof digits;
    char *first = format_put_digits(end, units / 1000000, 1);
    size_t whole = (size_t)(end - first);
    memcpy(to, first, whole);
    to[whole] = '.';
    format_put_digits(to + whole + 7, units % 1000000, 6);
    return to + whole + 7;
}

char *format_integer(char to[FORMAT_NUMBER_BYTES], uint64_t value)
{
    char digits[24], *end = digits + sizeof digits;
    char *first = format_put_digits(end, value, 1);
    memcpy(to, first, (size_t)(end - first));
    return to + (end - first);
}

void format_csv_number(FILE *out, double value)
{
    char number[FORMAT_NUMBER_BYTES];
    fwrite(number, 1, (size_t)(format_micro(number, value) - number), out);
}

/* Returns the length in bytes of the UTF-8 sequence at `text`, or 0 if the bytes there are not valid UTF-8
 * (RFC 3629). */
static size_t format_utf8_bytes(const unsigned char *text)
{
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (text[0] >= 0xf0 && text[0] < 0xf5)
        length = 4;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] >= 0xa0) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] >= 0x90))
        return 0;
    return length;
}

/* Returns whether the character at `text` could disturb a terminal: a control character, an invisible
 * character, or one that changes the direction of writing. */
static bool format_utf8_is_control(const unsigned char *text)
{
    if (text[0] == 0xe2 && text[1] == 0x80)
        return (text[2] >= 0x8b && text[2] <= 0x8f) || (text[2] >= 0xa8 && text[2] <= 0xae);
    if (text[0] == 0xe2 && text[1] == 0x81)
        return text[2] >= 0xa0 && text[2] <= 0xaf;
    return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0) ||
           (text[0] == 0xd8 && text[1] == 0x9c) || (text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf);
}

char *format_clean(const char *text, bool printable)
{
    const unsigned char *from = (const unsigned char *)text;
    char *clean = memory_array(3 * strlen(text) + 1, 1), *to = clean;
    while (*from) {
        size_t length = format_utf8_bytes(from);
        if (length == 0 || (printable && format_utf8_is_control(from))) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            from += length ? length : 1;
            continue;
        }
        memcpy(to, from, length);
        to += length;
        from += length;
    }
    *to = '\0';
    return clean;
}

char *format_escaped(const char *text, const char *also)
{
    const unsigned char *from = (const unsigned char *)text;
    char *escaped = memory_array(4 * strlen(text) + 1, 1), *to = escaped;
    while (*from) {
        size_t length = format_utf8_bytes(from);
        bool plain = length != 0 && !format_utf8_is_control(from) && *from != '\\' && !strchr(also, *from);
        for (size_t i = length ? length : 1; i > 0; i--, from++)
            if (plain)
                *to++ = (char)*from;
            else
                to += sprintf(to, "\\x%02x", *from);
    }
    *to = '\0';
    return escaped;
}

char *format_vprintable(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        memory_check(NULL);
    char *clean = format_clean(text, true);
    free(text);
    return clean;
}

char *format_printable(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *clean = format_vprintable(format, arguments);
    va_end(arguments);
    return clean;
}

bool format_csv_plain(const char *text)
{
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e || *text == '"' || *text == ',')
            return false;
    return true;
}

void format_csv_text(FILE *out, const char *text)
{
    if (format_csv_plain(text)) {
        fputs(text, out);
        return;
    }
    char *clean = format_clean(text, true); /* CSV files are often printed on a terminal */
    bool quoted = strpbrk(clean, "\",");
    if (quoted)
        putc('"', out);
    for (const char *at = clean; *at; at++) {
        if (*at == '"')
            putc('"', out);
        putc(*at, out);
    }
    if (quoted)
        putc('"', out);
    free(clean);
}

size_t format_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += (*text & 0xc0) != 0x80;
    return columns;
}

/* Returns the position `columns` code points after the start of `text`. */
static const char *format_utf8_skip_columns(const char *text, size_t columns)
{
    for (; *text && columns; columns--)
        do
            text++;
        while ((*text & 0xc0) == 0x80);
    return text;
}

void format_shorten(char *to, size_t to_bytes, const char *text, size_t columns, bool utf8)
{
    size_t length = format_columns(text);
    const char *mark = utf8 ? "\xe2\x80\xa6" : "...";
    size_t mark_columns = utf8 ? 1 : 3;
    if (length <= columns) {
        snprintf(to, to_bytes, "%s", text);
        return;
    }
    if (columns <= mark_columns) {
        snprintf(to, to_bytes, "%.*s", (int)(columns && utf8 ? strlen(mark) : columns), mark);
        return;
    }
    size_t kept = columns - mark_columns, tail = kept / 2;
    const char *head_end = format_utf8_skip_columns(text, kept - tail),
               *tail_start = format_utf8_skip_columns(text, length - tail);
    snprintf(to, to_bytes, "%.*s%s%s", (int)(head_end - text), text, mark, tail_start);
}

void format_bare_name(char *to, size_t bytes, const char *name)
{
    static const char nameless[] = "(anonymous namespace)::";
    size_t used = 0, depth = 0;
    bool whole = strstr(name, "operator") || *name == '<';
    for (; *name && used + 1 < bytes; name++) {
        if (!whole && strncmp(name, nameless, sizeof nameless - 1) == 0) {
            name += sizeof nameless - 2;
            continue;
        }
        if (!whole && depth == 0 && *name == '(')
            break;
        depth += !whole && *name == '<';
        if (depth == 0)
            to[used++] = *name;
        depth -= depth > 0 && *name == '>';
    }
    to[used] = '\0';
}

/* Returns a copy that can be printed on a terminal. The caller frees it. */
static char *format_clean_for_terminal(const char *text, bool utf8)
{
    char *clean = format_clean(text, true), *to = clean;
    for (const char *from = clean; !utf8 && *from; from++)
        if ((*from & 0x80) == 0)
            *to++ = *from;
        else if ((*from & 0xc0) != 0x80)
            *to++ = '?';
    if (!utf8)
        *to = '\0';
    return clean;
}

char *format_fit(const char *text, size_t columns, bool utf8)
{
    char *clean = format_clean_for_terminal(text, utf8);
    size_t bytes = strlen(clean) + 4;
    if (format_columns(clean) <= columns)
        return clean;
    char *shorter = memory_array(bytes, 1);
    format_shorten(shorter, bytes, clean, columns, utf8);
    free(clean);
    return shorter;
}

char *format_fit_head(const char *text, size_t columns, bool utf8)
{
    char *clean = format_clean_for_terminal(text, utf8);
    const char *mark = utf8 ? "\xe2\x80\xa6" : "...";
    size_t mark_columns = utf8 ? 1 : 3;
    if (format_columns(clean) <= columns)
        return clean;
    size_t kept = columns > mark_columns ? columns - mark_columns : 0;
    int bytes = (int)(format_utf8_skip_columns(clean, kept) - clean);
    char *shorter = memory_text("%.*s%s", bytes, clean, columns < mark_columns ? "" : mark);
    free(clean);
    return shorter;
}

const char *format_heat(double percent, bool colour)
{
    return !colour ? "" : percent >= 10 ? "\33[31m" : percent >= 2 ? "\33[33m" : "";
}

const char *format_strong(bool colour)
{
    return colour ? "\33[1m" : "";
}

const char *format_plain(bool colour)
{
    return colour ? "\33[0m" : "";
}

bool format_locale_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

size_t format_terminal_columns(FILE *out)
{
    struct winsize size = {0};
    size_t columns = 0;
    /* blame may have replaced stderr by a stream that filters or retries its output and has no file
     * descriptor */
    if (ioctl(out == stderr ? STDERR_FILENO : fileno(out), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0) {
        const char *variable = getenv("COLUMNS");
        long value = variable ? strtol(variable, NULL, 10) : 0;
        columns = value > 0 ? (size_t)value : 100;
    }
    return columns < 40 ? 40 : columns > 400 ? 400 : columns;
}

const char *format_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void format_paragraph(FILE *out, const char *text, size_t columns)
{
    format_indented(out, text, 0, columns);
}

void format_indented(FILE *out, const char *text, size_t indent, size_t columns)
{
    text += strspn(text, " ");
    fprintf(out, "%*s", *text ? (int)indent : 0, "");
    format_continued(out, text, indent, columns);
}

void format_continued(FILE *out, const char *text, size_t indent, size_t columns)
{
    size_t used = indent;
    bool first = true;
    for (text += strspn(text, " "); *text; text += strspn(text, " "), first = false) {
        size_t bytes = strcspn(text, " "), word = 0;
        for (size_t i = 0; i < bytes; i++)
            word += (text[i] & 0xc0) != 0x80;
        bool full = !first && used + 1 + word > columns;
        if (full)
            fprintf(out, "\n%*s", (int)indent, "");
        else if (!first)
            putc(' ', out);
        fprintf(out, "%.*s", (int)bytes, text);
        used = (full ? indent : used + !first) + word;
        text += bytes;
    }
    putc('\n', out);
}
