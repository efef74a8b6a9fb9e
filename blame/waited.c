#include "blame/waited.h"

#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"

#define MOST_HALVINGS 31u

/* Returns the lock for which a thread waits, if the samples of the lock's holder count that; 0 otherwise. */
static uint64_t waited_key(const struct state_line *line, const struct state_line *own)
{
    uint64_t key = load_acquire(&line->wait_key);
    if (likely(PROFILE_LOCK_KEY_KIND(key) < PROFILE_LOCK_MUTEX) || line == own ||
        load_acquire(&line->state) == STATE_ABSENT || load_relaxed(&line->wait_uncounted))
        return 0;
    return key;
}

static bool waited_is_drawn(uint64_t key, uint64_t salt, uint32_t one_in)
{
    uint64_t hash = hash_number(key ^ hash_number(salt));
    return (hash_number(hash ^ (hash >> 32)) >> 32 & (one_in - 1)) == 0;
}

/* Returns the number of keys before `key`. */
static uint32_t waited_place(const struct waited *waited, uint64_t key)
{
    uint32_t at = 0;
    while (at < waited->count && waited->key[at] != key)
        at++;
    return at;
}

/* Keeps one key in two, or so. */
static void waited_halve(struct waited *waited, uint64_t salt)
{
    uint32_t kept = 0;
    waited->one_in *= 2;
    for (uint32_t i = 0; i < waited->count; i++)
        if (waited_is_drawn(waited->key[i], salt, waited->one_in))
            waited->key[kept++] = waited->key[i];
    waited->count = kept;
}

static void waited_add(struct waited *waited, uint64_t key, uint64_t salt)
{
    if (!waited_is_drawn(key, salt, waited->one_in) || waited_place(waited, key) < waited->count)
        return;
    while (waited->count == WAITED_LOCKS && waited->one_in < 1u << MOST_HALVINGS)
        waited_halve(waited, salt);
    if (waited->count < WAITED_LOCKS && waited_is_drawn(key, salt, waited->one_in))
        waited->key[waited->count++] = key;
}

void waited_find(const struct state_line *own, uint64_t salt, struct waited *waited)
{
    const struct state_line *line;
    waited->count = 0;
    waited->one_in = 1;
    for (uint32_t number = 0; (line = state_line_at(number)); number++) {
        uint64_t key = waited_key(line, own);
        if (unlikely(key))
            waited_add(waited, key, salt);
    }
}

void waited_count(const struct state_line *own, int64_t ticks, const struct waited *waited,
                  uint32_t waiters[WAITED_LOCKS])
{
    const struct state_line *line;
    memset(waiters, 0, WAITED_LOCKS * sizeof(*waiters));
    for (uint32_t number = 0; (line = state_line_at(number)); number++) {
        uint64_t key = waited_key(line, own);
        uint32_t at = unlikely(key) ? waited_place(waited, key) : waited->count;
        if (at < waited->count && (int64_t)load_relaxed(&line->wait_since) - ticks <= 0)
            waiters[at]++;
    }
}
