/* Barriers and cancellation.
 *
 * GCC calls GOMP_barrier for a barrier that the program wrote, and also at the end of `single` and of static loops,
 * which it compiles in line. Nothing tells these apart: each is a barrier of the implementation. */
#include "layers/gomp/waits.h"
#include "layers/gomp/real.h"

enum { CANCEL_PARALLEL = 1, CANCEL_LOOP = 2, CANCEL_SECTIONS = 4, CANCEL_TASKGROUP = 8 };

EXPORT void GOMP_barrier(void)
{
    struct thread *thread = provider_enter();
    if (!thread) {
        real.GOMP_barrier();
        return;
    }
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implementation);
    real.GOMP_barrier();
    wait_end(&wait);
}

/* Returns the flags of what a number of libgomp's names. */
static int cancel_flags(int which)
{
    int kind = which & CANCEL_PARALLEL ? ompt_cancel_parallel : 0;
    kind |= which & CANCEL_LOOP ? ompt_cancel_loop : 0;
    kind |= which & CANCEL_SECTIONS ? ompt_cancel_sections : 0;
    return kind | (which & CANCEL_TASKGROUP ? ompt_cancel_taskgroup : 0);
}

static void cancel_tell(struct thread *thread, bool cancelled, int flags, const void *code)
{
    if (!cancelled || !thread)
        return;
    TELL(cancel, &thread->task->data, flags, code);
}

EXPORT bool GOMP_barrier_cancel(void)
{
    struct thread *thread = provider_enter();
    if (!thread)
        return real.GOMP_barrier_cancel();
    struct wait wait = wait_begin(thread, ompt_sync_region_barrier_implementation);
    bool cancelled = real.GOMP_barrier_cancel();
    wait_end(&wait);
    cancel_tell(thread, cancelled, ompt_cancel_parallel | ompt_cancel_detected, CODE);
    return cancelled;
}

EXPORT bool GOMP_cancel(int which, bool requested)
{
    struct thread *thread = provider_enter();
    bool cancelled = real.GOMP_cancel(which, requested);
    cancel_tell(thread, cancelled, cancel_flags(which) | (requested ? ompt_cancel_activated : ompt_cancel_detected),
                CODE);
    return cancelled;
}

EXPORT bool GOMP_cancellation_point(int which)
{
    struct thread *thread = provider_enter();
    bool cancelled = real.GOMP_cancellation_point(which);
    cancel_tell(thread, cancelled, cancel_flags(which) | ompt_cancel_detected, CODE);
    return cancelled;
}
