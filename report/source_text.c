#include "report/source_text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/grow.h"
#include "report/strings.h"

#define MOST_BYTES (32u << 20) /* no source file is longer */

struct source_file {
    const char *path; /* as debug information has it */
    char *bytes;      /* zeros where lines end; NULL: not found */
    size_t *line;     /* where each begins */
    size_t line_count, line_room;
    bool changed;
};

struct source_text {
    const char *directory;
    int64_t since;
    struct strings *paths; /* their ids are shifted by the empty one's */
    struct source_file *file;
    size_t count, room;
};

struct source_text *source_text_new(const char *directory, int64_t since)
{
    struct source_text *sources = calloc(1, sizeof *sources);
    if (!sources)
        return NULL;
    sources->directory = directory;
    sources->since = since;
    sources->paths = strings_new();
    if (sources->paths)
        return sources;
    free(sources);
    return NULL;
}

void source_text_free(struct source_text *sources)
{
    if (!sources)
        return;
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->file[i].bytes);
        free(sources->file[i].line);
    }
    free(sources->file);
    strings_free(sources->paths);
    free(sources);
}

static bool read_whole(int descriptor, struct source_file *file, size_t bytes)
{
    size_t done = 0;
    file->bytes = malloc(bytes + 1);
    for (ssize_t got = 1; file->bytes && got > 0 && done < bytes;) {
        got = read(descriptor, file->bytes + done, bytes - done);
        done += got > 0 ? (size_t)got : 0;
    }
    if (!file->bytes)
        return false;
    file->bytes[done] = '\0';
    for (size_t at = 0; at < done;) {
        if (!grow_list(&file->line, &file->line_room, file->line_count, sizeof *file->line))
            return false;
        file->line[file->line_count++] = at;
        char *end = memchr(file->bytes + at, '\n', done - at);
        if (!end)
            break;
        *end = '\0';
        at = (size_t)(end - file->bytes) + 1;
    }
    return true;
}

/* A device or a pipe would hang us. */
static bool read_at(struct source_file *file, const char *path, int64_t since)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool good = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_size >= 0 && status.st_size <= MOST_BYTES;
    good = good && read_whole(descriptor, file, (size_t)status.st_size);
    if (good)
        file->changed = status.st_mtime > since;
    if (descriptor >= 0)
        close(descriptor);
    return good;
}

/* Below the directory by the longest end of the path that is there: moved trees keep their shape. */
static bool read_below(struct source_file *file, const char *directory, int64_t since)
{
    char path[PATH_MAX];
    for (const char *tail = file->path; tail; tail = strchr(tail, '/')) {
        tail += strspn(tail, "/");
        if (snprintf(path, sizeof path, "%s/%s", directory, tail) < (int)sizeof path &&
            read_at(file, path, since))
            return true;
    }
    return false;
}

static struct source_file *find_file(struct source_text *sources, const char *path)
{
    uint32_t id = strings_intern(sources->paths, path);
    if (id == 0)
        return NULL;
    if (id <= sources->count)
        return &sources->file[id - 1];
    if (!grow_list(&sources->file, &sources->room, sources->count, sizeof *sources->file))
        return NULL;
    struct source_file *file = &sources->file[sources->count++];
    *file = (struct source_file){.path = strings_text(sources->paths, id)};
    if ((sources->directory && read_below(file, sources->directory, sources->since)) ||
        read_at(file, path, sources->since))
        return file;
    free(file->bytes);
    file->bytes = NULL;
    return file;
}

const char *source_text_line(struct source_text *sources, const char *path, int line)
{
    struct source_file *file = find_file(sources, path);
    if (!file || !file->bytes || line < 1 || (size_t)line > file->line_count)
        return NULL;
    char *text = file->bytes + file->line[line - 1];
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\t')
            *at = ' ';
    return text;
}

size_t source_text_missing(const struct source_text *sources, const char **first)
{
    size_t count = 0;
    *first = NULL;
    for (size_t i = 0; i < sources->count; i++)
        if (!sources->file[i].bytes && count++ == 0)
            *first = sources->file[i].path;
    return count;
}

size_t source_text_changed(const struct source_text *sources, const char **first)
{
    size_t count = 0;
    *first = NULL;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->file[i].changed && count++ == 0)
            *first = sources->file[i].path;
    return count;
}
