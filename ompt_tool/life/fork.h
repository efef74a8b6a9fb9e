/* Handles forks of the program. A child starts a measurement of its own, but only at its first OpenMP event,
 * so that a child that only calls exec() leaves no trace. */
#ifndef BLAME_OMPT_TOOL_LIFE_FORK_H
#define BLAME_OMPT_TOOL_LIFE_FORK_H

#include <stdbool.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

/* Registers the handlers around fork(). [init] */
void fork_init(void);

/* *fork_own is 0 in a child that still has its parent's state. The tool's own fork handler cannot show this:
 * other handlers of pthread_atfork() run before it, among them the runtime's, and in a child made by clone()
 * or _Fork() no handler runs. */
extern uint32_t *fork_own __attribute__((visibility("hidden")));

/* Drops the parent's state in a forked child, which then measures itself. [owner] */
void fork_in_child(void);

/* Returns true in a child that still has its parent's state. Its events are not recorded until it begins a
 * region. [any] */
static inline bool fork_is_new(void)
{
    return unlikely(!load_relaxed(fork_own));
}

/* Drops the parent's state if this process is a child that still has it. Called when a region begins, before
 * the region's team starts. [owner] */
static inline void fork_notice(void)
{
    if (fork_is_new())
        fork_in_child();
}

/* Returns the time at which this process was forked; 0 if it was not forked since the tool is in it. [any] */
uint64_t fork_start_ns(void);

/* Starts the measurement of a forked child that is not yet measured, and attaches the calling thread. Returns
 * NULL in all other processes, and on failure. [owner] */
struct thread *fork_child_attach(void);

/* Called by events: returns the calling thread's record; NULL if it has none. The first event of a forked
 * child starts the child's measurement. [owner] */
static inline struct thread *fork_self(void)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread))
        thread = fork_child_attach();
    return thread;
}

#endif
