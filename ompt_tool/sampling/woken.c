#include "ompt_tool/sampling/woken.h"

#include <stddef.h>

#include "cct/profile_metrics.h"
#include "cct/tree.h"
#include "ompt_tool/context/capture.h"

#define MOST_WAITS 1000u /* for which a thread stays joined to an object after a late sample */

static void woken_leave(struct thread_stays *stays)
{
    if (stays->entry)
        wakers_leave(stays->entry);
    *stays = (struct thread_stays){0};
}

static struct thread_stays *woken_stays_at(struct thread_awaits *awaits, uint64_t object)
{
    for (uint32_t i = 0; i < THREAD_STAYS; i++)
        if (awaits->stays[i].entry && awaits->stays[i].object == object)
            return &awaits->stays[i];
    return NULL;
}

/* Counts the thread as one that waits for its object. Others' samples learn for what it sleeps, if its layer tells them when
 * the sleep begins. */
static void woken_count(struct thread *thread)
{
    struct thread_awaits *awaits = &thread->awaits;
    if (!awaits->entry)
        return;
    awaits->counted = awaits->entry;
    wakers_count_waiting(awaits->entry, 1);
    if (!load_relaxed(&thread->pthread.mutex))
        return;
    thread->line->awaits_after = awaits->before;
    store_release(&thread->line->awaits, awaits->entry);
}

void woken_begin(struct thread *thread, enum profile_wake wake, uintptr_t object)
{
    struct thread_awaits *awaits = &thread->awaits;
    woken_close(thread); /* the handler leaves the rest alone */
    awaits->ns = 0;
    awaits->entry = 0;
    struct thread_stays *stays = awaits->stays[0].entry ? woken_stays_at(awaits, object) : NULL;
    if (unlikely(stays)) {
        awaits->entry = stays->waits ? stays->entry : 0;
        if (stays->waits--)
            awaits->before = wakers_before(stays->entry);
        else
            woken_forget(thread);
        woken_count(thread);
    }
    signal_fence();
    store_relaxed(&awaits->key, PROFILE_WAKE_KEY(wake, object));
}

static void woken_join(struct thread *thread, uint64_t key)
{
    struct thread_awaits *awaits = &thread->awaits;
    if (awaits->entry)
        return;
    awaits->entry = wakers_join(PROFILE_WAKE_ID(key), &awaits->before);
    woken_count(thread);
}

void woken_late(struct thread *thread)
{
    struct thread_awaits *awaits = &thread->awaits;
    uint64_t key = load_relaxed(&awaits->key), object = PROFILE_WAKE_ID(key);
    /* The end of a thread comes once, and its number is used again. */
    if (likely(!key) || PROFILE_WAKE_KIND(key) == PROFILE_WAKE_END)
        return;
    woken_join(thread, key);
    if (!awaits->entry)
        return;
    struct thread_stays *stays = woken_stays_at(awaits, object);
    if (!stays) {
        stays = &awaits->stays[THREAD_STAYS - 1];
        woken_leave(stays);
        for (; stays > awaits->stays; stays--)
            stays[0] = stays[-1];
    }
    *stays = (struct thread_stays){object, awaits->entry, MOST_WAITS};
}

uint32_t woken_times(const struct thread *thread, uint64_t times[WAKERS_TIMES])
{
    const struct thread_awaits *awaits = &thread->awaits;
    return load_relaxed(&awaits->key) && awaits->entry ? wakers_times(awaits->entry, awaits->before, times) : 0;
}

void woken_forget(struct thread *thread)
{
    for (uint32_t i = 0; i < THREAD_STAYS; i++)
        woken_leave(&thread->awaits.stays[i]);
}

void woken_slept(struct thread *thread, uint32_t node_idx, double p)
{
    struct thread_awaits *awaits = &thread->awaits;
    uint64_t key = load_relaxed(&awaits->key);
    if (likely(!key) || !node_idx)
        return;
    woken_join(thread, key);
    awaits->sampled = true;
    awaits->node_idx = node_idx;
    awaits->grafts = thread->tree.grafts;
    awaits->ns += p;
}

static void woken_book(struct thread *thread, enum profile_wake wake, uint32_t waker_idx)
{
    const struct thread_awaits *awaits = &thread->awaits;
    bool moved = awaits->grafts != thread->tree.grafts; /* the node may have moved since */
    uint32_t node_idx = moved ? capture_callback(thread, LEAF_USER).node_idx : awaits->node_idx;
    uint64_t key = PROFILE_WAKE_KEY(wake, waker_idx);
    uint32_t child = node_idx ? tree_child(&thread->tree, node_idx, PROFILE_NODE_WOKEN, key) : 0;
    struct profile_woken *woken = child ? (struct profile_woken *)tree_metric(&thread->tree, child) : NULL;
    if (!woken)
        return;
    woken->ns += awaits->ns;
    woken->waits++;
}

void woken_end(struct thread *thread, uint64_t key, bool woken)
{
    struct thread_awaits *awaits = &thread->awaits;
    uint32_t waker_idx = 0;
    awaits->sampled = false;
    if (awaits->entry && key) { /* else it is that of a wait which is over */
        waker_idx = wakers_last(awaits->entry, awaits->before);
        if (!woken_stays_at(awaits, PROFILE_WAKE_ID(key)))
            wakers_leave(awaits->entry);
        awaits->entry = 0;
    }
    if (woken && waker_idx && awaits->ns > 0)
        woken_book(thread, PROFILE_WAKE_KIND(key), waker_idx);
}

void woken_by(struct thread *thread, uintptr_t object)
{
    if (!wakers_are_awaited(object))
        return;
    uint32_t node_idx = capture_callback(thread, LEAF_USER).node_idx;
    /* A node below a placeholder moves when its region's context is known. */
    if (node_idx && tree_node(node_idx)->pending)
        tree_node(node_idx)->marks |= TREE_MARK_WRITTEN;
    wakers_note(object, node_idx);
}

/* The last sample shows which of the program's functions the thread executes, even if it began in a library's. */
void woken_by_end(struct thread *thread, uintptr_t object)
{
    const struct pthread_wait *own = &thread->pthread;
    uint32_t node_idx = own->grafts == thread->tree.grafts ? own->node_idx : 0;
    if (!wakers_are_awaited(object))
        return;
    if (!node_idx && own->start)
        node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_FRAME, capture_key(own->start));
    wakers_note(object, node_idx);
}
