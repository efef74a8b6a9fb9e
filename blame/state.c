#include "blame/state.h"

#include <string.h>

static struct state_line lines[STATE_MAX_THREADS];
struct state_line state_nobody;
static uint8_t taken[STATE_MAX_THREADS];
static uint32_t high_water; /* number of lines ever used */

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
    store_release(&line->state, (uint8_t)STATE_ABSENT);
    store_release(&taken[line - lines], 0);
}

void state_reset(void)
{
    memset(lines, 0, high_water * sizeof(lines[0]));
    memset(taken, 0, sizeof(taken));
    high_water = 0;
}

static bool line_names(const struct state_line *line, uint64_t key)
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

uint32_t state_lines(void)
{
    return load_relaxed(&high_water);
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
                /* the only store into another thread's line: it removes a lost lock */
                store_relaxed(&lines[i].held[j], 0);
                return i;
            }
    return STATE_NO_HOLDER;
}

static inline uint32_t held_slot(const struct state_line *line, uint64_t key)
{
    uint32_t slot = 0;
    if (likely(line->held[0] == key))
        return 0;
    while (slot < STATE_HELD_LOCKS && line->held[slot] != key)
        slot++;
    return slot;
}

void state_lock_held(struct state_line *line, uint64_t key, uint64_t since_ticks)
{
    uint32_t slot = held_slot(line, 0);
    if (likely(slot < STATE_HELD_LOCKS)) {
        /* S4: stored after the note of the previous release */
        store_release(&line->held_since[slot], since_ticks);
        store_release(&line->held[slot], key);
        store_relaxed(&line->holds_more, line->holds_more + (slot > 0));
    } else {
        store_relaxed(&line->held_unnamed, line->held_unnamed + 1);
    }
    store_relaxed(&line->acquisitions, line->acquisitions + 1);
    state_end_lockwait(line);
}

static void note_release(struct state_line *line, uint64_t key, uint64_t since_ticks, uint64_t now_ticks)
{
    struct state_release *release = &line->released[line->releases % STATE_RELEASES];
    /* S5: seen only together with the count that the previous release stored, or a later one */
    store_release(&release->key, key);
    store_release(&release->since, since_ticks);
    store_release(&release->ticks, now_ticks);
    store_release(&line->releases, line->releases + 1);
    store_release(&line->noted_last, now_ticks);
}

bool state_lock_released(struct state_line *line, uint64_t key, uint64_t now_ticks)
{
    uint32_t slot = held_slot(line, key);
    bool named = slot < STATE_HELD_LOCKS;
    if (now_ticks)
        note_release(line, key, named ? line->held_since[slot] : 0, now_ticks);
    if (likely(named)) { /* S4: a sample that misses the lock here finds the noted release */
        store_release(&line->held[slot], 0);
        store_release(&line->holds_more, line->holds_more - (slot > 0));
    }
    return named;
}

void state_note_wait(struct state_line *line, uint64_t now_ticks)
{
    struct state_wait *wait = &line->waits[line->waits_noted % STATE_WAITS];
    if ((int64_t)(now_ticks - line->idle_since) < (int64_t)line->grace_ticks)
        return;
    store_release(&wait->since, line->idle_since); /* S5, as above */
    store_release(&wait->until, now_ticks);
    store_release(&wait->place, line->place);
    store_release(&wait->region, line->region);
    store_release(&wait->region_instance, line->region_instance);
    store_release(&line->waits_noted, line->waits_noted + 1);
    store_release(&line->noted_last, now_ticks);
}

/* The time that a census asks for, on clock_ticks(). */
struct census_time {
    int64_t ticks;
    int64_t grown; /* threads that were IDLE by this time count as idle */
};

/* Returns the start of the time that the two rings still cover completely: the time of the oldest entry that
 * is not being overwritten; 0: nothing was overwritten yet. */
static int64_t line_remembers_from(const struct state_line *line, uint64_t wait_key)
{
    uint32_t releases = wait_key ? load_acquire(&line->releases) : 0;
    uint32_t waits = load_acquire(&line->waits_noted);
    int64_t released = 0, waited = 0;
    if (releases >= STATE_RELEASES)
        released = (int64_t)load_relaxed(&line->released[(releases + 1) % STATE_RELEASES].ticks);
    if (waits >= STATE_WAITS)
        waited = (int64_t)load_relaxed(&line->waits[(waits + 1) % STATE_WAITS].since);
    return released > waited ? released : waited;
}

