/* `blame run --stacks`: a process that reads the growing measurements and writes the log of stacks
 * (docs/time-and-traces.md). */
#ifndef BLAME_COMMAND_CLI_FOLLOW_H
#define BLAME_COMMAND_CLI_FOLLOW_H

#include <sys/types.h>

struct follower {
    pid_t pid; /* 0: there is none */
    int end;   /* descriptor; closing it means that the program has ended */
};

/* Starts the process, before the program, or prints a message if it cannot. notes: the list of profiles.
 * output: NULL for a log beside each measurement. */
void follow_start(struct follower *follower, const char *notes, const char *output);

/* Waits until all logs are complete. */
void follow_end(struct follower *follower);

#endif
