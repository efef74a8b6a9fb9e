/* Notes which sleep a thread's samples have found it in. */
#ifndef BLAME_OMPT_TOOL_SAMPLING_SLEEP_H
#define BLAME_OMPT_TOOL_SAMPLING_SLEEP_H

#include <stdint.h>

#include "ompt_tool/session/thread.h"

/* Notes that a sample at now_ns has found the thread asleep in its own code, in this context. Called after
 * core_ask(). [handler] */
static inline void sleep_found(struct thread *thread, uint32_t node_idx, uint64_t now_ns)
{
    struct thread_sleep *sleep = &thread->sleep;
    long sleeps = thread->core.counts.switches.sleeps;
    /* The thread went back to sleep after the last sample, and has not woken up since. */
    bool same = sleep->found && sleeps == sleep->sleeps + 1 && thread->core.now.in_call;
    sleep->found = same ? sleep->found + 1 : thread->core.now.in_call;
    sleep->since_ns = same ? sleep->since_ns : now_ns;
    sleep->sleeps = sleeps;
    sleep->found_ns = now_ns;
    sleep->beside = sleep->beside_now;
    sleep->node_idx = node_idx;
    sleep->grafts = thread->tree.grafts;
}

#endif
