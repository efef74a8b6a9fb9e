/* Processes that are being measured, from outside: which file is whose. */
#ifndef BLAME_COMMAND_CLI_RUNNING_H
#define BLAME_COMMAND_CLI_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

struct running {
    pid_t pid;
    int file; /* its measurement, to be read and closed */
};

/* The measurement of a running process, or of the one below it that has one: who types `blame run ./app &` knows the number of
 * blame run. False after a message that names `text`, which the number was given as. */
bool running_find(const char *command, const char *text, struct running *running);

/* Whether the process still runs and measures into this file. */
bool running_measures(pid_t pid, const char *path);

#endif
