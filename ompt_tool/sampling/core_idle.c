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

/* Returns since when the thread has been what the delivery finds it to be. A thread without a core stays where it was at
 * the first moment, unless it slept then. */
static uint64_t core_idle_since_ticks(const struct thread *thread, const struct delivery *delivery, bool asleep)
{
    const struct core *core = &thread->core;
    bool slept = core->now.first_moments && core->now.first == CORE_ASLEEP;
    uint64_t since_ns = asleep || slept ? delivery->census_ns : delivery->due_ns;
    uint64_t since = (uint64_t)clock_ns_ticks(&delivery->clocks, since_ns), noted = thread->line->noted_last;
    return (int64_t)(since - noted) < 0 ? noted : since; /* it may have waited while the signal was blocked */
}

void core_idle_note_sleep(struct thread *thread, const struct delivery *delivery, bool spins)
{
    bool asleep = !spins && core_idle_state_at_end(&thread->core, delivery) == CORE_ASLEEP;
    uint64_t ticks = core_idle_since_ticks(thread, delivery, asleep);
    if (core_idle_is_told(thread))
        return;
    if (spins || asleep)
        state_fall_asleep(thread->line, ticks);
    else
        state_wake_up(thread->line, ticks);
}

void core_idle_book(struct thread *thread, uint32_t node_idx, double p, struct census census, bool runs)
{
    census.asleep += !runs && !census.own_asleep; /* the census took the thread for one that works */
    thread->neighbours.core_idle += attribute_cores(&thread->tree, node_idx, p, census, runs && !census.own_asleep,
                                                    load_relaxed(&arena_header()->cores));
}
