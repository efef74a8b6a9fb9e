/* Finds running processes that are being measured, and their measurement files. */
#ifndef BLAME_COMMAND_CLI_RUNNING_H
#define BLAME_COMMAND_CLI_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

struct running {
    pid_t pid;
    int file; /* descriptor of the measurement file; the caller closes it */
};

/* Finds the measurement of a running process, or of a process that it has started: users may know only the
 * pid of blame run. `text` is the pid as the user typed it. Returns false after a message. */
bool running_find(const char *command, const char *text, struct running *running);

/* Returns whether the process is running and its measurement is this file. */
bool running_measures(pid_t pid, const char *path);

#endif
