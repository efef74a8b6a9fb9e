#include "accounting/state.h"

#include <string.h>

static struct state_line lines[STATE_MAX_THREADS];
static uint8_t taken[STATE_MAX_THREADS];
static uint32_t high_water; /* lines at and above it were never used */

struct state_line *state_line_acquire(void)
{
    for (uint32_t i = 0; i < STATE_MAX_THREADS; i++) {
        uint8_t expected = 0;
        if (load_relaxed(&taken[i]) || !compare_exchange(&taken[i], &expected, 1))
            continue;
        memset(&lines[i], 0, sizeof(lines[i]));
        uint32_t seen = load_relaxed(&high_water);
        while (seen < i + 1 && !compare_exchange(&high_water, &seen, i + 1))
            ;
        return &lines[i];
    }
    return NULL;
}

void state_line_release(struct state_line *line)
{
    store_release(&line->state, (uint32_t)STATE_ABSENT);
    store_release(&taken[line - lines], 0);
}

void state_reset(void)
{
    memset(lines, 0, high_water * sizeof(lines[0]));
    memset(taken, 0, sizeof(taken));
    high_water = 0;
}

static bool holds(const struct state_line *line, uint64_t key)
{
    uint32_t count = load_relaxed(&line->held_count);
    if (count == 0)
        return false;
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++)
        if (load_relaxed(&line->held[i]) == key)
            return true;
    return count > STATE_HELD_LOCKS; /* one without a name may be it: never call that a handoff */
}

uint32_t state_line_number(const struct state_line *line)
{
    return (uint32_t)(line - lines);
}

uint32_t state_forget_holder(uint64_t key)
{
    uint32_t count = load_acquire(&high_water);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < STATE_HELD_LOCKS; j++)
            if (load_relaxed(&lines[i].held[j]) == key) {
                store_relaxed(&lines[i].held[j],
                              0); /* the one store into a foreign line: the name of a lost lock */
                return i;
            }
    return STATE_NO_HOLDER;
}

struct census state_census(uint64_t time_ns, uint64_t wait_key)
{
    struct census census = {0, 0, STATE_NO_HOLDER};
    uint32_t count = load_acquire(&high_water);
    for (uint32_t i = 0; i < count; i++) {
        const struct state_line *line = &lines[i];
        uint32_t state = load_acquire(&line->state); /* S2 */
        if (state == STATE_ABSENT)
            continue;
        if (wait_key && census.holder == STATE_NO_HOLDER && holds(line, wait_key))
            census.holder = i;
        if (state != STATE_IDLE) {
            census.busy++;
            census.in_use++;
            continue;
        }
        bool dispatching = time_ns < load_relaxed(&line->idle_since_ns) + STATE_GRACE_NS;
        census.busy += dispatching;
        census.in_use += dispatching || !state_is_parked(line);
    }
    return census;
}
