/* Forks. A child starts a measurement of its own, but only at its first OpenMP event: a fork that is followed
 * by exec leaves no trace. */
#ifndef BLAME_OMPT_TOOL_LIFE_FORK_H
#define BLAME_OMPT_TOOL_LIFE_FORK_H

#include <stdbool.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Registers the handlers around fork(). [init] */
void fork_init(void);

/* 0 in a child that still has its parent's state, otherwise not 0. Other handlers of pthread_atfork() run
 * before ours, the runtime's among them; and nobody is notified of a child made by clone() or _Fork(). */
extern uint32_t *fork_own __attribute__((visibility("hidden")));

/* Drops the parent's state in a child, which then measures for itself. [owner] */
void fork_in_child(void);

/* Returns whether the process is a child that still has its parent's state. Events in it go to no record
 * until a region begins. [any] */
static inline bool fork_is_new(void)
{
    return unlikely(!load_relaxed(fork_own));
}

/* Drops the parent's state where a region begins, before such a child begins a team. [owner] */
static inline void fork_notice(void)
{
    if (fork_is_new())
        fork_in_child();
}

/* Starts the measurement of a child that does not measure yet, and attaches the calling thread. Returns NULL
 * in other processes, and on failure. [owner] */
struct thread *fork_child_attach(void);

/* Returns the calling thread's record for one of its events; NULL if it has none. The first event of a child
 * begins its measurement. [owner] */
static inline struct thread *fork_self(void)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread))
        thread = fork_child_attach();
    return thread;
}

#endif
