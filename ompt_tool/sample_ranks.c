/* The rules of this house: as in sampler.c. */
#include "ompt_tool/sample_ranks.h"

#include <stddef.h>

#include "base/atomics.h"
#include "base/os.h"
#include "blame/attribute.h"
#include "blame/ranks.h"
#include "cct/arena.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/ranks_join.h"

#define BURY_APART_NS 10000000u

static struct profile_ranks *ranks_at(struct thread *thread, uint32_t node_idx, uint64_t key)
{
    uint32_t child = node_idx ? tree_child(&thread->tree, node_idx, PROFILE_NODE_RANKS, key) : 0;
    return (struct profile_ranks *)attribute_at(&thread->tree, child);
}

/* At how many of the delivery's moments ranks are asked for: at all, or at the last one for all. */
static uint32_t moments_of(const struct delivery *delivery)
{
    uint32_t moments = delivery_moments(delivery);
    return moments * ranks_lines() > DELIVERY_LINES ? 1 : moments;
}

static struct ranks_census census_of(const struct delivery *delivery, uint32_t number)
{
    const struct clock_reading *clocks = &delivery->clocks;
    uint64_t apart_ticks = (uint64_t)(BURY_APART_NS / clocks->ns_per_tick);
    struct profile_header *header = arena_header();
    ranks_bury(clocks->ticks, apart_ticks, os_is_dead);
    struct ranks_census census =
        ranks_census_at(clocks, delivery_moment_ns(delivery, number, delivery_moments(delivery)));
    if (unlikely(census.seen > load_relaxed(&header->ranks_seen)))
        store_relaxed(&header->ranks_seen, census.seen);
    return census;
}

/* As a profile names it. An address is that of the place behind the call. */
static uint64_t key_of(uint64_t call, bool own_program)
{
    uint64_t vaddr = own_program ? RANKS_CALL_VADDR(call) : 0;
    uint64_t place = vaddr ? capture_key(vaddr + ranks_program.load_bias - 1) : 0;
    if (PROFILE_KEY_MODULE(place) >= PROFILE_PLACE_MODULES)
        place = 0;
    return PROFILE_RANKS_KEY(RANKS_CALL_FUNCTION(call), place);
}

void sample_ranks_busy(struct thread *thread, uint32_t node_idx, const struct delivery *delivery,
                       uint32_t number, uint32_t busy)
{
    uint32_t moments = moments_of(delivery);
    if (number >= moments)
        return;
    struct ranks_census census = census_of(delivery, number);
    if (census.own_waits || !census.calls)
        return;
    double p = delivery->p / moments / (busy ? busy : 1), waiting = 0;
    for (uint32_t i = 0; i < census.calls; i++)
        waiting += census.call[i].any + census.call[i].named;
    for (uint32_t i = 0; i < census.calls; i++) {
        const struct ranks_call *call = &census.call[i];
        struct profile_ranks *ranks = ranks_at(thread, node_idx, key_of(call->call, call->own_program));
        if (!ranks)
            continue;
        ranks->blame += p * call->named + p * call->any / census.busy;
        ranks->named += p * call->named;
        ranks->wall += p * (call->any + call->named) / waiting;
    }
}

void sample_ranks_waiting(struct thread *thread, uint32_t node_idx, const struct delivery *delivery)
{
    uint32_t moments = moments_of(delivery);
    for (uint32_t number = 0; number < moments; number++) {
        struct ranks_census census = census_of(delivery, number);
        struct profile_ranks *ranks = census.own_is_blamed ? ranks_at(thread, node_idx, 0) : NULL;
        if (ranks)
            ranks->waited += delivery->p / moments / census.own_threads;
    }
}
