#include "blame/directed.h"

#include <stddef.h>
#include <string.h>

#include "base/atomics.h"
#include "base/os.h"

/* entries of the first table; each further table has TABLE_GROWTH times as many */
#define TABLE_ENTRIES 8192u
#define TABLE_GROWTH  8u
#define TABLES        3u
#define MAX_PROBES    64u

#define ID_BITS   48
#define KIND_BITS 56 /* position of the kind in a PROFILE_LOCK_KEY */

struct entry {
    /* kind (4 bits), line of the holder (12 bits), wait id (48 bits) */
    uint64_t key;
    uint64_t lock_wait, inverse_busy, shared_idle; /* sums in ns, each stored as the bits of a double */
    /* number of changes to these sums that have begun, and that have ended */
    uint32_t begun, ended;
} __attribute__((aligned(64)));

static struct entry first_table[TABLE_ENTRIES];
/* [0] is unused. A table is mapped when the one before it has no room. */
static struct entry *more_tables[TABLES];
static bool is_used; /* false: nothing was ever added, so half a megabyte need not be searched or cleared */

/* Returns the tables' key for a lock and its holder; 0 if the lock's key does not fit. */
static uint64_t directed_entry_key(uint64_t key, uint32_t holder)
{
    uint64_t kind = key >> KIND_BITS, id = key & ((1ull << KIND_BITS) - 1);
    if (id >> ID_BITS || kind > 15 || holder > DIRECTED_ANY_HOLDER)
        return 0;
    return kind << 60 | (uint64_t)holder << ID_BITS | id;
}

static uint64_t directed_lock_key(uint64_t key)
{
    return (key >> 60) << KIND_BITS | (key & ((1ull << ID_BITS) - 1));
}

static uint32_t directed_table_entries(uint32_t number)
{
    uint32_t entries = TABLE_ENTRIES;
    while (number-- > 0)
        entries *= TABLE_GROWTH;
    return entries;
}

static struct entry *directed_table(uint32_t number, bool make)
{
    if (likely(number == 0))
        return first_table;
    struct entry *table = load_acquire(&more_tables[number]);
    if (table || !make)
        return table;
    struct entry *made = os_map(directed_table_entries(number) * sizeof(*made));
    if (!made || compare_exchange(&more_tables[number], &table, made))
        return made;
    os_unmap(made, directed_table_entries(number) * sizeof(*made));
    return table;
}

/* Searches one table. Returns the key's entry, or the empty entry where it belongs; NULL if neither is within
 * MAX_PROBES. */
static struct entry *directed_search_table(struct entry *table, uint32_t entries, uint64_t key)
{
    uint32_t slot = (uint32_t)(hash_number(key) >> 32) & (entries - 1);
    for (uint32_t i = 0; i < MAX_PROBES; i++, slot = (slot + 1) & (entries - 1)) {
        uint64_t seen = load_acquire(&table[slot].key);
        if (seen == key || !seen)
            return &table[slot];
    }
    return NULL;
}

/* Returns the key's entry. If there is none, creates it if `make` is set, otherwise returns NULL. Entries are
 * never removed while the program runs, so an empty entry also ends the search in later tables. */
static struct entry *directed_find(uint64_t key, bool make)
{
    if (!key)
        return NULL;
    for (uint32_t number = 0; number < TABLES; number++) {
        struct entry *table = directed_table(number, make);
        if (!table)
            return NULL;
        struct entry *entry = directed_search_table(table, directed_table_entries(number), key);
        while (entry) {
            uint64_t seen = load_acquire(&entry->key);
            if (seen == key)
                return entry;
            if (!make)
                return NULL;
            store_relaxed(&is_used, true);
            if (!seen && compare_exchange(&entry->key, &seen, key))
                return entry;
            if (seen != key) /* another lock has taken the entry meanwhile */
                entry = directed_search_table(table, directed_table_entries(number), key);
        }
    }
    return NULL;
}

