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

/* Of the thread's dispatch; what is of several calls is of none. */
static struct profile_ranks *ranks_of_dispatch(struct thread *thread, uint64_t key)
{
    if (!(thread->dispatch_ranks.wall > 0))
        thread->dispatch_ranks_key = key;
    else if (thread->dispatch_ranks_key != key)
        thread->dispatch_ranks_key = 0;
    return &thread->dispatch_ranks;
}

enum target { IN_CONTEXT, IN_DISPATCH, IN_NOBODY };

static struct profile_ranks *ranks_in(struct thread *thread, enum target target, uint32_t node_idx, uint64_t key)
{
    if (target == IN_DISPATCH)
        return ranks_of_dispatch(thread, key);
    if (target == IN_NOBODY)
        node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NOBODY);
    return ranks_at(thread, node_idx, key);
}

/* One of so many threads that have equal parts of the blame for that moment. */
static void blame(struct thread *thread, enum target target, uint32_t node_idx, const struct delivery *delivery,
                  uint32_t number, uint32_t threads)
{
    uint32_t moments = moments_of(delivery);
    if (number >= moments)
        return;
    struct ranks_census census = census_of(delivery, number);
    if (census.own_waits || !census.calls)
        return;
    double p = delivery->p / moments / threads, waiting = 0;
    for (uint32_t i = 0; i < census.calls; i++)
        waiting += census.call[i].any + census.call[i].named;
    for (uint32_t i = 0; i < census.calls; i++) {
        const struct ranks_call *call = &census.call[i];
        struct profile_ranks *ranks = ranks_in(thread, target, node_idx, key_of(call->call, call->own_program));
        if (!ranks)
            continue;
        ranks->blame += p * call->named + p * call->any / census.busy;
        ranks->named += p * call->named;
        ranks->wall += p * (call->any + call->named) / waiting;
    }
}

void sample_ranks_busy(struct thread *thread, uint32_t node_idx, const struct delivery *delivery,
                       uint32_t number, uint32_t busy)
{
    blame(thread, IN_CONTEXT, node_idx, delivery, number, busy ? busy : 1);
}

void sample_ranks_idle(struct thread *thread, const struct delivery *delivery, const struct idle_moment *idle)
{
    uint32_t moments = moments_of(delivery);
    for (uint32_t number = 0; number < moments; number++) {
        if (idle[number].idle)
            blame(thread, IN_NOBODY, 0, delivery, number, idle[number].idle);
        else if (idle[number].busy)
            blame(thread, IN_DISPATCH, 0, delivery, number, idle[number].busy);
    }
}

void sample_ranks_settle(struct thread *thread, uint32_t node_idx)
{
    const struct profile_ranks *dispatch = &thread->dispatch_ranks;
    if (!(dispatch->wall > 0))
        return;
    struct profile_ranks *ranks = ranks_at(thread, node_idx, thread->dispatch_ranks_key);
    if (ranks) {
        ranks->blame += dispatch->blame;
        ranks->named += dispatch->named;
        ranks->wall += dispatch->wall;
    }
    thread->dispatch_ranks = (struct profile_ranks){0};
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
