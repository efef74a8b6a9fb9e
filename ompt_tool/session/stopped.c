/* The rules of this house: as in sampler.c. */
#include "ompt_tool/session/stopped.h"

#include <stddef.h>

#include "ompt_tool/restart/restart.h"
#include "ompt_tool/session/session.h"

#define PARTS 10u /* one in so many of its time may others have been heard, and while it lacked a core */

uint64_t stopped_heard;
static uint32_t certain; /* the silence until the end of the gap in which a thread was stopped beyond doubt */

/* Where samples are rarer that is how they come. */
static bool is_gap(uint32_t ticks)
{
    uint64_t ns = (uint64_t)ticks << STOPPED_TICK;
    return ns + (1u << STOPPED_TICK) > STOPPED_NS && ns > 2 * session.period_ns;
}

void stopped_note_heard(uint64_t now_ns)
{
    uint64_t before = load_relaxed(&stopped_heard);
    uint32_t now = (uint32_t)(now_ns >> STOPPED_TICK), heard = (uint32_t)(before >> 32), silence = (uint32_t)before;
    if (before && (int32_t)(now - heard) <= 0)
        return;
    if (before && is_gap(now - heard))
        silence += now - heard;
    compare_exchange(&stopped_heard, &before, (uint64_t)now << 32 | silence); /* or another thread was heard just now */
}

/* A wait of OpenMP's is in calls that a signal interrupts, or in loops: whose sample comes late was stopped, and with it all. */
static bool is_any_idle(void)
{
    const struct state_line *line;
    for (uint32_t number = 0; (line = state_line_at(number)); number++)
        if (load_relaxed(&line->state) == STATE_IDLE)
            return true;
    return false;
}

static bool is_certain(const struct core *core, const ucontext_t *context)
{
    if (core->in_call || is_any_idle())
        return true;
    return !core->faulted && restart_call_before(context) != RESTART_CALL_OTHER;
}

bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    uint32_t before = core->silence, silence = (uint32_t)load_relaxed(&stopped_heard), since = silence - before;
    uint64_t late_ns = delivery->clocks.ns - delivery->due_ns;
    core->silence = silence;
    if (likely(late_ns < STOPPED_NS) || core->state != CORE_ASLEEP || core->lost_ns + STOPPED_NS > late_ns)
        return false;
    if (((uint64_t)since << STOPPED_TICK) + core->lost_ns < late_ns - late_ns / PARTS)
        return false;
    if (is_certain(core, context))
        store_relaxed(&certain, silence);
    if (load_relaxed(&certain) - before - 1 >= since) /* in none of its gaps */
        return false;
    if (!core->in_call) { /* it had not slept for a signal to wake it: what it lost it lost then */
        core->state = CORE_NONE;
        core->woken_ns = 0;
    }
    return true;
}
