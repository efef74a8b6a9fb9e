/* Whether the whole process stood still: stopped by a signal or a debugger. Nothing of the program's is to blame for that time.
 *
 * A signal that is due reaches a thread that sleeps in a call at once, if the call can be interrupted, and one that runs when it has a core. If
 * it came much later, the thread had not lacked a core, and had slept all the same, either in a call that cannot be interrupted, which is over
 * then (it is right behind it), or waiting for a page (major faults tell), or it was stopped. And as that stops all, no other thread was heard of. */
#ifndef BLAME_OMPT_TOOL_SESSION_STOPPED_H
#define BLAME_OMPT_TOOL_SESSION_STOPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/atomics.h"
#include "ompt_tool/session/core_state.h"

#define STOPPED_TICK 20u /* of 2^20 ns */

extern uint64_t stopped_heard; /* when a sample came last, in ticks; below it, how many were in gaps without any */

void stopped_note_heard(uint64_t now_ns); /* [handler] */

/* A sample has come. [handler] */
static inline void stopped_hear(uint64_t now_ns)
{
    if (unlikely((uint32_t)(now_ns >> STOPPED_TICK) != (uint32_t)(load_relaxed(&stopped_heard) >> 32)))
        stopped_note_heard(now_ns);
}

/* Behind core_begin(). [owner] */
static inline void stopped_begin(struct core *core)
{
    core->silence = (uint32_t)load_relaxed(&stopped_heard);
}

/* Whether that is why the sample that core was asked for came late; core's state is then that behind the stop. Behind stopped_hear(). [handler] */
bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context);

#endif
