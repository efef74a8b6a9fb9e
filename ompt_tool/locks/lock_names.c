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

/* number of locks at equal distances after which the array gets a row, and the largest distance in bytes */
#define ROW_LEAST    1024u
#define ROW_DISTANCE 4096u
#define ROWS         64u

static uint64_t *tables[TABLES];
static uint64_t calls[CALLS];
static struct lock_row rows[ROWS];
static uint64_t rows_begun;

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

/* Returns a row for an array: the row that this array had when it was initialised before, or else an unused
 * one. Returns NULL if there is none. */
static struct lock_row *lock_row_take(uint64_t first, uint64_t call)
{
    uint64_t none = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        if (load_acquire(&rows[i].order) && load_relaxed(&rows[i].first) == first &&
            load_relaxed(&rows[i].call) == call)
            return &rows[i];
    for (uint32_t i = 0; i < ROWS; i++, none = 0)
        if (!load_relaxed(&rows[i].call) && compare_exchange(&rows[i].call, &none, call))
            return &rows[i];
    return NULL;
}

/* The lock just noted in a table is the first one that the row contains, too. */
static void lock_row_begin(struct lock_streak *streak, uint64_t address, uint64_t call)
{
    struct lock_row *row = lock_row_take(address, call);
    if (!row)
        return;
    store_relaxed(&row->order, 0);
    release_fence(); /* a reader that sees a store below also sees that one */
    store_relaxed(&row->first, address);
    store_relaxed(&row->distance, streak->distance);
    store_relaxed(&row->end, streak->next);
    /* pairs with the load of `order` in lock_row_find(): a reader that sees the order sees the row */
    store_release(&row->order, fetch_add_relaxed(&rows_begun, 1) + 1);
    streak->row = row;
}

void lock_streak_add(struct lock_streak *streak, uint64_t address, uintptr_t codeptr, uint64_t call)
{
    uint64_t before = streak->next - streak->distance, distance = address - before;
    bool same = streak->codeptr == codeptr && call && distance && distance <= ROW_DISTANCE && distance % 4 == 0 &&
                lock_address_is_valid(address);
    streak->length = same && distance == streak->distance ? streak->length + 1 : 0;
    streak->row = NULL;
    streak->codeptr = codeptr;
    streak->distance = same ? distance : 0;
    streak->next = address + streak->distance;
    if (unlikely(streak->length >= ROW_LEAST))
        lock_row_begin(streak, address, call);
}

/* Returns the call that initialised a lock of an array; 0 if the lock is in no row. Of several rows, the one
 * that was begun last counts. */
static uint64_t lock_rows_find(uint64_t address)
{
    uint64_t latest = 0, call = 0;
    for (uint32_t i = 0; i < ROWS && load_relaxed(&rows[i].call); i++) {
        uint64_t order = load_acquire(&rows[i].order), end = load_acquire(&rows[i].end);
        uint64_t first = load_acquire(&rows[i].first), distance = load_acquire(&rows[i].distance);
        uint64_t found = load_acquire(&rows[i].call);
        /* The row's owner may have begun another array meanwhile. */
        if (order > latest && load_relaxed(&rows[i].order) == order && address - first < end - first &&
            (address - first) % distance == 0) {
            latest = order;
            call = found;
        }
    }
    return call;
}

uint64_t lock_names_initialiser(uint64_t address)
{
    struct place place = lock_names_find(address / 4, false);
    if (!lock_address_is_valid(address))
        return 0;
    if (!place.present)
        return lock_rows_find(address);
    uint32_t call = place.seen & ((1u << CALL_BITS) - 1);
    return call < CALLS ? load_relaxed(&calls[call]) : 0;
}
