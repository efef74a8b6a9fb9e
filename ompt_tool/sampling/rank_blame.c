/* Most of this file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/sampling/rank_blame.h"

#include <stddef.h>

#include "base/atomics.h"
#include "base/os.h"
#include "blame/attribute.h"
#include "blame/ranks.h"
#include "cct/arena.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/ranks/ranks_join.h"

/* time in ns between two searches for the lines of dead ranks */
#define BURY_APART_NS 10000000u

static struct profile_ranks *rank_blame_at(struct thread *thread, uint32_t node_idx, uint64_t key)
{
    uint32_t child = node_idx ? tree_child(&thread->tree, node_idx, PROFILE_NODE_RANKS, key) : 0;
    return (struct profile_ranks *)attribute_at(&thread->tree, child);
}

/* Returns at how many of the delivery's moments the waiting ranks are counted. That is each moment, or only
 * the last one if counting them all would read too many lines. */
static uint32_t rank_blame_moments(const struct delivery *delivery)
{
    uint32_t moments = delivery_moments(delivery);
    return moments * ranks_lines() > DELIVERY_LINES ? 1 : moments;
}

static struct ranks_census rank_blame_census(const struct delivery *delivery, uint32_t number)
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

/* Returns the profile's key of an MPI call, made of the MPI function and the calling code. `call` contains
 * the return address: the call itself is before it, so 1 is subtracted. */
static uint64_t rank_blame_key(uint64_t call, bool own_program)
{
    uint64_t vaddr = own_program ? RANKS_CALL_VADDR(call) : 0;
    uint64_t place = vaddr ? capture_key(vaddr + ranks_program.load_bias - 1) : 0;
    if (PROFILE_KEY_MODULE(place) >= PROFILE_PLACE_MODULES)
        place = 0;
    return PROFILE_RANKS_KEY(RANKS_CALL_FUNCTION(call), place);
}

/* Returns the sums of rank waiting caused by this thread's dispatch. They are kept for one MPI call. If ranks
 * have waited in different calls, the sums are for no particular call (key 0). */
static struct profile_ranks *rank_blame_of_dispatch(struct thread *thread, uint64_t key)
{
    if (!(thread->dispatch.ranks.wall > 0))
        thread->dispatch.ranks_key = key;
    else if (thread->dispatch.ranks_key != key)
        thread->dispatch.ranks_key = 0;
    return &thread->dispatch.ranks;
}

enum ranks_target { IN_CONTEXT, IN_DISPATCH, IN_NOBODY };

static struct profile_ranks *rank_blame_in(struct thread *thread, enum ranks_target target, uint32_t node_idx,
                                           uint64_t key)
{
    if (target == IN_DISPATCH)
        return rank_blame_of_dispatch(thread, key);
    if (target == IN_NOBODY)
        node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NOBODY);
    return rank_blame_at(thread, node_idx, key);
}

/* Blames the thread for its share of the other ranks' waiting at one moment of the delivery. The share is
 * 1/`threads`. */
static void rank_blame_share(struct thread *thread, enum ranks_target target, uint32_t node_idx,
                             const struct delivery *delivery, uint32_t number, uint32_t threads)
{
    uint32_t moments = rank_blame_moments(delivery);
    if (number >= moments)
        return;
    struct ranks_census census = rank_blame_census(delivery, number);
    if (census.own_waits || !census.calls)
        return;
    double p = delivery->p / moments / threads, waiting = 0;
    struct profile_ranks *last = NULL;
    double added = 0;
    for (uint32_t i = 0; i < census.calls; i++)
        waiting += census.call[i].any + census.call[i].named;
    for (uint32_t i = 0; i < census.calls; i++) {
        const struct ranks_call *call = &census.call[i];
        struct profile_ranks *ranks =
            rank_blame_in(thread, target, node_idx, rank_blame_key(call->call, call->own_program));
        if (!ranks)
            continue;
        double blame = p * call->named + p * call->any / census.busy;
        ranks->blame += blame;
        added += blame;
        last = ranks;
        ranks->named += p * call->named;
        ranks->wall += p * (call->any + call->named) / waiting;
    }
    thread->neighbours.rank_idle += added;
    if (last) /* of all calls: the context adds all of them at once */
        last->squares += added * added / (p * threads);
}

void rank_blame_busy(struct thread *thread, uint32_t node_idx, const struct delivery *delivery, uint32_t number,
                     struct census census)
{
    if (census.beside) /* the rank is as busy as its teams */
        return;
    rank_blame_share(thread, IN_CONTEXT, node_idx, delivery, number, census.busy ? census.busy : 1);
}

void rank_blame_idle(struct thread *thread, const struct delivery *delivery, const struct idle_moment *idle)
{
    uint32_t moments = rank_blame_moments(delivery);
    for (uint32_t number = 0; number < moments; number++) {
        if (idle[number].idle)
            rank_blame_share(thread, IN_NOBODY, 0, delivery, number, idle[number].idle);
        else if (idle[number].busy)
            rank_blame_share(thread, IN_DISPATCH, 0, delivery, number, idle[number].busy);
    }
}

void rank_blame_settle(struct thread *thread, uint32_t node_idx)
{
    const struct profile_ranks *dispatch = &thread->dispatch.ranks;
    if (!(dispatch->wall > 0))
        return;
    struct profile_ranks *ranks = rank_blame_at(thread, node_idx, thread->dispatch.ranks_key);
    if (ranks) {
        ranks->blame += dispatch->blame;
        ranks->named += dispatch->named;
        ranks->wall += dispatch->wall;
        ranks->squares += dispatch->squares;
    }
    thread->dispatch.ranks = (struct profile_ranks){0};
}

void rank_blame_waiting(struct thread *thread, uint32_t node_idx, const struct delivery *delivery)
{
    uint32_t moments = rank_blame_moments(delivery);
    for (uint32_t number = 0; number < moments; number++) {
        struct ranks_census census = rank_blame_census(delivery, number);
        struct profile_ranks *ranks = census.own_is_blamed ? rank_blame_at(thread, node_idx, 0) : NULL;
        if (ranks)
            ranks->waited += delivery->p / moments / census.own_threads;
    }
}
