#include "unwind/maps.h"

#include <stddef.h>
#include <string.h>

#include "base/os.h"

static uint64_t parse_number(const char **text, unsigned base)
{
    uint64_t value = 0;
    for (;; (*text)++) {
        char c = **text;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

static bool skip(const char **text, char expected)
{
    if (**text != expected)
        return false;
    (*text)++;
    return true;
}

/* The kernel writes a newline in a path as \\012. */
static void restore_newlines(char *path)
{
    char *to = path;
    for (const char *from = path; *from; to++) {
        bool newline = from[0] == '\\' && from[1] == '0' && from[2] == '1' && from[3] == '2';
        *to = newline ? '\n' : *from;
        from += newline ? 4 : 1;
    }
    *to = '\0';
}

bool maps_parse(char *text, struct maps_line *line)
{
    const char *at = text;
    line->start = parse_number(&at, 16);
    if (!skip(&at, '-'))
        return false;
    line->end = parse_number(&at, 16);
    if (!skip(&at, ' ') || strlen(at) < 5)
        return false;
    line->readable = at[0] == 'r';
    line->executable = at[2] == 'x';
    at += 4;
    if (!skip(&at, ' '))
        return false;
    line->offset = parse_number(&at, 16);
    skip(&at, ' ');
    uint64_t major = parse_number(&at, 16);
    skip(&at, ':');
    line->device = major << 32 | parse_number(&at, 16);
    skip(&at, ' ');
    line->inode = parse_number(&at, 10);
    while (*at == ' ')
        at++;
    restore_newlines(text + (at - text));
    line->path = at;
    return true;
}

bool maps_read(bool (*take)(const struct maps_line *line, void *argument), void *argument)
{
    char buffer[2048]; /* a longer path is cut; the rest of its line is dropped */
    int fd = os_open_read("/proc/self/maps");
    if (fd < 0)
        return false;
    size_t used = 0;
    bool going = true, dropping = false;
    while (going) {
        ssize_t got = os_read(fd, buffer + used, sizeof(buffer) - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
        size_t begin = 0;
        for (char *end; going && (end = memchr(buffer + begin, '\n', used - begin));) {
            struct maps_line line;
            *end = '\0';
            if (!dropping && maps_parse(buffer + begin, &line))
                going = take(&line, argument);
            dropping = false;
            begin = (size_t)(end - buffer) + 1;
        }
        memmove(buffer, buffer + begin, used - begin);
        used -= begin;
        if (used == sizeof(buffer) - 1) {
            used = 0;
            dropping = true;
        }
    }
    os_close(fd);
    return true;
}
