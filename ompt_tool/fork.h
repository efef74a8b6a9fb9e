/* Forks: the child starts a measurement of its own, but only with its first OpenMP event, so that a fork that
 * is followed by exec leaves no trace. */
#ifndef BLAME_OMPT_TOOL_FORK_H
#define BLAME_OMPT_TOOL_FORK_H

#include <stdbool.h>

struct thread;

/* Registers what is to happen around fork(). [init] */
void fork_init(void);

/* True in a child that has not started to measure. [any] */
bool fork_child_waits(void);

/* Starts the child's measurement and attaches the calling thread; NULL when that fails. [owner] */
struct thread *fork_child_attach(void);

#endif
