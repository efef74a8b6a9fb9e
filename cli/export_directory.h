/* Where a command writes several files: a directory that appears whole or not at all. */
#ifndef BLAME_CLI_EXPORT_DIRECTORY_H
#define BLAME_CLI_EXPORT_DIRECTORY_H

#include <stdbool.h>

struct out_directory {
    const char *command;
    char *path, *temporary; /* files are written into temporary */
};

/* false after a message: nothing is overwritten, not even an empty directory. */
bool out_directory_open(struct out_directory *directory, const char *command, const char *path);
/* When it could not be written nothing is left, and a message says why; good: false if errno is as the failed write
 * left it. Returns an exit status of cli/cli.h. */
int out_directory_close(struct out_directory *directory, bool good);
/* Leaves nothing of it. */
void out_directory_drop(struct out_directory *directory);

#endif
