/* Here, callbacks use only loads, stores and exchanges of single words. The handler uses only loads. */
#include "ompt_tool/locks/lock_names.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/os.h"
#include "cct/arena.h"

#define TABLES 3u
/* number of entries in a cache line; a search examines one line in each table, but several in the last table */
#define LINE 8u
/* for locks in the same 32 bytes, a search begins in the same cache line, so an array of locks fills whole
 * lines */
#define NEAR_BITS   3u
#define LAST_WINDOW 64u
#define CALLS       4096u /* call number 0 means "unknown" */
#define CALL_WINDOW 32u

/* An entry is one word: the lock's address / 4 (48 bits), and the number of the initialising call (16 bits).
 * Addresses are multiples of 4, because GCC's omp_lock_t has 4 bytes. */
#define CALL_BITS    16
#define ADDRESS_BITS 50
#define DESTROYED    UINT64_MAX /* the entry of a destroyed lock; a search does not end here */

static uint64_t *tables[TABLES];
static uint64_t calls[CALLS];

static uint32_t lock_table_entries(uint32_t number)
{
    static const uint32_t entries[TABLES] = {1u << 12, 1u << 17, 1u << 21};
    return entries[number];
}

static uint64_t *lock_table_make(uint32_t number)
{
    uint64_t *table = NULL, *made = os_map(lock_table_entries(number) * sizeof(*made));
    if (!made || compare_exchange(&tables[number], &table, made))
        return made;
    os_unmap(made, lock_table_entries(number) * sizeof(*made));
    return table;
}

static void lock_inits_count_lost(void)
{
    struct profile_header *header = arena_header();
    if (header)
        fetch_add_relaxed(&header->lock_inits_lost, 1);
}

/* Returns the number of the initialising call; 0 if there is no room for a new one. */
static uint32_t lock_call_number(uint64_t call)
{
    for (uint32_t i = 0, place = hash_number(call) >> 32 & (CALLS - 1); i < CALL_WINDOW;
         i++, place = (place + 1) % CALLS) {
        if (place == 0)
            continue;
        uint64_t seen = load_relaxed(&calls[place]);
        if (seen == call || (!seen && compare_exchange(&calls[place], &seen, call)) || seen == call)
            return place;
    }
    return 0;
}

/* The result of a search: the lock's entry, or a free entry for it. */
struct place {
    uint64_t *word;
    uint64_t seen; /* value that the entry had when it was read */
    bool present;
};

/* Searches one table for the lock. Returns true if no other table needs to be searched. */
static bool lock_table_search(uint32_t number, uint64_t *table, uint64_t name, struct place *found)
{
    uint32_t mask = lock_table_entries(number) - 1, at = hash_number(name >> NEAR_BITS) >> 32 & mask & ~(LINE - 1);
    uint32_t window = number == TABLES - 1 ? LAST_WINDOW : LINE;
    for (uint32_t i = 0; i < window; i++, at = (at + 1) & mask) {
        /* acquire: the call whose number the entry contains must be visible in calls[] */
        uint64_t seen = load_acquire(&table[at]);
        bool present = seen >> CALL_BITS == name && seen != DESTROYED;
        if (present || (!found->word && (!seen || seen == DESTROYED)))
            *found = (struct place){&table[at], seen, present};
        if (present || !seen)
            return true;
    }
    return false;
}

/* Returns the lock's entry. If the lock is new, returns the first entry of a destroyed lock that the search
 * met, or else the empty entry at which the search ended. */
static struct place lock_names_find(uint64_t name, bool make)
{
    struct place found = {NULL, 0, false};
    for (uint32_t number = 0; number < TABLES; number++) {
        uint64_t *table = load_acquire(&tables[number]);
        if (!table && make && !found.word)
            table = lock_table_make(number);
        if (!table || lock_table_search(number, table, name, &found))
            break;
    }
    return found;
}

static bool lock_address_is_valid(uint64_t address)
{
    return address && address % 4 == 0 && address >> (ADDRESS_BITS - 1) == 0;
}

void lock_names_initialised(uint64_t address, uint64_t call)
{
    uint32_t number = call ? lock_call_number(call) : 0;
    uint64_t name = address / 4, word = name << CALL_BITS | number;
    if (!lock_address_is_valid(address)) {
        lock_inits_count_lost();
        return;
    }
    if (call && !number)
        /* the lock is stored without its call, because the old entry's call would be wrong */
        lock_inits_count_lost();
    for (;;) {
        struct place place = lock_names_find(name, true);
        if (!place.word) {
            lock_inits_count_lost();
            return;
        }
        if (compare_exchange(place.word, &place.seen, word))
            return; /* N1: the only threads that compete for this entry initialise other locks */
    }
}

void lock_names_destroyed(uint64_t address)
{
    struct place place = lock_names_find(address / 4, false);
    if (lock_address_is_valid(address) && place.present)
        store_relaxed(place.word, DESTROYED); /* N1: no other thread writes to this entry now */
}

uint64_t lock_names_initialiser(uint64_t address)
{
    struct place place = lock_names_find(address / 4, false);
    if (!lock_address_is_valid(address) || !place.present)
        return 0;
    uint32_t call = place.seen & ((1u << CALL_BITS) - 1);
    return call < CALLS ? load_relaxed(&calls[call]) : 0;
}
