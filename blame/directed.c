#include "blame/directed.h"

#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/os.h"

#define TABLE_ENTRIES 8192u /* of the first table; each further one has TABLE_GROWTH times as many */
#define TABLE_GROWTH  8u
#define TABLES        3u
#define MAX_PROBES    64u

#define ID_BITS   48
#define KIND_BITS 56 /* where PROFILE_LOCK_KEY has the kind */

struct entry {
    uint64_t key;                                  /* kind (4 bits), holder (12), wait id (48) */
    uint64_t lock_wait, inverse_busy, shared_idle; /* doubles, as bits */
    uint32_t begun, ended;                         /* changes of these three */
} __attribute__((aligned(64)));

static struct entry first_table[TABLE_ENTRIES];
static struct entry *more_tables[TABLES]; /* [0] is not used; mapped when the one before has no room */
static bool is_used;                      /* else there is nothing to look for, or to wipe, in half a megabyte */

/* 0 when the lock's key does not fit. */
static uint64_t entry_key(uint64_t key, uint32_t holder)
{
    uint64_t kind = key >> KIND_BITS, id = key & ((1ull << KIND_BITS) - 1);
    if (id >> ID_BITS || kind > 15 || holder > DIRECTED_ANY_HOLDER)
        return 0;
    return kind << 60 | (uint64_t)holder << ID_BITS | id;
}

static uint64_t lock_key(uint64_t key)
{
    return (key >> 60) << KIND_BITS | (key & ((1ull << ID_BITS) - 1));
}

static uint32_t entries_of(uint32_t number)
{
    uint32_t entries = TABLE_ENTRIES;
    while (number-- > 0)
        entries *= TABLE_GROWTH;
    return entries;
}

static struct entry *table_of(uint32_t number, bool make)
{
    if (likely(number == 0))
        return first_table;
    struct entry *table = load_acquire(&more_tables[number]);
    if (table || !make)
        return table;
    struct entry *made = os_map(entries_of(number) * sizeof(*made));
    if (!made || compare_exchange(&more_tables[number], &table, made))
        return made;
    os_unmap(made, entries_of(number) * sizeof(*made));
    return table;
}

/* One table's search: the key's entry, or the empty place where it would be; NULL when neither is near. */
static struct entry *probe(struct entry *table, uint32_t entries, uint64_t key)
{
    uint32_t place = (uint32_t)(hash_number(key) >> 32) & (entries - 1);
    for (uint32_t i = 0; i < MAX_PROBES; i++, place = (place + 1) & (entries - 1)) {
        uint64_t seen = load_acquire(&table[place].key);
        if (seen == key || !seen)
            return &table[place];
    }
    return NULL;
}

/* Entries are never removed while the program runs, so an empty place ends the search, in later tables too. */
static struct entry *find(uint64_t key, bool make)
{
    if (!key)
        return NULL;
    for (uint32_t number = 0; number < TABLES; number++) {
        struct entry *table = table_of(number, make);
        if (!table)
            return NULL;
        struct entry *entry = probe(table, entries_of(number), key);
        while (entry) {
            uint64_t seen = load_acquire(&entry->key);
            if (seen == key)
                return entry;
            if (!make)
                return NULL;
            store_relaxed(&is_used, true);
            if (!seen && compare_exchange(&entry->key, &seen, key))
                return entry;
            if (seen != key) /* the place went to another lock meanwhile */
                entry = probe(table, entries_of(number), key);
        }
    }
    return NULL;
}

static void add(struct entry *entry, const struct lock_blame *blame)
{
    atomic_add_double(&entry->inverse_busy, blame->inverse_busy);
    atomic_add_double(&entry->shared_idle, blame->shared_idle);
    if (atomic_add_double(&entry->lock_wait, blame->lock_wait))
        contended_blame_left(lock_key(load_relaxed(&entry->key)));
    fetch_add_acq_rel(&entry->ended, 1);
}

bool directed_add(uint64_t key, uint32_t holder, const struct lock_blame *blame)
{
    struct entry *entry = find(entry_key(key, holder), true);
    if (!entry)
        return false;
    fetch_add_acq_rel(&entry->begun, 1);
    add(entry, blame);
    return true;
}

static bool take(struct entry *entry, struct lock_blame *blame)
{
    if (likely(load_relaxed(&entry->lock_wait) == 0))
        return false;
    blame->lock_wait = atomic_take_double(&entry->lock_wait);
    if (blame->lock_wait == 0)
        return false; /* another taker was first: the other sums are its own */
    contended_blame_taken(lock_key(load_relaxed(&entry->key)));
    blame->inverse_busy = atomic_take_double(&entry->inverse_busy);
    blame->shared_idle = atomic_take_double(&entry->shared_idle);
    return true;
}

/* The three sums of the same samples, or nothing yet: while another thread changes them, perhaps for long as it has lost
 * its core, they wait for the next release. */
static bool take_together(struct entry *entry, struct lock_blame *blame)
{
    if (likely(load_relaxed(&entry->lock_wait) == 0))
        return false;
    uint32_t ended = load_acquire(&entry->ended);
    if (!compare_exchange(&entry->begun, &ended, ended + 1))
        return false;
    bool taken = take(entry, blame);
    if (likely(load_acquire(&entry->begun) == ended + 1)) {
        fetch_add_acq_rel(&entry->ended, 1);
        return taken;
    }
    if (taken)
        add(entry, blame);
    else
        fetch_add_acq_rel(&entry->ended, 1);
    return false;
}

bool directed_waiting_for(uint64_t key, uint32_t holder)
{
    const struct entry *entry = find(entry_key(key, holder), false);
    return entry && load_relaxed(&entry->lock_wait) != 0;
}

bool directed_take(uint64_t key, uint32_t holder, struct lock_blame *blame)
{
    struct entry *entry = find(entry_key(key, holder), false);
    return entry && take_together(entry, blame);
}

bool directed_take_rest(uint32_t *cursor, uint64_t *key, uint32_t *holder, struct lock_blame *blame)
{
    uint32_t begin = 0;
    for (uint32_t number = 0; number < TABLES && load_relaxed(&is_used); begin += entries_of(number++)) {
        struct entry *table = table_of(number, false);
        while (table && *cursor >= begin && *cursor < begin + entries_of(number)) {
            struct entry *entry = &table[(*cursor)++ - begin];
            *key = lock_key(entry->key);
            *holder = (uint32_t)(entry->key >> ID_BITS) & DIRECTED_ANY_HOLDER;
            if (entry->key && take(entry, blame))
                return true;
        }
    }
    return false;
}

void directed_reset(void)
{
    contended_reset();
    if (!is_used)
        return;
    is_used = false;
    memset(first_table, 0, sizeof(first_table));
    for (uint32_t number = 1; number < TABLES; number++)
        if (more_tables[number])
            os_unmap(more_tables[number], entries_of(number) * sizeof(struct entry));
    memset(more_tables, 0, sizeof(more_tables));
}
