#include "command/text/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/text/memory.h"
#include "command/text/strings.h"

/* ---- the file ---- */

/* Debug information names the source files that these functions read. */

/* maximum size in bytes of a source file that is read */
#define SOURCE_FILE_BYTES (16u << 20)

/* Returns whether a relative path contains a "..", which may lead out of the directory where the path starts. */
static bool source_path_leaves_directory(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            return true;
    }
    return false;
}

/* Opens a path for reading. O_NONBLOCK keeps open() from waiting if the path is a pipe that nobody writes to. */
static int source_open_path(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Looks for a file in source_dir by the whole path, then by the path without its first component, and so on.
 * Opens the first file that exists. Returns -1 if none does. */
static int source_open_below(const char *source_dir, const char *path)
{
    int descriptor = -1;
    for (const char *end = path; end && descriptor < 0; end = strchr(end, '/')) {
        end += strspn(end, "/");
        if (source_path_leaves_directory(end) || !*end)
            continue;
        char *below = memory_text("%s/%s", source_dir, end);
        descriptor = source_open_path(below);
        free(below);
    }
    return descriptor;
}

/* Reads exactly `bytes` bytes. Returns false and sets errno on failure; errno is 0 if the file ended too
 * early. */
static bool source_read_all(int descriptor, char *to, size_t bytes)
{
    while (bytes) {
        ssize_t got = read(descriptor, to, bytes);
        if (got <= 0) {
            errno = got ? errno : 0;
            return false;
        }
        to += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* suffixes of files in C, C++, CUDA, HIP, Fortran, Rust, Go, D, Pascal, Julia, OpenCL, assembly, and the
 * inputs and outputs of code generators */
static const char *const suffixes[] = {
    "c",   "h",   "cc",  "cp",  "cxx", "cpp", "c++", "hh",  "hp",  "hxx", "hpp", "h++", "inc", "inl",
    "ipp", "tcc", "tpp", "txx", "ixx", "def", "x",   "i",   "ii",  "m",   "mm",  "cu",  "cuh", "hip",
    "f",   "for", "ftn", "fpp", "f77", "f90", "f95", "f03", "f08", "f18", "cuf", "rs",  "go",  "d",
    "pas", "pp",  "jl",  "cl",  "s",   "asm", "y",   "yy",  "l",   "ll",  "rl",  "re",  "pyx", "pxd",
};

/* Returns whether the path looks like that of a source file: its suffix is in the list, or it is a C++
 * standard header, such as .../include/c++/12/vector, which has no suffix. */
static bool source_path_has_source_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (size_t i = 0; dot > name && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(dot + 1, suffixes[i]) == 0)
            return true;
    return !dot && strstr(path, "/include/c++/");
}

static bool source_path_is_below(const char *path, const char *folder)
{
    char *real = folder ? realpath(folder, NULL) : NULL;
    size_t bytes = real ? strlen(real) : 0;
    bool below = bytes && strncmp(path, real, bytes) == 0 && (path[bytes] == '/' || bytes == 1);
    free(real);
    return below;
}

/* Finds the path of an open file, with all symbolic links resolved. Returns false if /proc does not show the
 * path. */
static bool source_real_path(int descriptor, char *path, size_t bytes)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, bytes - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool source_shown_to_others(FILE *out)
{
    struct stat status;
    return fstat(fileno(out), &status) != 0 || (status.st_mode & S_IROTH);
}

/* Returns why a report must not show the file, or NULL if it may. */
static const char *source_why_refused(const char *called, const char *source_dir, int descriptor, bool for_others)
{
    char path[PATH_MAX];
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a file";
    if (!source_real_path(descriptor, path, sizeof path) ||
        !(source_path_is_below(path, source_dir) ||
          (source_path_has_source_name(called) && source_path_has_source_name(path))))
        return "its name is not that of a source file";
    return for_others && !(status.st_mode & S_IROTH) ? "others may read this output, but not the source" : NULL;
}

static const char *source_file_fill(struct source_file *file, int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return strerror(errno);
    if (status.st_size > SOURCE_FILE_BYTES)
        return "too large";
    file->bytes = (size_t)status.st_size;
    /* the time does not fit into int64_t ns; a wrong clock must have set it */
    bool far = status.st_mtim.tv_sec >= INT64_MAX / 1000000000;
    file->changed_ns = far ? INT64_MAX : (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    file->text = memory_array(file->bytes + 1, 1);
    if (!source_read_all(descriptor, file->text, file->bytes))
        return errno ? strerror(errno) : "it became shorter while blame was reading it";
    return memchr(file->text, 0, file->bytes) ? "not a text" : NULL;
}

bool source_file_read(struct source_file *file, const char *path, const char *source_dir, bool for_others,
                      const char **why)
{
    *file = (struct source_file){0};
    /* A relative path starts in the directory where the compiler ran. That directory is unknown here, so the
     * current directory is tried. */
    bool usable = *path == '/' || !source_path_leaves_directory(path);
    int descriptor = source_dir ? source_open_below(source_dir, path) : -1;
    if (descriptor < 0 && usable)
        descriptor = source_open_path(path);
    *why = descriptor >= 0 ? NULL : usable ? strerror(errno) : "its path is relative";
    if (descriptor >= 0) {
        *why = source_why_refused(path, source_dir, descriptor, for_others);
        *why = *why ? *why : source_file_fill(file, descriptor);
        close(descriptor);
    }
    if (*why)
        source_file_free(file);
    return !*why;
}

void source_file_free(struct source_file *file)
{
    free(file->text);
    *file = (struct source_file){0};
}

/* ---- lines of a file ---- */

struct text_file {
    const char *path;        /* path as debug information has it */
    struct source_file read; /* contents; `text` is NULL if the file could not be read */
    size_t *line;            /* for each line, the offset of its first byte in the text */
    size_t line_count, line_room;
};

struct source_text {
    const char *directory;
    bool for_others;
    int64_t since_ns;
    struct strings *paths; /* interned paths; the path with id N is that of file[N - 1], and id 0 is "" */
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

/* Replaces each newline by a zero byte, and records where each line starts. */
static void source_text_split_lines(struct text_file *file)
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

static struct text_file *source_text_find_file(struct source_text *sources, const char *path)
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
        source_text_split_lines(file);
    return file;
}

const char *source_text_line(struct source_text *sources, const char *path, int line)
{
    struct text_file *file = source_text_find_file(sources, path);
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
        if (sources->file[i].read.text && sources->file[i].read.changed_ns > sources->since_ns && count++ == 0)
            *first = sources->file[i].path;
    return count;
}
