#include "report/text/source_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"
#include "report/text/source_file.h"
#include "report/text/strings.h"

struct text_file {
    const char *path;        /* as debug information has it */
    struct source_file read; /* its text is NULL: not found */
    size_t *line;            /* where each begins */
    size_t line_count, line_room;
};

struct source_text {
    const char *directory;
    bool for_others;
    int64_t since_ns;
    struct strings *paths; /* their ids are shifted by the empty one's */
    struct text_file *file;
    size_t count, room;
};

struct source_text *source_text_new(const char *directory, bool for_others, int64_t since_ns)
{
    struct source_text *sources = memory_array(1, sizeof *sources);
    sources->directory = directory;
    sources->for_others = for_others;
    sources->since_ns = since_ns;
    sources->paths = strings_new();
    return sources;
}

void source_text_free(struct source_text *sources)
{
    if (!sources)
        return;
    for (size_t i = 0; i < sources->count; i++) {
        source_file_free(&sources->file[i].read);
        free(sources->file[i].line);
    }
    free(sources->file);
    strings_free(sources->paths);
    free(sources);
}

/* Zeros where lines end, and a list of where they begin. */
static void split_lines(struct text_file *file)
{
    char *begin = file->read.text, *behind = begin + file->read.bytes;
    for (char *at = begin, *end; at < behind; at = end + 1) {
        memory_grow(&file->line, &file->line_room, file->line_count, sizeof *file->line);
        file->line[file->line_count++] = (size_t)(at - begin);
        end = memchr(at, '\n', (size_t)(behind - at));
        end = end ? end : behind;
        *end = '\0';
    }
}

static struct text_file *find_file(struct source_text *sources, const char *path)
{
    uint32_t id = strings_intern(sources->paths, path);
    if (id == 0)
        return NULL;
    if (id <= sources->count)
        return &sources->file[id - 1];
    memory_grow(&sources->file, &sources->room, sources->count, sizeof *sources->file);
    struct text_file *file = &sources->file[sources->count++];
    *file = (struct text_file){.path = strings_text(sources->paths, id)};
    const char *why;
    if (source_file_read(&file->read, path, sources->directory, sources->for_others, &why))
        split_lines(file);
    return file;
}

const char *source_text_line(struct source_text *sources, const char *path, int line)
{
    struct text_file *file = find_file(sources, path);
    if (!file || !file->read.text || line < 1 || (size_t)line > file->line_count)
        return NULL;
    char *text = file->read.text + file->line[line - 1];
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
        if (!sources->file[i].read.text && count++ == 0)
            *first = sources->file[i].path;
    return count;
}

size_t source_text_changed(const struct source_text *sources, const char **first)
{
    size_t count = 0;
    *first = NULL;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->file[i].read.text && sources->file[i].read.changed_ns > sources->since_ns &&
            count++ == 0)
            *first = sources->file[i].path;
    return count;
}
