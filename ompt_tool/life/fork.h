/* Forks: the child starts a measurement of its own, but only with its first OpenMP event, so that a fork that
 * is followed by exec leaves no trace. */
#ifndef BLAME_OMPT_TOOL_LIFE_FORK_H
#define BLAME_OMPT_TOOL_LIFE_FORK_H

#include <stdbool.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Registers what is to happen around fork(). [init] */
void fork_init(void);

/* Not 0, but in a child that has not let go of what is its parent's: other handlers of pthread_atfork() run before ours, the
 * runtime's among them; of a child made by clone() or _Fork() nobody is told. */
extern uint32_t *fork_own __attribute__((visibility("hidden")));

/* In a child: lets go of what is its parent's, so that it measures for itself. [owner] */
void fork_in_child(void);

/* Returns whether this is such a child: what is told in it goes to nobody's record until a region begins. [any] */
static inline bool fork_is_new(void)
{
    return unlikely(!load_relaxed(fork_own));
}

/* Where a region begins, before such a child begins a team. [owner] */
static inline void fork_notice(void)
{
    if (fork_is_new())
        fork_in_child();
}

/* In a child that does not measure yet: starts to, and attaches the calling thread. NULL elsewhere, and when that fails.
 * [owner] */
struct thread *fork_child_attach(void);

/* The calling thread's record, for an event of its own: the first one of a child begins its measurement. NULL when it has none.
 * [owner] */
static inline struct thread *fork_self(void)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread))
        thread = fork_child_attach();
    return thread;
}

#endif
