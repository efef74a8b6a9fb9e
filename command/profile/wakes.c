/* The file may come from an untrusted source: see merge.c. */
#include "command/profile/wakes.h"

#include <stdlib.h>

#include "command/text/memory.h"

#define MOVES_MOST 4096u /* as in trace.c */

static bool wakes_sane(const struct profile_woken *woken)
{
    return profile_number_sane(woken->ns) && profile_number_sane(woken->waits) && woken->ns >= 0 && woken->waits >= 0;
}

/* Returns the merged node for a node of the file that may have moved; UINT32_MAX if there is none. */
static uint32_t wakes_find_waker(const struct profile_chunks *chunks, const uint32_t *node_map, uint64_t id)
{
    uint32_t node_idx = id <= UINT32_MAX ? (uint32_t)id : 0;
    const struct profile_node *node = profile_node_at(chunks, node_idx);
    for (uint32_t moves = 0; node && node->kind == PROFILE_NODE_MOVED && moves < MOVES_MOST; moves++) {
        node_idx = (uint32_t)node->key;
        node = profile_node_at(chunks, node_idx);
    }
    return node && node_map[node_idx] >= PROFILE_MAP_MERGED ? node_map[node_idx] - PROFILE_MAP_MERGED : UINT32_MAX;
}

static int wakes_compare(const void *left, const void *right)
{
    const struct merged_wake *a = left, *b = right;
    if (a->waiter != b->waiter)
        return a->waiter < b->waiter ? -1 : 1;
    if (a->waker != b->waker)
        return a->waker < b->waker ? -1 : 1;
    return (a->wake > b->wake) - (a->wake < b->wake);
}

/* Sorts the pairs, and adds up those that are the same. */
static void wakes_join(struct profile *profile)
{
    size_t count = 0;
    if (!profile->wake_count)
        return;
    qsort(profile->wakes, profile->wake_count, sizeof *profile->wakes, wakes_compare);
    for (size_t i = 1; i < profile->wake_count; i++) {
        struct merged_wake *to = &profile->wakes[count], *from = &profile->wakes[i];
        if (wakes_compare(to, from) != 0) {
            profile->wakes[++count] = *from;
            continue;
        }
        to->ns += from->ns;
        to->waits += from->waits;
    }
    profile->wake_count = count + 1;
}

static void wakes_add(struct profile *profile, size_t *room, struct merged_wake wake)
{
    memory_grow(&profile->wakes, room, profile->wake_count, sizeof *profile->wakes);
    profile->wakes[profile->wake_count++] = wake;
}

const char *profile_read_wakes(const struct profile_chunks *chunks, const uint32_t *node_map, struct profile *profile)
{
    struct profile_below below;
    const struct profile_woken *woken;
    uint32_t at = 0;
    size_t room = 0;
    while ((woken = profile_next_below(chunks, node_map, PROFILE_NODE_WOKEN, &at, &below))) {
        uint64_t key = below.node->key;
        uint32_t waker = wakes_find_waker(chunks, node_map, PROFILE_WAKE_ID(key));
        if (!wakes_sane(woken))
            return "damaged: a wait for another thread is not a possible value";
        if (waker != UINT32_MAX)
            wakes_add(profile, &room,
                      (struct merged_wake){.waiter = below.merged,
                                           .waker = waker,
                                           .wake = PROFILE_WAKE_KIND(key) < PROFILE_WAKES
                                                       ? (enum profile_wake)PROFILE_WAKE_KIND(key)
                                                       : PROFILE_WAKE_UNKNOWN,
                                           .ns = woken->ns,
                                           .waits = woken->waits});
    }
    wakes_join(profile);
    return NULL;
}

void profile_add_wakes(struct profile *job, const struct profile *rank, const uint32_t *node_map)
{
    size_t room = job->wake_count;
    for (size_t i = 0; i < rank->wake_count; i++) {
        struct merged_wake wake = rank->wakes[i];
        wake.waiter = node_map[wake.waiter];
        wake.waker = node_map[wake.waker];
        wakes_add(job, &room, wake);
    }
    wakes_join(job);
}
