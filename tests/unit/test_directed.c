#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>

#include "base/atomics.h"
#include "blame/directed.h"
#include "blame/state.h"

#define TABLE_ENTRIES 8192u
#define ALL_ENTRIES   (TABLE_ENTRIES * (1 + 8 + 64)) /* three tables */
#define MAX_PROBES    64u

static int reset(void **unused)
{
    (void)unused;
    directed_reset();
    return 0;
}

#define FROM_EMPTY(name) UNIT_TEST_WITH(name, reset, NULL)

#define HOLDER 5u

static bool add(uint64_t key, double wait, double inverse, double shared)
{
    return directed_add(key, HOLDER, &(struct lock_blame){wait, inverse, shared});
}

static bool take(uint64_t key, struct lock_blame *blame)
{
    return directed_take(key, HOLDER, blame);
}

static bool take_rest(uint32_t *cursor, uint64_t *key, struct lock_blame *blame)
{
    uint32_t holder = 0xffff;
    bool found = directed_take_rest(cursor, key, &holder, blame);
    if (found)
        assert_int_equal(holder, HOLDER);
    return found;
}

/* The place of a lock's entry, as blame/directed.c has it: what collides is chosen by hand. */
static uint32_t place_of(uint64_t wait_id)
{
    uint64_t key = (uint64_t)HOLDER << 48 | wait_id;
    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (TABLE_ENTRIES - 1);
}

static uint64_t key_at_place(uint32_t place, uint64_t *from)
{
    while (place_of(++*from) != place)
        ;
    return *from;
}

FROM_EMPTY(keys_are_told_apart_by_all_their_bits)
{
    struct lock_blame blame;
    uint64_t base = 0x0300000012345678ull;
    assert_true(add(base, 1, 0, 0));
    assert_true(add(base ^ 1ull << 59, 2, 0, 0));
    assert_true(add(base ^ 1, 4, 0, 0));
    assert_true(take(base, &blame) && blame.lock_wait == 1);
    assert_true(take(base ^ 1ull << 59, &blame) && blame.lock_wait == 2);
    assert_true(take(base ^ 1, &blame) && blame.lock_wait == 4);
}

FROM_EMPTY(each_holder_takes_what_was_meant_for_it)
{
    const uint64_t key = 0x0300000000001000ull;
    static const uint32_t holders[] = {0, 1, 4094, DIRECTED_ANY_HOLDER};
    struct lock_blame blame;
    for (uint32_t i = 0; i < 4; i++)
        assert_true(directed_add(key, holders[i], &(struct lock_blame){1 << i, 0, 0}));
    assert_false(directed_waiting(key, 2));
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(directed_waiting(key, holders[i]));
        assert_true(directed_take(key, holders[i], &blame));
        assert_true(blame.lock_wait == 1 << i);
    }
}

/* A thread's line number must never read as "whoever releases next". */
FROM_EMPTY(every_thread_has_a_number_of_its_own)
{
    assert_true(STATE_MAX_THREADS - 1 < DIRECTED_ANY_HOLDER);
}

FROM_EMPTY(a_key_that_does_not_fit_is_refused)
{
    struct lock_blame blame = {1, 1, 1};
    uint32_t cursor = 0;
    uint64_t key;
    assert_false(directed_add(1ull << 48, HOLDER, &blame)); /* the wait id's bit 48 */
    assert_false(directed_add(16ull << 56 | 1, HOLDER, &blame));
    assert_false(directed_add(5, DIRECTED_ANY_HOLDER + 1, &blame));
    assert_false(directed_waiting(1ull << 48, HOLDER));
    assert_false(directed_take(1ull << 48, HOLDER, &blame));
    assert_false(take_rest(&cursor, &key, &blame));
    cursor = 0;
    assert_true(directed_add(15ull << 56 | ((1ull << 48) - 1), HOLDER, &blame)); /* the widest that fits */
    assert_true(take_rest(&cursor, &key, &blame));
    assert_int_equal(key, 15ull << 56 | ((1ull << 48) - 1)); /* the rest names the lock as it was given */
}

FROM_EMPTY(colliding_keys_beyond_the_limit_go_to_a_larger_table)
{
    uint64_t keys[MAX_PROBES + 1], from = 0;
    struct lock_blame blame;
    for (uint32_t i = 0; i <= MAX_PROBES; i++)
        keys[i] = key_at_place(100, &from);
    for (uint32_t i = 0; i < MAX_PROBES; i++)
        assert_true(add(keys[i], i + 1, 0, 0));
    assert_false(directed_waiting(keys[MAX_PROBES], HOLDER));
    assert_false(take(keys[MAX_PROBES], &blame));
    assert_true(add(keys[MAX_PROBES], MAX_PROBES + 1, 0, 0)); /* not dropped into another's entry */
    for (uint32_t i = 0; i <= MAX_PROBES; i++) {
        assert_true(take(keys[i], &blame));
        assert_true(blame.lock_wait == i + 1);
    }
    assert_true(add(keys[0], 1, 0, 0)); /* a known key always has room */
}

FROM_EMPTY(probing_wraps_around_the_tables_end)
{
    uint64_t from = 0;
    struct lock_blame blame;
    for (uint32_t i = 0; i < 8; i++)
        assert_true(add(key_at_place(TABLE_ENTRIES - 2, &from), i + 1, 0, 0));
    from = 0;
    for (uint32_t i = 0; i < 8; i++) {
        assert_true(take(key_at_place(TABLE_ENTRIES - 2, &from), &blame));
        assert_true(blame.lock_wait == i + 1);
    }
}