/* Counts the lock as one with blame (`left`), or as one without. Blame that stays until the end is not counted: no
 * release takes it. */
static void directed_entry_count(const struct entry *entry, bool left)
{
    uint64_t key = load_relaxed(&entry->key), lock = directed_lock_of(directed_lock_key(key));
    if (contended_is_posix(lock) && (key >> ID_BITS & DIRECTED_ANY_HOLDER) == DIRECTED_NOT_MEASURED)
        return;
    if (left)
        contended_blame_left(lock);
    else
        contended_blame_taken(lock);
}

static void directed_entry_add(struct entry *entry, const struct lock_blame *blame)
{
    atomic_add_double(&entry->inverse_busy, blame->inverse_busy);
    atomic_add_double(&entry->shared_idle, blame->shared_idle);
    if (atomic_add_double(&entry->lock_wait, blame->lock_wait))
        directed_entry_count(entry, true);
    fetch_add_acq_rel(&entry->ended, 1);
}

bool directed_add(uint64_t key, uint32_t holder, const struct lock_blame *blame)
{
    struct entry *entry = directed_find(directed_entry_key(key, holder), true);
    if (!entry)
        return false;
    fetch_add_acq_rel(&entry->begun, 1);
    directed_entry_add(entry, blame);
    return true;
}

static bool directed_entry_take(struct entry *entry, struct lock_blame *blame)
{
    if (likely(load_relaxed(&entry->lock_wait) == 0))
        return false;
    blame->lock_wait = atomic_take_double(&entry->lock_wait);
    if (blame->lock_wait == 0)
        return false; /* another thread was first and takes the other sums, too */
    directed_entry_count(entry, false);
    blame->inverse_busy = atomic_take_double(&entry->inverse_busy);
    blame->shared_idle = atomic_take_double(&entry->shared_idle);
    return true;
}

/* Takes all three sums, of the same samples, or nothing. If another thread is changing them, the sums wait
 * for the next release; a change can take long if that thread loses its core. */
static bool directed_entry_take_together(struct entry *entry, struct lock_blame *blame)
{
    if (likely(load_relaxed(&entry->lock_wait) == 0))
        return false;
    uint32_t ended = load_acquire(&entry->ended);
    if (!compare_exchange(&entry->begun, &ended, ended + 1))
        return false;
    bool taken = directed_entry_take(entry, blame);
    if (likely(load_acquire(&entry->begun) == ended + 1)) {
        fetch_add_acq_rel(&entry->ended, 1);
        return taken;
    }
    if (taken)
        directed_entry_add(entry, blame);
    else
        fetch_add_acq_rel(&entry->ended, 1);
    return false;
}

bool directed_waiting_for(uint64_t key, uint32_t holder)
{
    const struct entry *entry = directed_find(directed_entry_key(key, holder), false);
    return entry && load_relaxed(&entry->lock_wait) != 0;
}

bool directed_take(uint64_t key, uint32_t holder, struct lock_blame *blame)
{
    struct entry *entry = directed_find(directed_entry_key(key, holder), false);
    return entry && directed_entry_take_together(entry, blame);
}

bool directed_take_rest(uint32_t *cursor, uint64_t *key, uint32_t *holder, struct lock_blame *blame)
{
    uint32_t begin = 0;
    for (uint32_t number = 0; number < TABLES && load_relaxed(&is_used); begin += directed_table_entries(number++)) {
        struct entry *table = directed_table(number, false);
        while (table && *cursor >= begin && *cursor < begin + directed_table_entries(number)) {
            struct entry *entry = &table[(*cursor)++ - begin];
            *key = directed_lock_key(entry->key);
            *holder = (uint32_t)(entry->key >> ID_BITS) & DIRECTED_ANY_HOLDER;
            if (entry->key && directed_entry_take(entry, blame))
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
            os_unmap(more_tables[number], directed_table_entries(number) * sizeof(struct entry));
    memset(more_tables, 0, sizeof(more_tables));
}
