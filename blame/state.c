#include "blame/state.h"

#include <string.h>

static struct state_line lines[STATE_MAX_THREADS];
struct state_line state_nobody;
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
    store_release(&line->state, (uint16_t)STATE_ABSENT);
    store_release(&taken[line - lines], 0);
}

void state_reset(void)
{
    memset(lines, 0, high_water * sizeof(lines[0]));
    memset(taken, 0, sizeof(taken));
    high_water = 0;
}

static bool names(const struct state_line *line, uint64_t key)
{
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++)
        if (load_relaxed(&line->held[i]) == key)
            return true;
    return false;
}

struct state_line *state_line_at(uint32_t number)
{
    return number < load_acquire(&high_water) ? &lines[number] : NULL;
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

static inline uint32_t held_place(const struct state_line *line, uint64_t key)
{
    uint32_t place = 0;
    if (likely(line->held[0] == key))
        return 0;
    while (place < STATE_HELD_LOCKS && line->held[place] != key)
        place++;
    return place;
}

void state_lock_held(struct state_line *line, uint64_t key, uint64_t since_ticks)
{
    uint32_t place = held_place(line, 0);
    if (likely(place < STATE_HELD_LOCKS)) {
        store_relaxed(&line->held_since[place], since_ticks);
        store_release(&line->held[place], key);
        store_relaxed(&line->holds_more, line->holds_more + (place > 0));
    } else {
        store_relaxed(&line->held_unnamed, line->held_unnamed + 1);
    }
    store_relaxed(&line->acquisitions, line->acquisitions + 1);
    state_end_lockwait(line);
}

static void note_release(struct state_line *line, uint64_t key, uint64_t since_ticks, uint64_t now_ticks)
{
    uint32_t last = line->releases++ % STATE_RELEASES;
    store_relaxed(&line->released[last].key, 0);
    store_relaxed(&line->released[last].since, since_ticks);
    store_relaxed(&line->released[last].ticks, now_ticks);
    store_release(&line->released[last].key, key);
    store_release(&line->released_last, now_ticks);
}

bool state_lock_released(struct state_line *line, uint64_t key, uint64_t now_ticks)
{
    uint32_t place = held_place(line, key);
    bool named = place < STATE_HELD_LOCKS;
    if (now_ticks)
        note_release(line, key, named ? line->held_since[place] : 0, now_ticks);
    if (likely(named)) { /* S4: a sample that misses the lock here finds the release above */
        store_release(&line->held[place], 0);
        store_release(&line->holds_more, line->holds_more - (place > 0));
    }
    return named;
}

/* True if the thread names the lock as held now, and did so at time_ns. */
static bool holds_since(const struct state_line *line, uint64_t key, uint64_t time_ns,
                        const struct clock_reading *clocks)
{
    uint32_t places = load_acquire(&line->holds_more) ? STATE_HELD_LOCKS : 1;
    for (uint32_t i = 0; i < places; i++)
        if (load_acquire(&line->held[i]) == key)
            return clock_ticks_ns(clocks, load_relaxed(&line->held_since[i])) <= time_ns;
    return false;
}

/* True if one of the locks that the thread holds without a name may be this one. */
static bool may_hold(const struct state_line *line, uint64_t key)
{
    return load_relaxed(&line->held_unnamed) > 0 && load_relaxed(&line->wait_key) != key;
}

/* When the thread released the lock that it held at time_ns; 0: it did not, as far as is remembered. */
static uint64_t released_after(const struct state_line *line, uint64_t key, uint64_t time_ns,
                               const struct clock_reading *clocks)
{
    if (clock_ticks_ns(clocks, load_acquire(&line->released_last)) < time_ns)
        return 0; /* of most threads no more than one cache line is read */
    for (uint32_t i = 0; i < STATE_RELEASES; i++) {
        if (load_acquire(&line->released[i].key) != key)
            continue;
        uint64_t released_ns = clock_ticks_ns(clocks, load_relaxed(&line->released[i].ticks));
        if (released_ns >= time_ns &&
            clock_ticks_ns(clocks, load_relaxed(&line->released[i].since)) <= time_ns)
            return released_ns;
    }
    return 0;
}

/* The holder at time_ns: the thread that held the lock then and was the first to release it, or that holds it
 * since before; else one that holds more locks than have a name. Nobody: the lock was free then, between two
 * owners. What a thread holds is read before what it released, so that a release meanwhile is not missed
 * (S4). */
static uint32_t find_holder(uint64_t time_ns, uint64_t key, uint32_t count,
                            const struct clock_reading *clocks)
{
    uint32_t holder = STATE_NO_HOLDER, possible = STATE_NO_HOLDER;
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (load_acquire(&lines[i].state) == STATE_ABSENT)
            continue;
        bool holds = holds_since(&lines[i], key, time_ns, clocks);
        uint64_t released_ns = released_after(&lines[i], key, time_ns, clocks);
        if (released_ns && released_ns < first_ns) {
            first_ns = released_ns;
            holder = i;
        } else if (holds && holder == STATE_NO_HOLDER) {
            holder = i;
        } else if (possible == STATE_NO_HOLDER && may_hold(&lines[i], key)) {
            possible = i;
        }
    }
    return holder != STATE_NO_HOLDER ? holder : possible;
}

static void note_place(struct waiting_places *places, const struct state_line *line)
{
    uint64_t place = load_relaxed(&line->place);
    const struct region *region = load_relaxed(&line->region);
    if (!STATE_PLACE_CODEPTR(place) && region) { /* workers are not told where a region's end is */
        uint32_t kind = STATE_PLACE_KIND(place);
        place = STATE_PLACE(kind == PROFILE_PLACE_REGION_END ? kind : kind | PROFILE_PLACE_REGIONS,
                            region->codeptr);
    }
    for (uint32_t i = 0; i < places->count; i++)
        if (places->place[i] == place) {
            places->threads[i]++;
            return;
        }
    if (places->count == STATE_PLACES) {
        places->place[STATE_PLACES - 1] = 0;
        places->threads[STATE_PLACES - 1]++;
        return;
    }
    places->place[places->count] = place;
    places->threads[places->count++] = 1;
}

struct census state_census_at(const struct clock_reading *clocks, uint64_t time_ns, uint64_t wait_key,
                              struct waiting_places *places)
{
    uint32_t count = load_acquire(&high_water);
    struct census census = {0, 0, wait_key ? find_holder(time_ns, wait_key, count, clocks) : STATE_NO_HOLDER};
    for (uint32_t i = 0; i < count; i++) {
        const struct state_line *line = &lines[i];
        uint32_t state = load_acquire(&line->state); /* S2 */
        if (state == STATE_ABSENT)
            continue;
        if (state != STATE_IDLE ||
            time_ns < clock_ticks_ns(clocks, load_relaxed(&line->idle_since)) + STATE_GRACE_NS) {
            census.busy++;
            census.in_use++;
        } else if (!state_is_parked(line)) {
            census.in_use++;
            if (places)
                note_place(places, line);
        }
    }
    return census;
}

bool state_holds(uint32_t line_number, uint64_t key)
{
    return line_number < STATE_MAX_THREADS &&
           (names(&lines[line_number], key) || may_hold(&lines[line_number], key));
}
