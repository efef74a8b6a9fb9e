/* A thread that waits for all signals, as one does that handles those of the whole process, would receive the signals by
 * which a tool samples it. It waits for all others instead. A thread that has chosen some real-time signals waits for
 * those. */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/pthreads_layer.h"
#include "layers/pthreads/functions.h"

#define REAL(name) load_relaxed(&pthreads_real.name)

static bool signal_is_one_of_all(const sigset_t *signals, int signal)
{
    for (int each = SIGRTMIN; each <= SIGRTMAX; each++)
        if (!sigismember(signals, each))
            return false;
    return sigismember(signals, signal) == 1;
}

/* Returns the signals for which the thread is to wait: those that it has asked for, or `others`. */
static const sigset_t *signal_without_own(const sigset_t *signals, sigset_t *others)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    int signal = tool && signals ? tool->own_signal() : 0;
    if (!signal || !signal_is_one_of_all(signals, signal))
        return signals;
    *others = *signals;
    sigdelset(others, signal);
    return others;
}

EXPORT int sigwait(const sigset_t *restrict signals, int *restrict signal)
{
    sigset_t others;
    return REAL(sigwait)(signal_without_own(signals, &others), signal);
}

EXPORT int sigwaitinfo(const sigset_t *restrict signals, siginfo_t *restrict info)
{
    sigset_t others;
    return REAL(sigwaitinfo)(signal_without_own(signals, &others), info);
}

EXPORT int sigtimedwait(const sigset_t *restrict signals, siginfo_t *restrict info,
                        const struct timespec *restrict limit)
{
    sigset_t others;
    return REAL(sigtimedwait)(signal_without_own(signals, &others), info, limit);
}
