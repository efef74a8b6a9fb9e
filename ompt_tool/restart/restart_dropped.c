/* Handler code: system calls by kernel_call. */
#include "restart_dropped.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "restart_state.h"

void restart_take_dropped(struct restart_state *state)
{
    static const struct timespec at_once;
    siginfo_t taken;
    if (likely(!state->will_wait))
        return;
    state->will_wait = false;
    long number = kernel_call(SYS_rt_sigtimedwait, (uint64_t)&state->own_signals, (uint64_t)&taken, (uint64_t)&at_once,
                              sizeof(state->own_signals), 0, 0);
    if (number <= 0 || taken.si_code == SI_TIMER)
        return;
    long process = kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0), thread = kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    kernel_call(SYS_rt_tgsigqueueinfo, process, thread, number, (uint64_t)&taken, 0, 0); /* a counter's: nothing makes up for it */
}
