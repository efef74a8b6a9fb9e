/* The rules of this house: as in sampler.c. System calls: none. */
#include "ompt_tool/session/core_waits.h"

#include "base/atomics.h"
#include "base/clock.h"

/* Which part of the time since the last sample was before the wait began. */
static double part_before(const struct core *core, const struct delivery *delivery, uint64_t since_ticks)
{
    double since_ns = (double)clock_ticks_ns(&delivery->clocks, since_ticks) - (double)core->last_ns;
    double passed_ns = (double)delivery->due_ns - (double)core->last_ns;
    return since_ns >= passed_ns ? 1 : since_ns <= 0 ? 0 : since_ns / passed_ns;
}

static uint32_t whole_us(double ns)
{
    return ns < 4e12 ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

/* What it lost last, and behind the wait, if it is in one that is over. */
static double lost_at_end(const struct core *core)
{
    if (likely(core->state == CORE_HAD))
        return 0;
    uint64_t away_ns = (core->away_ns < core->lost_ns ? core->away_ns : core->lost_ns) - core->woken_ns;
    bool released = core->state == CORE_ASLEEP && !core->in_call; /* at any time since its signal came */
    return core->state == CORE_NONE ? (double)away_ns : released ? (double)core->woken_ns / 2 : 0;
}

void core_follow(struct core *core, struct state_line *line, const struct delivery *delivery)
{
    bool idle = load_relaxed(&line->state) == STATE_IDLE, sleeps = idle && core->state == CORE_ASLEEP;
    uint64_t since_ticks = load_relaxed(&line->idle_since);
    bool waited = since_ticks != core->waited_ticks;
    double at_end_ns = lost_at_end(core), before = core->splits ? 0.5 : 0;
    double spread_ns = (double)core->lost_ns - (double)core->woken_ns - (core->state == CORE_NONE ? at_end_ns : 0);
    if (waited) {
        before = sleeps ? 1 : part_before(core, delivery, since_ticks); /* who sleeps loses nothing */
        core->waited_ticks = since_ticks;
    }
    if (waited && idle) {
        store_relaxed(&line->lost_us, whole_us(core->lost_wait_ns + before * spread_ns));
        store_release(&line->lost_before, since_ticks); /* S6 */
    }
    if (waited || idle)
        core->lost_wait_ns = 0;
    core->lost_wait_ns += at_end_ns + (idle && core->state != CORE_NONE ? 0 : (1 - before) * spread_ns);
    core->splits = idle && !sleeps;
    core->last_ns = delivery->clocks.ns;
    store_relaxed(&line->lost_next_us, whole_us(core->lost_wait_ns));
}

void core_resume(struct core *core, struct state_line *line)
{
    bool told = line->lost_before == core->waited_ticks;
    core->waited_ticks = line->idle_since;
    if (told)
        store_release(&line->lost_before, line->idle_since);
}

int64_t core_lost_ns(const struct core *core, uint64_t time_ns)
{
    int64_t lost_ns = (int64_t)core->lost_wait_ns, later_ns = (int64_t)(core->got_ns - time_ns);
    if (core->state != CORE_NONE)
        return lost_ns;
    if (later_ns > (int64_t)core->gone_ns)
        return lost_ns - (int64_t)core->gone_ns;
    return lost_ns > later_ns ? lost_ns - later_ns : 1;
}

void core_note_others(struct core *core, struct state_line *line, struct census census)
{
    if (likely(census.in_use > 1))
        return;
    core->lost_wait_ns = 0;
    core->splits = true;
    store_relaxed(&line->lost_next_us, 0);
}
