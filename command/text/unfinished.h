/* Unfinished files and directories. They are removed if their writer drops them, if the process exits, or if
 * a signal that can be caught ends the process. After SIGKILL a name with `.part` remains. */
#ifndef BLAME_COMMAND_TEXT_UNFINISHED_H
#define BLAME_COMMAND_TEXT_UNFINISHED_H

#include <stdbool.h>
#include <stdio.h>

/* Creates a file and opens it. The name contains the process's number, so an existing file was left by a
 * killed process and is replaced. Returns NULL with errno if it fails. */
FILE *unfinished_file(const char *path);
/* Creates a directory, which counts as unfinished with its contents. Returns false with errno if it fails. */
bool unfinished_directory(const char *path);
/* Creates a private directory. The path ends in XXXXXX, which is replaced by a unique name. */
bool unfinished_temporary(char *path);

/* Marks the path as finished, or as renamed already. */
void unfinished_keep(const char *path);
/* Removes the path at once. Preserves errno. */
void unfinished_remove(const char *path);

/* Delay ending signals until unfinished_release(), so that of several files either all are renamed or none. */
void unfinished_hold(void);
void unfinished_release(void);

#endif
