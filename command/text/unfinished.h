/* Files and directories that are being written. What is not kept goes: when its writer drops it, when the process ends by exit in
 * the midst of it, and when one of the signals ends it that end a process and can be caught. SIGKILL cannot: a name with `.part` stays then. */
#ifndef BLAME_COMMAND_TEXT_UNFINISHED_H
#define BLAME_COMMAND_TEXT_UNFINISHED_H

#include <stdbool.h>
#include <stdio.h>

/* A new file, whose name has the process's number: what is there by that name is left of one that was killed, and goes. NULL with errno. */
FILE *unfinished_file(const char *path);
/* A new directory, with what will be in it; false with errno. */
bool unfinished_directory(const char *path);
/* The same of a name that ends in XXXXXX, which are replaced, for its owner alone. */
bool unfinished_temporary(char *path);

/* It is no longer unfinished, or has another name by now. */
void unfinished_keep(const char *path);
/* It goes at once. errno stays. */
void unfinished_remove(const char *path);

/* From one to the other no signal ends the process: of several files none is renamed without the others. */
void unfinished_hold(void);
void unfinished_release(void);

#endif
