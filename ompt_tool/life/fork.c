#include "ompt_tool/life/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/os.h"
#include "blame/directed.h"
#include "blame/notes.h"
#include "blame/ranks.h"
#include "blame/state.h"
#include "blame/wakers.h"
#include "cct/arena.h"
#include "cct/deferred/region.h"
#include "ompt_tool/life/attach.h"
#include "ompt_tool/life/fuse.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/probes/probe_names.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/sampling/timer.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "ompt_tool/life/start.h"
#include "unwind/loadmap.h"

static uint32_t never_missed = 1;
uint32_t *fork_own = &never_missed;

static uint32_t child_waits;
static uint64_t forked_ns;

/* Drops the parent's trees and ledgers, which are in a file to which the parent continues to write. */
void fork_in_child(void)
{
    bool measured = arena_is_open() || load_relaxed(&child_waits);
    arena_abandon();
    counters_forked();
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        core_end(&thread->core); /* the file contains the counts of the parent's thread, not of this one */
    thread_reset();
    state_reset();
    moments_reset();
    notes_reset();
    ranks_forget();
    directed_reset();
    wakers_reset();
    probe_names_reset();
    crowd_forked();
    region_epoch++;
    loadmap_forked();
    store_relaxed(&session.stopping, 0);
    forked_ns = clock_now_ns();
    store_relaxed(&child_waits, measured);
    store_relaxed(fork_own, 1);
    sampler_fork_done();
}

/* Drops the parent's state, unless fork_notice() has already done so because another fork handler began a
 * region. That region may be measured already. */
static void fork_child_handler(void)
{
    if (fork_own == &never_missed || fork_is_new())
        fork_in_child();
}

void fork_init(void)
{
    uint32_t *page = os_map_wiped();
    if (page) {
        *page = 1;
        fork_own = page;
    }
    pthread_atfork(sampler_fork_prepare, sampler_fork_done, fork_child_handler);
}

static bool fork_start_measuring(void)
{
    struct os_write_guard guard;
    int saved_errno = errno;
    struct float_state floats = float_begin();
    os_guard_writes(&guard);
    bool started = start_measuring(forked_ns);
    os_unguard_writes(&guard);
    float_end(floats);
    errno = saved_errno;
    return started;
}

uint64_t fork_start_ns(void)
{
    return forked_ns;
}

struct thread *fork_child_attach(void)
{
    uint32_t expected = 1;
    if (likely(!load_relaxed(&child_waits)) || fork_is_new())
        return NULL;
    if (compare_exchange(&child_waits, &expected, 0)) {
        fuse_put_out();
        if (!arena_is_open() && !fork_start_measuring())
            return NULL;
    }
    struct thread *thread = arena_is_open() ? attach_thread(PROFILE_THREAD_INITIAL) : NULL;
    if (thread) {
        levels_find(thread, runtime_current_task(NULL));
        thread_count(thread, true);
        state_set_work(thread->line);
    }
    return thread;
}
