#include "ompt_tool/control.h"

#include <errno.h>
#include <stddef.h>

#include "cct/arena.h"
#include "include/blame.h"
#include "ompt_tool/finish.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/tracing.h"

/* omp.h's omp_control_tool_t and omp_control_tool_result_t, which only programs include. */
enum { START = 1, PAUSE = 2, FLUSH = 3, END = 4 };
enum { DONE = 0, IGNORED = 1, FAILED = -1 };

static int give_calls(uint64_t known_bytes, void *argument)
{
    const struct blame_calls **calls = argument;
    if (!calls || known_bytes < sizeof(struct blame_calls))
        return FAILED;
    *calls = &probes_calls;
    return DONE;
}

/* Of the measurement, or of the trace alone. */
static int pause_or_go_on(bool pause, uint64_t modifier)
{
    bool changed = modifier == BLAME_TRACE ? tracing_switch(!pause) : session_pause(pause);
    return changed ? DONE : IGNORED;
}

static int end(void)
{
    struct profile_header *header = arena_header();
    if (!arena_is_open() || !header)
        return IGNORED;
    int saved_errno = errno;
    header->ended_by_program = 1;
    finish();
    errno = saved_errno;
    return DONE;
}

int control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
    (void)codeptr;
    switch (command) {
    case START:
        return pause_or_go_on(false, modifier);
    case PAUSE:
        return pause_or_go_on(true, modifier);
    case FLUSH:
        session_record_modules();
        return arena_flush() ? DONE : FAILED;
    case END:
        return end();
    case BLAME_COMMAND:
        return give_calls(modifier, argument);
    default:
        return IGNORED;
    }
}
