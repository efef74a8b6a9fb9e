/* `blame run --stacks`: a process that reads the measurements while they grow, and writes the log of stacks
 * (docs/time-and-traces.md). */
#ifndef BLAME_COMMAND_CLI_FOLLOW_H
#define BLAME_COMMAND_CLI_FOLLOW_H

#include <sys/types.h>

struct follower {
    pid_t pid; /* 0: not started */
    int end;   /* write end of a pipe; closing it tells the process that the program has ended */
};

/* Starts the process. Call this before the program starts. Prints a message on failure. `notes` is the path
 * of the list of profiles (run_notes.h). `output` is the path of the log; NULL: a log beside each
 * measurement. */
void follow_start(struct follower *follower, const char *notes, const char *output);

/* Tells the process that the program has ended, and waits until all logs are complete. */
void follow_end(struct follower *follower);

#endif
