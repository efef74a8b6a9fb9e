/* The rules of sampler.c hold. */
#include "ompt_tool/sampling/core_idle.h"

#include "blame/attribute.h"
#include "blame/contended.h"
#include "blame/state.h"
#include "cct/arena.h"

/* Returns true if a layer has reported the thread's wait, and will report its end. */
static bool core_idle_is_told(const struct thread *thread)
{
    return load_relaxed(&thread->pthread.mutex) || contended_is_posix(load_relaxed(&thread->line->wait_key));
}

static enum core_state core_idle_state_at_end(const struct core *core, const struct delivery *delivery)
{
    if (core->now.had_last)
        return CORE_HAD;
    return core_moments_in_state(core, delivery) ? core->now.state : core->now.first;
}

void core_idle_note_awake(struct thread *thread, uint64_t ticks)
{
    if (!core_idle_is_told(thread) && (int64_t)(ticks - thread->line->asleep_since) >= 0)
        state_wake_up(thread->line, ticks);
}

void core_idle_note_sleep(struct thread *thread, const struct delivery *delivery, bool spins)
{
    uint64_t ticks = (uint64_t)clock_ns_ticks(&delivery->clocks, delivery->census_ns);
    if (core_idle_is_told(thread))
        return;
    if (spins || core_idle_state_at_end(&thread->core, delivery) == CORE_ASLEEP)
        state_fall_asleep(thread->line, ticks);
    else
        state_wake_up(thread->line, ticks);
}

void core_idle_book(struct thread *thread, uint32_t node_idx, double p, struct census census, bool runs)
{
    census.asleep += !runs && !census.own_asleep; /* the census took the thread for one that works */
    attribute_cores(&thread->tree, node_idx, p, census, runs && !census.own_asleep,
                    load_relaxed(&arena_header()->cores));
}
