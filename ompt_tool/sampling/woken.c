#include "ompt_tool/sampling/woken.h"

#include <stddef.h>

#include "blame/wakers.h"
#include "cct/profile_metrics.h"
#include "cct/tree.h"
#include "ompt_tool/context/capture.h"

void woken_begin(struct thread *thread, enum profile_wake wake, uintptr_t object)
{
    struct thread_awaits *awaits = &thread->awaits;
    awaits->ns = 0;
    signal_fence();
    store_relaxed(&awaits->key, PROFILE_WAKE_KEY(wake, object));
}

void woken_slept(struct thread *thread, uint32_t node_idx, double p)
{
    struct thread_awaits *awaits = &thread->awaits;
    uint64_t key = load_relaxed(&awaits->key);
    if (likely(!key) || !node_idx)
        return;
    if (!awaits->entry)
        awaits->entry = wakers_join(PROFILE_WAKE_ID(key), &awaits->before);
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
    if (awaits->entry) {
        waker_idx = wakers_last(awaits->entry, awaits->before);
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
