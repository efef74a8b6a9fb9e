#include "unwind/maps.h"

#include <stddef.h>
#include <string.h>

#include "base/os.h"

static uint64_t maps_parse_number(const char **text, unsigned base)
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

static bool maps_skip_character(const char **text, char expected)
{
    if (**text != expected)
        return false;
    (*text)++;
    return true;
}

/* Replaces each \012 in a path by a newline, for which the kernel writes it. */
static void maps_restore_newlines(char *path)
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
    line->start = maps_parse_number(&at, 16);
    if (!maps_skip_character(&at, '-'))
        return false;
    line->end = maps_parse_number(&at, 16);
    if (!maps_skip_character(&at, ' ') || strlen(at) < 5)
        return false;
    line->readable = at[0] == 'r';
    line->executable = at[2] == 'x';
    at += 4;
    if (!maps_skip_character(&at, ' '))
        return false;
    line->offset = maps_parse_number(&at, 16);
    maps_skip_character(&at, ' ');
    uint64_t major = maps_parse_number(&at, 16);
    maps_skip_character(&at, ':');
    line->device = major << 32 | maps_parse_number(&at, 16);
    maps_skip_character(&at, ' ');
    line->inode = maps_parse_number(&at, 10);
    while (*at == ' ')
        at++;
    maps_restore_newlines(text + (at - text));
    line->path = at;
    return true;
}

/* Calls take() for each complete line in the buffer, and moves the rest to the front of the buffer. Returns
 * false if take() returned false. */
static bool maps_take_whole_lines(struct maps_reader *reader,
                                  bool (*take)(const struct maps_line *line, void *argument), void *argument)
{
    size_t begin = 0;
    bool going = true;
    for (char *end; going && (end = memchr(reader->buffer + begin, '\n', reader->used - begin));) {
        struct maps_line line;
        *end = '\0';
        if (!reader->dropping && maps_parse(reader->buffer + begin, &line))
            going = take(&line, argument);
        reader->dropping = false;
        begin = (size_t)(end - reader->buffer) + 1;
    }
    memmove(reader->buffer, reader->buffer + begin, reader->used - begin);
    reader->used -= begin;
    if (reader->used == sizeof(reader->buffer) - 1) { /* the line is longer than the buffer and is ignored */
        reader->used = 0;
        reader->dropping = true;
    }
    return going;
}

static bool maps_file_is_ours(const struct maps_reader *reader)
{
    uint64_t device, inode;
    return reader->fd >= 0 && os_file_id(reader->fd, &device, &inode) && device == reader->device &&
           inode == reader->inode;
}

/* Opens the file and reads its first lines. Returns false if there are none. */
static bool maps_open_file(struct maps_reader *reader, const char *path)
{
    reader->fd = os_move_high(os_open_read(path));
    ssize_t got = reader->fd >= 0 && os_file_id(reader->fd, &reader->device, &reader->inode)
                      ? os_read(reader->fd, reader->buffer, sizeof(reader->buffer) - 1)
                      : 0;
    reader->used = got > 0 ? (size_t)got : 0;
    if (got <= 0 && reader->fd >= 0)
        os_close(reader->fd);
    return got > 0;
}

bool maps_open(struct maps_reader *reader)
{
    reader->dropping = false;
    /* Emulators show the program's mappings only in /proc/self/maps. After the process's first thread has
     * ended, only /proc/thread-self/maps works. */
    if (maps_open_file(reader, "/proc/self/maps") || maps_open_file(reader, "/proc/thread-self/maps"))
        return true;
    reader->fd = -1;
    return false;
}

enum maps_status maps_go_on(struct maps_reader *reader, bool (*take)(const struct maps_line *line, void *argument),
                            void *argument)
{
    if (!maps_file_is_ours(reader))
        return MAPS_LOST;
    while (maps_take_whole_lines(reader, take, argument)) {
        ssize_t got = os_read(reader->fd, reader->buffer + reader->used, sizeof(reader->buffer) - 1 - reader->used);
        if (got <= 0)
            return got == 0 ? MAPS_END : MAPS_LOST;
        reader->used += (size_t)got;
    }
    return MAPS_STOPPED;
}

void maps_close(struct maps_reader *reader)
{
    if (maps_file_is_ours(reader))
        os_close(reader->fd);
    reader->fd = -1;
}

bool maps_read(bool (*take)(const struct maps_line *line, void *argument), void *argument)
{
    struct maps_reader reader;
    if (!maps_open(&reader))
        return false;
    enum maps_status status = maps_go_on(&reader, take, argument);
    maps_close(&reader);
    return status != MAPS_LOST;
}