/* Returns the time itself, or a later one if a line no longer remembers so far back. The later time is spread
 * evenly over what all lines remember. */
static int64_t state_time_remembered(int64_t ticks, int64_t now_ticks, uint32_t count, uint64_t wait_key)
{
    int64_t from = ticks;
    for (uint32_t i = 0; i < count; i++) {
        int64_t line_from =
            load_acquire(&lines[i].state) != STATE_ABSENT ? line_remembers_from(&lines[i], wait_key) : 0;
        from = line_from > from ? line_from : from;
    }
    return from == ticks || from >= now_ticks ? ticks : from + ticks % (now_ticks - from);
}

static struct census_time census_time_of(const struct clock_reading *clocks, uint64_t time_ns, uint32_t count,
                                         uint64_t wait_key)
{
    struct census_time when = {.ticks = clock_ns_ticks(clocks, time_ns)};
    if (unlikely((int64_t)(clocks->ns - time_ns) > STATE_LATE_NS && when.ticks > 0))
        when.ticks = state_time_remembered(when.ticks, (int64_t)clocks->ticks, count, wait_key);
    when.grown = when.ticks - (int64_t)(STATE_GRACE_NS / clocks->ns_per_tick);
    return when;
}

/* Returns true if the thread names the lock as held now and had it at that time. */
static bool holds_since(const struct state_line *line, uint64_t key, const struct census_time *when)
{
    uint32_t places = load_acquire(&line->holds_more) ? STATE_HELD_LOCKS : 1;
    for (uint32_t i = 0; i < places; i++)
        if (load_acquire(&line->held[i]) == key)
            return (int64_t)load_acquire(&line->held_since[i]) <= when->ticks; /* S4 */
    return false;
}

/* Returns true if the lock may be one that the thread holds without a name. */
static bool may_hold(const struct state_line *line, uint64_t key)
{
    return load_relaxed(&line->held_unnamed) > 0 && load_relaxed(&line->wait_key) != key;
}

/* Returns when the thread released the lock that it held at that time; 0: no such release is remembered. */
static int64_t released_after(const struct state_line *line, uint64_t key, const struct census_time *when)
{
    if ((int64_t)load_acquire(&line->noted_last) < when->ticks)
        return 0; /* for most threads one cache line is read */
    uint32_t releases = load_acquire(&line->releases);
    for (uint32_t back = 1; back < STATE_RELEASES && back <= releases; back++) {
        const struct state_release *release = &line->released[(releases - back) % STATE_RELEASES];
        int64_t ticks = (int64_t)load_acquire(&release->ticks), since = (int64_t)load_acquire(&release->since);
        bool is_it = load_acquire(&release->key) == key && since <= when->ticks; /* S5: the count is loaded last */
        if (ticks < when->ticks || load_relaxed(&line->releases) - releases + back >= STATE_RELEASES)
            return 0;
        if (is_it)
            return ticks;
    }
    return 0;
}

/* Returns the holder at that time: a thread that held the lock then and released it first, or one that still
 * holds it. Failing that, a thread that holds unnamed locks. STATE_NO_HOLDER: the lock was free, between two
 * owners. For each thread the held locks are read before the released ones, so a release in between is not
 * missed (S4). */
static uint32_t find_holder(const struct census_time *when, uint64_t key, uint32_t count)
{
    uint32_t holder = STATE_NO_HOLDER, possible = STATE_NO_HOLDER;
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (load_acquire(&lines[i].state) == STATE_ABSENT)
            continue;
        bool holds = holds_since(&lines[i], key, when);
        int64_t released = released_after(&lines[i], key, when);
        if (released && released < first) {
            first = released;
            holder = i;
        } else if (holds && holder == STATE_NO_HOLDER) {
            holder = i;
        } else if (possible == STATE_NO_HOLDER && may_hold(&lines[i], key)) {
            possible = i;
        }
    }
    return holder != STATE_NO_HOLDER ? holder : possible;
}

/* Where a thread waits. */
struct waiting {
    uint64_t place;
    const struct region *region;
    uint32_t instance;
    uintptr_t codeptr; /* return address of the region's fork call */
};

