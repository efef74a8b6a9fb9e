#include "blame/wakers.h"

#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/hash.h"

#define BITS        10
#define ENTRIES     (1u << BITS)
#define MAX_PROBES  8u
#define MAX_TRIES   8u
#define COUNT_BITS  16
#define MOST_JOINED ((1u << COUNT_BITS) - 1)
#define OBJECT_BITS (64 - COUNT_BITS)
#define ALONE       1u /* in a time: one thread waited */

static struct entry {
    uint64_t joined;  /* the object's address << COUNT_BITS | number of threads that have joined; 0 of them: free */
    uint64_t waker;   /* number of changes << 32 | node of the last waker */
    uint32_t waiting; /* number of those that wait now */
    /* times of the last changes, with the bit ALONE; that of number n at n % WAKERS_TIMES */
    uint64_t ticks[WAKERS_TIMES];
} table[ENTRIES];

static uint32_t nobody_reads;
static uint32_t *awaited = &nobody_reads; /* wakers_count() */

static uint32_t wakers_slot(uint64_t object, uint32_t probe)
{
    return ((uint32_t)(hash_number(object) >> (64 - BITS)) + probe) % ENTRIES;
}

static uint64_t wakers_next(uint64_t waker, uint32_t node_idx)
{
    return ((waker >> 32) + 1) << 32 | node_idx;
}

/* Returns the word of an entry in use for the object, whose entry is to be joined; or else that of a free entry, if there
 * is one. Sets *found to the entry. */
static uint64_t wakers_find(uint64_t object, struct entry **found)
{
    uint64_t free_word = 0;
    *found = NULL;
    for (uint32_t probe = 0; probe < MAX_PROBES; probe++) {
        struct entry *entry = &table[wakers_slot(object, probe)];
        uint64_t joined = load_acquire(&entry->joined);
        if (joined & MOST_JOINED ? joined >> COUNT_BITS != object : *found != NULL)
            continue;
        *found = entry;
        free_word = joined;
        if (joined & MOST_JOINED)
            break;
    }
    return free_word;
}

uint32_t wakers_join(uint64_t object, uint64_t *before)
{
    struct entry *entry;
    if (object >> OBJECT_BITS)
        return 0;
    for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
        uint64_t joined = wakers_find(object, &entry);
        bool is_new = !(joined & MOST_JOINED);
        if (!entry || (joined & MOST_JOINED) == MOST_JOINED)
            return 0;
        if (!compare_exchange(&entry->joined, &joined, is_new ? object << COUNT_BITS | MOST_JOINED : joined + 1))
            continue;
        if (is_new) {
            *before = fetch_add_acq_rel(&entry->waker, 1ull << 32) + (1ull << 32);
            store_release(&entry->joined, object << COUNT_BITS | 1); /* others may join now (K1) */
        } else {
            *before = load_acquire(&entry->waker);
        }
        fetch_add_acq_rel(awaited, 1);
        return 1 + (uint32_t)(entry - table);
    }
    return 0;
}

void wakers_leave(uint32_t entry)
{
    fetch_sub_acq_rel(&table[entry - 1].joined, 1);
    fetch_sub_acq_rel(awaited, 1);
}

uint64_t wakers_before(uint32_t entry)
{
    return load_acquire(&table[entry - 1].waker);
}

uint32_t wakers_times(uint32_t entry, uint64_t before, uint64_t times[WAKERS_TIMES])
{
    const struct entry *of = &table[entry - 1];
    uint32_t last = (uint32_t)(load_acquire(&of->waker) >> 32), count = last - (uint32_t)(before >> 32);
    count = count < WAKERS_TIMES ? count : WAKERS_TIMES;
    for (uint32_t i = 0; i < count; i++)
        times[i] = load_relaxed(&of->ticks[(last - count + 1 + i) % WAKERS_TIMES]);
    return count;
}

void wakers_count_waiting(uint32_t entry, int32_t more)
{
    fetch_add_relaxed(&table[entry - 1].waiting, (uint32_t)more);
}

uint64_t wakers_woke_one(uint32_t entry, uint64_t before)
{
    uint64_t times[WAKERS_TIMES];
    return wakers_times(entry, before, times) && times[0] & ALONE ? times[0] : 0;
}

uint32_t wakers_last(uint32_t entry, uint64_t before)
{
    uint64_t waker = load_acquire(&table[entry - 1].waker);
    return waker >> 32 == before >> 32 ? 0 : (uint32_t)waker;
}

static bool wakers_entry_is_of(const struct entry *entry, uint64_t object)
{
    uint64_t joined = load_acquire(&entry->joined);
    return joined >> COUNT_BITS == object && joined & MOST_JOINED;
}

bool wakers_are_awaited(uint64_t object)
{
    for (uint32_t probe = 0; probe < MAX_PROBES; probe++)
        if (wakers_entry_is_of(&table[wakers_slot(object, probe)], object))
            return true;
    return false;
}

/* Two threads that join an object at the same time may make two entries: both learn the waker. */
void wakers_note(uint64_t object, uint32_t node_idx)
{
    for (uint32_t probe = 0; probe < MAX_PROBES; probe++) {
        struct entry *entry = &table[wakers_slot(object, probe)];
        uint64_t waker = load_acquire(&entry->waker); /* first (K1) */
        uint64_t next = wakers_next(waker, node_idx);
        if (!wakers_entry_is_of(entry, object))
            continue;
        uint64_t alone = load_relaxed(&entry->waiting) == 1 ? ALONE : 0;
        store_relaxed(&entry->ticks[(next >> 32) % WAKERS_TIMES], (clock_ticks() & ~(uint64_t)ALONE) | alone);
        /* If the exchange fails, another thread signals the object at the same moment. */
        compare_exchange(&entry->waker, &waker, next);
    }
}

void wakers_count(uint32_t *word)
{
    awaited = word;
}

void wakers_reset(void)
{
    memset(table, 0, sizeof(table));
    store_relaxed(awaited, 0);
}
