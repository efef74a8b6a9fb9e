#include "ompt_tool/control.h"

#include <stddef.h>

#include "cct/arena.h"
#include "include/blame.h"
#include "ompt_tool/finish.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/session/session.h"

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

static int end(void)
{
    struct profile_header *header = arena_header();
    if (!arena_is_open() || !header)
        return IGNORED;
    header->ended_by_program = 1;
    finish();
    return DONE;
}

int control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
    (void)codeptr;
    switch (command) {
    case START:
        return session_pause(false) ? DONE : IGNORED;
    case PAUSE:
        return session_pause(true) ? DONE : IGNORED;
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
