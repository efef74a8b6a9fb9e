#include "report/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a path leaves the folder it starts in. */
static bool climbs(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            return true;
    }
    return false;
}

/* O_NONBLOCK: nobody may ever write into what turns out to be a pipe. */
static int open_path(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* The first of the path's ends, the longest first, that is below the folder. */
static int open_below(const char *source_dir, const char *path)
{
    int descriptor = -1;
    for (const char *end = path; end && descriptor < 0; end = strchr(end, '/')) {
        char *below;
        end += strspn(end, "/");
        if (climbs(end) || !*end)
            continue;
        if (asprintf(&below, "%s/%s", source_dir, end) < 0) {
            errno = ENOMEM;
            return -1;
        }
        descriptor = open_path(below);
        free(below);
    }
    return descriptor;
}

/* Reads all there is; false with errno, which is 0 if the file ended too early. */
static bool read_all(int descriptor, char *to, size_t bytes)
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

static const char *read_text(struct source_file *file, int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a file";
    if (status.st_size > SOURCE_FILE_BYTES)
        return "too large";
    file->bytes = (size_t)status.st_size;
    bool far = status.st_mtim.tv_sec >= INT64_MAX / 1000000000; /* a clock that was wrong */
    file->changed_ns = far ? INT64_MAX : (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    file->text = calloc(file->bytes + 1, 1);
    if (!file->text)
        return strerror(ENOMEM);
    if (!read_all(descriptor, file->text, file->bytes))
        return errno ? strerror(errno) : "cannot be read whole";
    return memchr(file->text, 0, file->bytes) ? "not a text" : NULL;
}

bool source_file_read(struct source_file *file, const char *path, const char *source_dir, const char **why)
{
    *file = (struct source_file){0};
    /* A path whose folder debug information does not say may start where the user stands. */
    bool usable = *path == '/' || !climbs(path);
    int descriptor = source_dir ? open_below(source_dir, path) : -1;
    if (descriptor < 0 && usable)
        descriptor = open_path(path);
    *why = descriptor >= 0 ? NULL : usable ? strerror(errno) : "its path is relative";
    if (descriptor >= 0) {
        *why = read_text(file, descriptor);
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
