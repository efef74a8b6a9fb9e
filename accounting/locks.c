#include "accounting/locks.h"

#include <stddef.h>
#include <string.h>

#include "base/atomics.h"

#define TABLE_ENTRIES 8192u
#define MAX_PROBES    64u

#define ID_BITS   48
#define KIND_BITS 56 /* where PROFILE_LOCK_KEY has the kind */

struct entry {
    uint64_t key;                                  /* kind (4 bits), holder (12), wait id (48) */
    uint64_t lock_wait, inverse_busy, shared_idle; /* doubles, as bits */
} __attribute__((aligned(64)));

static struct entry table[TABLE_ENTRIES];

/* 0 when the lock's key does not fit. */
static uint64_t entry_key(uint64_t key, uint32_t holder)
{
    uint64_t kind = key >> KIND_BITS, id = key & ((1ull << KIND_BITS) - 1);
    if (id >> ID_BITS || kind > 15 || holder > LOCKS_ANY_HOLDER)
        return 0;
    return kind << 60 | (uint64_t)holder << ID_BITS | id;
}

static uint64_t lock_key(uint64_t key)
{
    return (key >> 60) << KIND_BITS | (key & ((1ull << ID_BITS) - 1));
}

static uint32_t first_place(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (TABLE_ENTRIES - 1);
}

/* Entries are never removed while the program runs, so an empty place ends the search. */
static struct entry *find(uint64_t key, bool make)
{
    if (!key)
        return NULL;
    uint32_t place = first_place(key);
    for (uint32_t i = 0; i < MAX_PROBES; i++, place = (place + 1) & (TABLE_ENTRIES - 1)) {
        uint64_t seen = load_acquire(&table[place].key);
        if (seen == key)
            return &table[place];
        if (seen)
            continue;
        if (!make)
            return NULL;
        if (compare_exchange(&table[place].key, &seen, key) || seen == key)
            return &table[place];
    }
    return NULL;
}

bool locks_add(uint64_t key, uint32_t holder, const struct lock_blame *blame)
{
    struct entry *entry = find(entry_key(key, holder), true);
    if (!entry)
        return false;
    atomic_add_double(&entry->inverse_busy, blame->inverse_busy);
    atomic_add_double(&entry->shared_idle, blame->shared_idle);
    atomic_add_double(&entry->lock_wait, blame->lock_wait);
    return true;
}

static bool take(struct entry *entry, struct lock_blame *blame)
{
    if (likely(load_relaxed(&entry->lock_wait) == 0))
        return false;
    blame->lock_wait = atomic_take_double(&entry->lock_wait);
    if (blame->lock_wait == 0)
        return false; /* another taker was first: the other sums are its own */
    blame->inverse_busy = atomic_take_double(&entry->inverse_busy);
    blame->shared_idle = atomic_take_double(&entry->shared_idle);
    return true;
}

bool locks_waiting(uint64_t key, uint32_t holder)
{
    const struct entry *entry = find(entry_key(key, holder), false);
    return entry && load_relaxed(&entry->lock_wait) != 0;
}

bool locks_take(uint64_t key, uint32_t holder, struct lock_blame *blame)
{
    struct entry *entry = find(entry_key(key, holder), false);
    return entry && take(entry, blame);
}

bool locks_take_rest(uint32_t *cursor, uint64_t *key, uint32_t *holder, struct lock_blame *blame)
{
    while (*cursor < TABLE_ENTRIES) {
        struct entry *entry = &table[(*cursor)++];
        *key = lock_key(entry->key);
        *holder = (uint32_t)(entry->key >> ID_BITS) & LOCKS_ANY_HOLDER;
        if (entry->key && take(entry, blame))
            return true;
    }
    return false;
}

void locks_reset(void)
{
    memset(table, 0, sizeof(table));
}
