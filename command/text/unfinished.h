/* Unfinished files and directories. They are removed if their writer drops them, if the process exits, or if
 * a signal that can be caught ends the process. After SIGKILL, a path with `.part` in its name remains. */
#ifndef BLAME_COMMAND_TEXT_UNFINISHED_H
#define BLAME_COMMAND_TEXT_UNFINISHED_H

#include <stdbool.h>
#include <stdio.h>

/* Creates a file and opens it. The file's name contains the process number, so an existing file was left by a
 * killed process, and is replaced. Returns NULL, with errno, on failure. */
FILE *unfinished_file(const char *path);
/* Creates a directory. It counts as unfinished, with all its contents. Returns false, with errno, on failure. */
bool unfinished_directory(const char *path);
/* Creates a private directory. `path` ends in XXXXXX, which is replaced to make a unique name. Returns false,
 * with errno, on failure. */
bool unfinished_temporary(char *path);

/* Removes the path from the list of unfinished paths, because it is finished or renamed. */
void unfinished_keep(const char *path);
/* Removes the path at once. Preserves errno. */
void unfinished_remove(const char *path);

/* Delay signals until unfinished_release(), so that either all of several files are renamed, or none. */
void unfinished_hold(void);
void unfinished_release(void);

#endif
