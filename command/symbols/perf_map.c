#include "command/symbols/perf_map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* maximum number of bytes that are read of a map; the rest is ignored */
#define MAX_BYTES ((size_t)256 << 20)
/* tolerance for times in ns: the start of a process is known to 5 ms, and the time of a file can be one clock
 * tick late */
#define UNSURE_NS 20000000
#define MAX_CODE  (1u << 22) /* maximum number of lines that are read */
#define MAX_NAME  1023u      /* maximum length of a name; longer names are truncated */
/* maximum number of entries examined for one address; several contain it if code was replaced by other code */
#define MAX_STEPS 4096u

struct mapped_code {
    /* range of addresses, and the largest `end` of this entry and of all entries before it */
    uint64_t start, end, furthest;
    const char *name;
    uint32_t line;
};

struct perf_map {
    char *text;
    struct mapped_code *code; /* entries, sorted by start, then by line number */
    size_t count, room;
};

static bool symbols_perf_map_is_owners(int file, uid_t owner, int64_t from_ns, int64_t until_s, size_t *bytes)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != owner || status.st_mtime > until_s ||
        status.st_mtime < (from_ns - UNSURE_NS) / 1000000000)
        return false;
    *bytes = (size_t)status.st_size < MAX_BYTES ? (size_t)status.st_size : MAX_BYTES;
    return true;
}

/* Reads the text of a map, at most *bytes bytes, and appends a zero byte. Sets *bytes to the number of bytes
 * read. */
static char *symbols_perf_map_text(int file, size_t *bytes)
{
    char *text = malloc(*bytes + 1);
    size_t used = 0;
    for (ssize_t got = 1; text && used < *bytes && got > 0; used += got > 0 ? (size_t)got : 0)
        got = read(file, text + used, *bytes - used);
    if (text)
        text[ *bytes = used] = '\0';
    return text;
}

/* Reads a hexadecimal number and the blank that follows it. */
static bool symbols_perf_map_take_number(char **at, uint64_t *number)
{
    char *text = *at, *end;
    if (!strchr("0123456789abcdefABCDEF", *text) || !*text)
        return false;
    *number = strtoull(text, &end, 16);
    *at = end + 1;
    return *end == ' ';
}

static bool symbols_perf_map_take_line(char *line, struct mapped_code *code)
{
    uint64_t size;
    if (!symbols_perf_map_take_number(&line, &code->start) || !symbols_perf_map_take_number(&line, &size) || !size ||
        code->start + size < code->start || !*line)
        return false;
    size_t length = strlen(line);
    line[length < MAX_NAME ? length : MAX_NAME] = '\0';
    code->end = code->start + size;
    code->name = line;
    return true;
}

static bool symbols_perf_map_add(struct perf_map *map, const struct mapped_code *code)
{
    if (map->count == map->room) {
        size_t room = map->room ? 2 * map->room : 1024;
        struct mapped_code *more = realloc(map->code, room * sizeof *more);
        if (!more)
            return false;
        map->code = more;
        map->room = room;
    }
    map->code[map->count++] = *code;
    return true;
}

static int symbols_perf_map_code_order(const void *left, const void *right)
{
    const struct mapped_code *a = left, *b = right;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start)
                                : (a->line > b->line) - (a->line < b->line);
}

static void symbols_perf_map_take_lines(struct perf_map *map, size_t bytes)
{
    char *end = map->text + bytes;
    uint64_t furthest = 0;
    uint32_t number = 0;
    for (char *line = map->text, *next; line < end && number < MAX_CODE; line = next) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        struct mapped_code code = {.line = number++};
        next = stop ? stop + 1 : end;
        if (stop) /* the last line is incomplete if the process is still writing it */
            *stop = '\0';
        if (stop && symbols_perf_map_take_line(line, &code) && !symbols_perf_map_add(map, &code))
            break;
    }
    if (map->count)
        qsort(map->code, map->count, sizeof *map->code, symbols_perf_map_code_order);
    for (size_t i = 0; i < map->count; i++) {
        furthest = map->code[i].end > furthest ? map->code[i].end : furthest;
        map->code[i].furthest = furthest;
    }
}

struct perf_map *symbols_perf_map_read(const char *path, uid_t owner, int64_t from_ns, int64_t until_s)
{
    size_t bytes = 0;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    struct perf_map *map =
        symbols_perf_map_is_owners(file, owner, from_ns, until_s, &bytes) ? calloc(1, sizeof *map) : NULL;
    if (map)
        map->text = symbols_perf_map_text(file, &bytes);
    close(file);
    if (map && map->text)
        symbols_perf_map_take_lines(map, bytes);
    return map;
}

void symbols_perf_map_free(struct perf_map *map)
{
    if (!map)
        return;
    free(map->code);
    free(map->text);
    free(map);
}

const char *symbols_perf_map_name(const struct perf_map *map, uint64_t address)
{
    const struct mapped_code *found = NULL;
    size_t low = 0, high = map ? map->count : 0;
    while (low < high) { /* find the first entry that starts after the address */
        size_t middle = (low + high) / 2;
        if (map->code[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (unsigned steps = 0; low > 0 && steps < MAX_STEPS && map->code[low - 1].furthest > address; steps++) {
        const struct mapped_code *code = &map->code[--low];
        if (address < code->end && (!found || code->line > found->line))
            found = code;
    }
    return found ? found->name : NULL;
}
