/* `blame run --stacks`: the log of stacks (docs/time-and-traces.md) of what runs, while it runs, by a process of its own that reads the measurements as they grow. */
#ifndef BLAME_COMMAND_CLI_FOLLOW_H
#define BLAME_COMMAND_CLI_FOLLOW_H

#include <sys/types.h>

struct follower {
    pid_t pid; /* 0: there is none */
    int end;   /* closed, it tells the process that the program has ended */
};

/* notes: the list of profiles; output: NULL: beside each measurement. Before the program is started. A message where it cannot be had. */
void follow_start(struct follower *follower, const char *notes, const char *output);

/* Waits until all is written. */
void follow_end(struct follower *follower);

#endif