FROM_EMPTY(full_tables_refuse_and_keep_what_they_have)
{
    double added = 0, refused = 0, found = 0;
    uint32_t entries = 0, cursor = 0;
    uint64_t key = 0;
    struct lock_blame blame;
    for (uint64_t i = 1; i <= 4 * ALL_ENTRIES; i++) {
        if (add(i * 64, 1, 2, 3))
            added++;
        else
            refused++;
    }
    assert_true(refused > 0 && added <= ALL_ENTRIES && added > ALL_ENTRIES * 0.9);
    while (take_rest(&cursor, &key, &blame)) {
        assert_int_equal(key % 64, 0);
        assert_true(blame.lock_wait == 1 && blame.inverse_busy == 2 && blame.shared_idle == 3);
        found += blame.lock_wait;
        entries++;
    }
    assert_true(found == added);
    assert_int_equal(entries, added);
    cursor = 0;
    assert_false(take_rest(&cursor, &key, &blame));
}

#define CLAIM_ROUNDS 100000u
#define CLAIM_BATCH  500u /* rounds until the table is emptied again */

/* Two threads add to one place of the table at the same moment, round after round. */
static struct claims {
    uint32_t round, done;
    uint64_t keys[2]; /* of this round */
} claims;

static void wait_for(uint32_t *word, uint32_t value)
{
    for (uint32_t spins = 0; load_acquire(word) != value; spins++)
        if (spins % 1000 == 999)
            sched_yield();
}

static void *claim_second(void *argument)
{
    (void)argument;
    for (uint32_t round = 1; round <= CLAIM_ROUNDS; round++) {
        wait_for(&claims.round, round);
        if (!add(claims.keys[1], 1, 0, 0))
            abort();
        store_release(&claims.done, round);
    }
    return NULL;
}

/* True if each key has what was added to it: it is not in two entries, nor in another key's. */
static bool claimed_right(void)
{
    struct lock_blame blame;
    if (claims.keys[0] == claims.keys[1])
        return take(claims.keys[0], &blame) && blame.lock_wait == 2;
    return take(claims.keys[0], &blame) && blame.lock_wait == 1 && take(claims.keys[1], &blame) && blame.lock_wait == 1;
}

static void check_claims(bool same_key)
{
    pthread_t thread;
    static uint64_t keys[CLAIM_BATCH][2]; /* the same in each batch: to find one takes longer than a round */
    uint64_t from = 0;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < CLAIM_BATCH; i++) {
        keys[i][0] = key_at_place(i * 16, &from); /* an empty one */
        keys[i][1] = same_key ? keys[i][0] : key_at_place(i * 16, &from);
    }
    claims = (struct claims){0};
    pthread_create(&thread, NULL, claim_second, NULL);
    for (uint32_t round = 1; round <= CLAIM_ROUNDS; round++) {
        if (round % CLAIM_BATCH == 0)
            directed_reset();
        memcpy(claims.keys, keys[round % CLAIM_BATCH], sizeof claims.keys);
        store_release(&claims.round, round);
        if (!add(claims.keys[0], 1, 0, 0))
            abort();
        wait_for(&claims.done, round);
        wrong += !claimed_right();
    }
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
}

FROM_EMPTY(threads_that_claim_one_entry_share_it)
{
    check_claims(true);
}

FROM_EMPTY(threads_that_claim_one_place_get_an_entry_each)
{
    check_claims(false);
}

/* The flag is a bit of the kind: a spin lock's kind is that bit alone. */
FROM_EMPTY(locks_of_posix_threads_are_not_taken_for_locks_without_a_core)
{
    const uint64_t spin = PROFILE_LOCK_KEY(PROFILE_LOCK_SPIN, 0x1000),
                   lock = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0x1000);
    struct lock_blame blame;
    uint32_t cursor = 0, holder;
    uint64_t key;
    assert_false(directed_is_no_core(spin));
    assert_true(directed_is_no_core(DIRECTED_NO_CORE | lock));
    assert_int_equal(directed_lock_of(DIRECTED_NO_CORE | lock), lock);
    assert_true(directed_add(spin, DIRECTED_ANY_HOLDER, &(struct lock_blame){3, 2, 1}));
    assert_true(directed_waiting(spin, DIRECTED_ANY_HOLDER));
    assert_false(directed_waiting(DIRECTED_NO_CORE | lock, DIRECTED_ANY_HOLDER));
    assert_true(directed_take_rest(&cursor, &key, &holder, &blame));
    assert_int_equal(directed_lock_of(key), spin);
    assert_int_equal(holder, DIRECTED_ANY_HOLDER);
}

FROM_EMPTY(blame_for_a_thread_that_is_not_measured_stays_and_raises_no_word)
{
    const uint64_t mutex = PROFILE_LOCK_KEY(PROFILE_LOCK_MUTEX, 0x2000);
    struct lock_blame blame;
    uint32_t cursor = 0, holder;
    uint64_t key;
    assert_true(directed_add(mutex, DIRECTED_NOT_MEASURED, &(struct lock_blame){3, 2, 1}));
    assert_false(contended_has_blame(mutex));
    assert_false(directed_take(mutex, DIRECTED_ANY_HOLDER, &blame));
    assert_true(directed_add(mutex, DIRECTED_ANY_HOLDER, &(struct lock_blame){5, 0, 0}));
    assert_true(directed_take(mutex, DIRECTED_ANY_HOLDER, &blame));
    assert_true(blame.lock_wait == 5);
    assert_false(contended_has_blame(mutex));
    assert_true(directed_take_rest(&cursor, &key, &holder, &blame));
    assert_int_equal(key, mutex);
    assert_true(blame.lock_wait == 3);
    assert_false(contended_has_blame(mutex));
}

UNIT_MAIN(NULL, NULL)
