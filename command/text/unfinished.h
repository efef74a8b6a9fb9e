/* Unfinished files and directories: output that must not be mistaken for a complete result. It is removed if
 * the writer gives up, if the process exits, or if the process is ended by a signal that can be caught. After
 * SIGKILL, a path with `.part` in its name remains. */
#ifndef BLAME_COMMAND_TEXT_UNFINISHED_H
#define BLAME_COMMAND_TEXT_UNFINISHED_H

#include <stdbool.h>
#include <stdio.h>

/* Creates and opens an unfinished file. Its name contains the process id, so a file that already has this
 * name was left by a killed process and is replaced. Returns NULL and sets errno on failure. */
FILE *unfinished_file(const char *path);
/* Creates an unfinished directory. Until unfinished_keep(), all its contents count as unfinished too. Returns
 * false and sets errno on failure. */
bool unfinished_directory(const char *path);
/* Creates an unfinished directory that only the user can access. `path` ends in XXXXXX, which is replaced by
 * characters that make the name unique. Returns false and sets errno on failure. */
bool unfinished_temporary(char *path);

/* Marks the path as finished, or as renamed, so that it is no longer removed at exit. */
void unfinished_keep(const char *path);
/* Removes the unfinished path from the file system. Preserves errno. */
void unfinished_remove(const char *path);

/* Delay signals until unfinished_release(). A program that renames several files between the two calls is not
 * stopped after only some of them. */
void unfinished_hold(void);
void unfinished_release(void);

#endif
