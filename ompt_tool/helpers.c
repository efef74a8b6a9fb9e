#include "ompt_tool/helpers.h"

#include <unistd.h>

#include "base/atomics.h"
#include "base/os.h"
#include "cct/deferred/region.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/session/thread.h"

/* Stands for the region of the helpers' team, which has no record (region_word). */
#define HELPERS_REGION (1ull << (64 - REGION_INSTANCE_BITS))

/* Marks the thread as a helper. It is IDLE and in no region, so it counts as parked unless it executes a
 * task. */
static void helpers_mark(struct thread *thread)
{
    thread->unusual.helper = true;
    store_relaxed(&state_waits_outside, true);
    store_release(&thread->ledger->kind, (uint32_t)PROFILE_THREAD_HELPER);
}

void helpers_know_initial(struct thread *thread)
{
    /* The process's first thread is never a helper, even if no code of the program is on its stack because
     * the tool was loaded before main. */
    bool helper = os_tid() != getpid() && thread_enter_tool(thread);
    if (helper) {
        helper = !capture_program_calls(thread);
        thread_leave_tool(thread);
    }
    if (helper) {
        helpers_mark(thread);
        return;
    }
    thread_count(thread, true);
    state_set_work(thread->line);
}

bool helpers_begin_task(struct thread *thread, const ompt_data_t *parallel_data)
{
    thread->record.begun = true;
    /* Either this thread sees that a second runtime is libgomp, or entry.c sees that it has begun (sequentially
     * consistent on both sides). */
    store_seq_cst(&thread->record.usual, true);
    if (load_seq_cst(&runtime.libgomp))
        store_relaxed(&thread->record.usual, false);
    thread->record.of_team = thread->unusual.uncounted && runtime_is_libgomp();
    if (thread->unusual.helper || !thread->unusual.uncounted)
        return thread->unusual.helper;
    if (parallel_data && parallel_data->value == HELPERS_REGION)
        helpers_mark(thread);
    else
        thread_count(thread, true);
    return thread->unusual.helper;
}

bool helpers_begin_team(const struct thread *thread, ompt_data_t *parallel_data)
{
    bool helper = thread ? thread->unusual.helper && !thread->record.begun : thread_untracked() == 0;
    if (!helper)
        return false;
    parallel_data->value = HELPERS_REGION;
    return true;
}

bool helpers_is_agent(const struct thread *thread)
{
    return !thread->record.begun && !thread->unusual.helper && thread->ledger->kind == PROFILE_THREAD_WORKER;
}

bool helpers_schedule(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    if (!helpers_is_agent(thread)) {
        levels_schedule_slowly(thread, prior, status, next);
        return true;
    }
    bool executes = levels_return_to(thread, next) || !levels_status_ends(status);
    if (!executes)
        levels_end_task(thread, prior);
    else if (thread->level->task != next)
        levels_schedule_slowly(thread, NULL, status, next);
    thread_count(thread, executes);
    return executes;
}
