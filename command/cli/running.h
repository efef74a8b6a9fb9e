/* Running processes that are being measured, and their files. */
#ifndef BLAME_COMMAND_CLI_RUNNING_H
#define BLAME_COMMAND_CLI_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

struct running {
    pid_t pid;
    int file; /* descriptor of its measurement; the caller closes it */
};

/* Finds the measurement of a running process, or of a measured one that it has started: users may know only
 * the number of blame run. Returns false after a message that names `text`, the number as the user gave it. */
bool running_find(const char *command, const char *text, struct running *running);

/* Returns whether the process still runs and measures into this file. */
bool running_measures(pid_t pid, const char *path);

#endif
