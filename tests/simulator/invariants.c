#include "tests/simulator/invariants.h"

#include <stdio.h>

#include "base/clock.h"
#include "blame/state_valid.h"
#include "cct/tree_valid.h"
#include "ompt_tool/session/thread.h"
#include "tests/simulator/machine.h"

static char broken[160]; /* the first damage; "": none */

static void check_thread(const struct thread *thread, const char *when)
{
    bool is_line = !state_is_valid(thread->line, clock_ticks());
    if (!broken[0] && (is_line || !tree_is_valid(&thread->tree)))
        snprintf(broken, sizeof(broken), "%s, after %lu events: %s %u has lost an invariant", when,
                 (unsigned long)machine.events, is_line ? "the state line of the thread with tree" : "tree",
                 thread->tree.number);
}

void invariants_check_region(void)
{
    if (thread_self)
        check_thread(thread_self, "at the end of a region");
}

const char *invariants_check_run(void)
{
    for (const struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        check_thread(thread, "at the end of the run");
    return broken[0] ? broken : NULL;
}