/* Finds the noted wait that had lasted longer than the grace at that time. Returns false if there is none. */
static bool has_waited_then(const struct state_line *line, const struct census_time *when, struct waiting *waiting)
{
    uint32_t noted = load_acquire(&line->waits_noted);
    for (uint32_t back = 1; back < STATE_WAITS && back <= noted; back++) {
        const struct state_wait *wait = &line->waits[(noted - back) % STATE_WAITS];
        int64_t since = (int64_t)load_acquire(&wait->since), until = (int64_t)load_acquire(&wait->until);
        *waiting = (struct waiting){load_acquire(&wait->place), load_acquire(&wait->region),
                                    load_acquire(&wait->region_instance), 0}; /* S5: the count is loaded last */
        if (until <= when->ticks || load_relaxed(&line->waits_noted) - noted + back >= STATE_WAITS)
            return false;
        if (since <= when->grown)
            return true;
    }
    return false;
}

static inline bool has_waited(const struct state_line *line, uint32_t state, const struct census_time *when,
                              struct waiting *waiting)
{
    if (state == STATE_IDLE && (int64_t)load_acquire(&line->idle_since) /* S5 */ <= when->grown) {
        *waiting = (struct waiting){load_relaxed(&line->place), load_relaxed(&line->region),
                                    load_relaxed(&line->region_instance), 0};
        return true;
    }
    return (int64_t)load_acquire(&line->noted_last) > when->ticks && has_waited_then(line, when, waiting);
}

/* Returns true if the region of the wait had ended at that time. */
static bool is_parked(struct waiting *waiting, int64_t ticks)
{
    const struct region *region = waiting->region;
    if (!region)
        return true;
    waiting->codeptr = region->codeptr;
    if (!(load_acquire(&region->state) & REGION_ENDED) && load_relaxed(&region->instance) == waiting->instance)
        return false;
    struct region_end end = region_end_of(region, waiting->instance);
    waiting->codeptr = end.codeptr;
    return (int64_t)end.ticks <= ticks;
}

bool state_was_parked(const struct state_line *line, const struct clock_reading *clocks, uint64_t time_ns)
{
    struct waiting waiting = {.region = line->region, .instance = line->region_instance};
    return is_parked(&waiting, clock_ns_ticks(clocks, time_ns));
}

static void count_wait_place(struct waiting_places *places, const struct waiting *waiting)
{
    uint64_t place = waiting->place;
    /* the runtime does not report a region's end to workers */
    if (!STATE_PLACE_CODEPTR(place) && waiting->region) {
        uint32_t kind = STATE_PLACE_KIND(place);
        place = STATE_PLACE(kind == PROFILE_PLACE_REGION_END ? kind : kind | PROFILE_PLACE_REGIONS, waiting->codeptr);
    }
    uint32_t number = 0;
    while (number < places->count && places->place[number] != place)
        number++;
    if (number == STATE_PLACES) {
        number--;
        place = 0;
    } else if (number == places->count) {
        places->count++;
        places->threads[number] = 0;
    }
    places->place[number] = place;
    places->threads[number]++;
}

struct census state_census_at(const struct clock_reading *clocks, uint64_t time_ns, const struct state_line *own,
                              uint64_t wait_key, struct waiting_places *places)
{
    uint32_t count = load_acquire(&high_water);
    struct census_time when = census_time_of(clocks, time_ns, count, wait_key);
    struct census census = {0, 0, wait_key ? find_holder(&when, wait_key, count) : STATE_NO_HOLDER};
    for (uint32_t i = 0; i < count; i++) {
        const struct state_line *line = &lines[i];
        uint32_t state = load_acquire(&line->state); /* S2, S5 */
        struct waiting waiting;
        if (likely(state == STATE_WORK && (int64_t)load_relaxed(&line->noted_last) <= when.ticks)) {
            census.busy++;
            continue;
        }
        if (state == STATE_ABSENT || (line == own && state == STATE_IDLE))
            continue;
        if (line == own || !has_waited(line, state, &when, &waiting)) {
            census.busy++;
        } else if (!is_parked(&waiting, when.ticks)) {
            census.in_use++;
            if (places)
                count_wait_place(places, &waiting);
        }
    }
    census.in_use += census.busy;
    return census;
}

bool state_holds(uint32_t line_number, uint64_t key)
{
    return line_number < STATE_MAX_THREADS &&
           (line_names(&lines[line_number], key) || may_hold(&lines[line_number], key));
}
