#include "ompt_tool/first_thread.h"

#include <stddef.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/log.h"
#include "base/os.h"
#include "ompt_tool/capabilities.h"
#include "ompt_tool/context/runtime.h"

#define WITHOUT_LOCKS "waiting for locks counts as <untold wait>, as LLVM's runtime would crash in a critical section"

static bool locks_are_told;

bool first_thread_stays(void)
{
    locks_are_told = os_tid() == getpid();
    if (!locks_are_told)
        log_line("the OpenMP runtime was started by a thread that may end before the program does: " WITHOUT_LOCKS
                 " behind its end; blame run starts it before main", NULL);
    return locks_are_told;
}

/* A thread that has read that the event is told, and not yet whom to call, would call nobody: two instructions. */
void first_thread_ends(void)
{
    if (!load_relaxed(&locks_are_told) || os_tid() != getpid())
        return;
    store_relaxed(&locks_are_told, false);
    capabilities_forget_locks(runtime.set_callback);
    log_line("the program's first thread has ended before the program: from now on " WITHOUT_LOCKS, NULL);
}

void first_thread_exits(void)
{
    store_relaxed(&locks_are_told, false); /* nothing is left to be forgotten */
}
