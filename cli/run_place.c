#include "cli/run_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "report/text/format.h"

/* Returns whether path is an existing folder that gets the default name inside: it ends in a slash, or is . or .. */
static bool is_place(const char *path)
{
    struct stat st;
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The folder that must be there. Patterns are not known before the program runs: folders that they name are made. */
static void find_folder(const char *out, char *folder, size_t bytes)
{
    size_t length = strcspn(out, "%");
    bool inside = !out[length] && is_place(out);
    while (!out[length] && length > 1 && out[length - 1] == '/')
        length--;
    while (!inside && length > 0 && out[length - 1] != '/')
        length--;
    while (length > 1 && out[length - 1] == '/')
        length--;
    snprintf(folder, bytes, "%.*s", length ? (int)length : 1, length ? out : ".");
}

/* Tries it: permissions alone do not tell what a read-only file system or /proc refuses. In a sandbox that refuses the call itself
 * nothing is known, and the program runs. False with errno. */
static bool can_make_folder_in(const char *folder)
{
    char path[PATH_MAX + 32];
    bool sandbox = mkdir("", 0700) != 0 && errno != ENOENT;
    snprintf(path, sizeof path, "%s/.blame-run-XXXXXX", folder);
    if (!mkdtemp(path))
        return sandbox;
    rmdir(path);
    return true;
}

/* Returns what is wrong with the place, malloc'ed; NULL: nothing is known to be. */
static char *fault_of(const char *out)
{
    char folder[PATH_MAX];
    struct stat st;
    if (lstat(out, &st) != 0 && (errno == ENAMETOOLONG || errno == ENOTDIR || errno == ELOOP))
        return format_printable("no directory can have this name: %s; give another one", strerror(errno));
    if (stat(out, &st) == 0 && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return format_printable("is a device or a pipe; give the name of a directory");
    find_folder(out, folder, sizeof folder);
    if (can_make_folder_in(folder))
        return NULL;
    if (errno == ENOENT && stat(folder, &st) != 0)
        return format_printable("there is no folder %s; make it, or give another place", folder);
    return format_printable("no directory can be made in %s: %s; give another place", folder, strerror(errno));
}

bool run_place_is_there(const char *typed)
{
    const char *given = getenv("BLAME_OUT"), *disable = getenv("BLAME_DISABLE");
    if (disable && strcmp(disable, "1") == 0)
        return true;
    char *fault = fault_of(given ? given : "blame");
    if (fault && launcher_speaks()) {
        char *line = typed   ? format_printable("blame run: --out %s: %s", typed, fault)
                     : given ? format_printable("blame run: BLAME_OUT=%s: %s", given, fault)
                             : format_printable("blame run: %s (--out DIR)", fault);
        fprintf(stderr, "%s\n", line);
        free(line);
    }
    free(fault);
    return !fault;
}
