/* When an interrupted call began. Internal to restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_BEGIN_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_BEGIN_H

#include <stdint.h>

#include "restart_state.h"

/*
 * When the interrupted call began, never too early: a limit counted from here ends in time or late. If since
 * the baseline the thread gave up its core once, of its own will, and was never preempted, then it ran until
 * it blocked in this call: it blocked at baseline + time used since. Otherwise all we know is that the call
 * had begun by now. Where the kernel takes interrupts or a VM's stolen time out of a thread's time, that
 * would be too early: hence a margin. One system call (getrusage). [handler]
 */
__attribute__((visibility("hidden"))) uint64_t restart_begin_of_call_ns(const struct restart_state *state, uint64_t now_ns);

#endif
