#include "cli/export_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "report/text/memory.h"
#include "report/text/unfinished.h"

static bool complain(const struct out_directory *directory, int why)
{
    fprintf(stderr, "blame %s: %s: %s; nothing was written: give a directory that is not there yet by --output\n", directory->command,
            directory->path, why ? strerror(why) : "cannot be written");
    return false;
}

static void free_names(struct out_directory *directory)
{
    free(directory->path);
    free(directory->temporary);
}

bool out_directory_open(struct out_directory *directory, const char *command, const char *path)
{
    struct stat status;
    *directory = (struct out_directory){.command = command, .path = memory_text("%s", path)};
    for (size_t end = strlen(path); end > 1 && directory->path[end - 1] == '/'; end--)
        directory->path[end - 1] = '\0';
    directory->temporary = memory_text("%s.%ld.part", directory->path, (long)getpid());
    bool there = lstat(directory->path, &status) == 0;
    if (there || !unfinished_directory(directory->temporary)) {
        complain(directory, there ? EEXIST : errno);
        free_names(directory);
        return false;
    }
    return true;
}

void out_directory_drop(struct out_directory *directory)
{
    unfinished_remove(directory->temporary);
    free_names(directory);
}

int out_directory_close(struct out_directory *directory, bool good)
{
    int why = errno;
    /* What appeared meanwhile is not replaced. A file system that cannot promise that replaces empty directories at most. */
    if (good && renameat2(AT_FDCWD, directory->temporary, AT_FDCWD, directory->path, RENAME_NOREPLACE) != 0)
        good = errno == EINVAL && rename(directory->temporary, directory->path) == 0, why = errno;
    if (!good)
        complain(directory, why);
    out_directory_drop(directory);
    return good ? CLI_DONE : CLI_BAD_INPUT;
}
