#include "blame/state.h"
#include "blame/wakers.h"

#include <string.h>

#include "base/os.h"

/* number of lines if the process's address space is limited; STATE_MAX_THREADS lines take 14 MB of it */
#define FEW_LINES 256u

static struct state_line *lines; /* NULL until the first thread */
static uint32_t line_room;
struct state_line state_nobody;
bool state_waits_outside;
bool state_sleepers_count, state_some_stood_aside;
uint32_t state_counted_most, state_expected, state_beside_most;
static uint8_t taken[STATE_MAX_THREADS];
static uint32_t high_water; /* number of lines ever used */

/* Returns the number of lines; 0 if there is no memory. */
static uint32_t state_map_lines(void)
{
    struct state_line *none = NULL, *mapped;
    uint32_t room = load_acquire(&line_room);
    if (likely(room))
        return room;
    room = os_memory_is_limited() ? FEW_LINES : STATE_MAX_THREADS;
    if (!(mapped = os_map(room * sizeof(*mapped))))
        return 0;
    if (!compare_exchange(&lines, &none, mapped))
        os_unmap(mapped, room * sizeof(*mapped));
    store_release(&line_room, room);
    return room;
}

struct state_line *state_line_acquire(void)
{
    uint32_t room = state_map_lines();
    for (uint32_t i = 0; i < room; i++) {
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
    if (high_water)
        memset(lines, 0, high_water * sizeof(lines[0]));
    memset(taken, 0, sizeof(taken));
    high_water = 0;
    state_waits_outside = state_some_stood_aside = false;
    state_counted_most = state_expected = state_beside_most = 0;
}

static bool state_line_names_lock(const struct state_line *line, uint64_t key)
{
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++)
        if (load_relaxed(&line->held[i]) == key)
            return true;
    return false;
}

bool state_awaits_own(const struct state_line *line, uint64_t key)
{
    return unlikely(load_relaxed(&line->wait_key) == key) && PROFILE_LOCK_KEY_KIND(key) != PROFILE_LOCK_NEST_LOCK &&
           state_line_names_lock(line, key);
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
                /* S1: one of two stores into another thread's line; removes a lock that another thread has
                 * released */
                store_relaxed(&lines[i].held[j], 0);
                return i;
            }
    return STATE_NO_HOLDER;
}

static inline uint32_t state_held_slot(const struct state_line *line, uint64_t key)
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
    uint32_t slot = state_held_slot(line, 0);
    if (likely(slot < STATE_HELD_LOCKS)) {
        store_relaxed(&line->held_lacked[slot], line->wait_lacked);
        store_relaxed(&line->held_asked[slot], line->wait_since);
        store_release(&line->held_since[slot], since_ticks); /* S4: stored after the note of the previous release */
        store_release(&line->held[slot], key);
        store_relaxed(&line->holds_more, line->holds_more + (slot > 0));
    } else {
        store_relaxed(&line->held_unnamed, line->held_unnamed + 1);
    }
    store_relaxed(&line->acquisitions, line->acquisitions + 1);
    line->wait_lacked = 0;
    state_end_lockwait(line);
}

static __attribute__((noinline)) void state_note_long_hold(struct state_line *line, uint64_t key, uint64_t since,
                                                           uint64_t now_ticks)
{
    struct state_hold *hold = &line->long_holds[line->long_holds_noted % STATE_LONG_HOLDS];
    store_release(&hold->key, key); /* S5, as in state_note_release() */
    store_release(&hold->since, since);
    store_release(&hold->until, now_ticks);
    store_release(&line->long_holds_noted, line->long_holds_noted + 1);
}

static void state_note_release(struct state_line *line, uint64_t key, const struct state_release *held,
                               uint64_t now_ticks)
{
    struct state_release *release = &line->released[line->releases % STATE_RELEASES];
    uint64_t oldest = line->released[(line->releases + 1) % STATE_RELEASES].ticks;
    uint64_t remembered = oldest ? now_ticks - oldest : STATE_LONG_PARTS * STATE_LONG_GRACES * line->grace_ticks;
    if (unlikely(held->since && (now_ticks - held->since) * STATE_LONG_PARTS >= remembered))
        state_note_long_hold(line, key, held->since, now_ticks);
    /* S5: a reader that sees this store also sees the count of the previous release, or a later one */
    store_release(&release->key, key);
    store_release(&release->lacked, held->lacked);
    store_release(&release->asked, held->asked);
    store_release(&release->since, held->since);
    store_release(&release->ticks, now_ticks);
    store_release(&line->releases, line->releases + 1);
    store_release(&line->noted_last, now_ticks);
}

bool state_lock_released(struct state_line *line, uint64_t key, uint64_t now_ticks)
{
    uint32_t slot = state_held_slot(line, key);
    bool named = slot < STATE_HELD_LOCKS;
    struct state_release held = {0};
    if (now_ticks && named)
        held = (struct state_release){
            .since = line->held_since[slot], .lacked = line->held_lacked[slot], .asked = line->held_asked[slot]};
    /* If neither is true, another thread's line names the lock. */
    if (now_ticks && (named || line->held_unnamed))
        state_note_release(line, key, &held, now_ticks);
    if (likely(named)) { /* S4: a sample that no longer finds the lock here finds the noted release */
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
    store_release(&wait->since, line->idle_since); /* S5, as in state_note_release() */
    store_release(&wait->until, now_ticks);
    store_release(&wait->place, line->place);
    store_release(&wait->region, line->region);
    store_release(&wait->region_instance, line->region_instance);
    store_release(&line->waits_noted, line->waits_noted + 1);
    store_release(&line->noted_last, now_ticks);
}

/* If several threads wait, the signal may be for another one. */
int64_t state_woken_ticks(const struct state_line *line)
{
    uint32_t entry = load_acquire(&line->awaits);
    int64_t ticks = entry ? (int64_t)wakers_woke_one(entry, load_relaxed(&line->awaits_after)) : 0;
    return ticks && ticks >= (int64_t)load_relaxed(&line->asleep_since) ? ticks : INT64_MAX;
}

void state_wake_up(struct state_line *line, uint64_t now_ticks)
{
    struct state_sleep *sleep = &line->sleeps[line->sleeps_noted % STATE_SLEEPS];
    if (line->state != STATE_ASLEEP)
        return;
    store_release(&sleep->since, line->asleep_since); /* S5, as in state_note_release() */
    store_release(&sleep->until, now_ticks);
    store_release(&line->sleeps_noted, line->sleeps_noted + 1);
    store_release(&line->noted_last, now_ticks);
    state_set_work(line);
}

/* Returns the region's entry for the passing of the barrier at which a thread waits; NULL if the place is no
 * barrier inside a region. */
static uint64_t *state_pass_of(const struct region *region, uint64_t place)
{
    if (!region || !state_is_barrier(STATE_PLACE_KIND(place)))
        return NULL;
    return (uint64_t *)&region->passed[STATE_PLACE_BARRIER(place) % REGION_BARRIERS];
}

/* Returns the same, or for a place at a region's end the entry for the begin of the next region. */
static uint64_t *state_end_of(const struct region *region, uint64_t place)
{
    if (STATE_PLACE_KIND(place) != PROFILE_PLACE_REGION_END)
        return state_pass_of(region, place);
    return region && region->home ? &region->home->resumed : NULL;
}

void state_note_pass(const struct state_line *line, uint64_t now_ticks)
{
    uint64_t *passed = state_end_of(line->region, line->place);
    /* An entry from before this thread's arrival is that of an earlier barrier. */
    if (passed && (int64_t)(load_relaxed(passed) - line->idle_since) < 0)
        store_relaxed(passed, now_ticks);
}

/* The time as of which a census counts, in ticks of clock_ticks(). */
struct census_time {
    int64_t ticks;
    int64_t grown; /* threads that had become IDLE by this time count as idle */
    int64_t from;  /* 0, or `ticks` stands for an earlier time, and all lines remember what was since then */
};

/* Returns the time from which on all rings are complete: that of their oldest entry that is not being
 * overwritten; 0 if nothing has been overwritten yet. */
static int64_t state_line_remembers_from(const struct state_line *line, uint64_t wait_key)
{
    uint32_t releases = wait_key ? load_acquire(&line->releases) : 0;
    uint32_t waits = load_acquire(&line->waits_noted), sleeps = load_acquire(&line->sleeps_noted);
    int64_t released = 0, waited = 0;
    if (releases >= STATE_RELEASES)
        released = (int64_t)load_relaxed(&line->released[(releases + 1) % STATE_RELEASES].ticks);
    if (waits >= STATE_WAITS)
        waited = (int64_t)load_relaxed(&line->waits[(waits + 1) % STATE_WAITS].since);
    if (sleeps >= STATE_SLEEPS) {
        int64_t slept = (int64_t)load_relaxed(&line->sleeps[(sleeps + 1) % STATE_SLEEPS].since);
        waited = slept > waited ? slept : waited;
    }
    return released > waited ? released : waited;
}

/* If a line does not remember so far back, replaces the time by a later one. Later times are spread evenly over what
 * all lines remember. */
static void state_remember(struct census_time *when, int64_t now_ticks, uint32_t count, uint64_t wait_key)
{
    int64_t from = when->ticks;
    for (uint32_t i = 0; i < count; i++) {
        int64_t line_from =
            load_acquire(&lines[i].state) != STATE_ABSENT ? state_line_remembers_from(&lines[i], wait_key) : 0;
        from = line_from > from ? line_from : from;
    }
    if (from == when->ticks || from >= now_ticks)
        return;
    when->from = from;
    when->ticks = from + when->ticks % (now_ticks - from);
}

static struct census_time state_census_time(const struct clock_reading *clocks, uint64_t time_ns, uint32_t count,
                                            uint64_t wait_key)
{
    struct census_time when = {.ticks = clock_ns_ticks(clocks, time_ns)};
    if (unlikely((int64_t)(clocks->ns - time_ns) > STATE_LATE_NS && when.ticks > 0))
        state_remember(&when, (int64_t)clocks->ticks, count, wait_key);
    when.grown = when.ticks - (int64_t)(STATE_GRACE_NS / clocks->ns_per_tick);
    return when;
}

/* Returns how many entries of held[] may name a lock. */
static inline uint32_t state_held_places(const struct state_line *line)
{
    return load_acquire(&line->holds_more) ? STATE_HELD_LOCKS : 1;
}

/* Returns true if the line names the lock as held, and the thread held it at that time already. Sets *since to the
 * time of the acquisition, 0 if unknown. */
static bool state_held_lock_at(const struct state_line *line, uint64_t key, const struct census_time *when,
                               int64_t *since)
{
    uint32_t places = state_held_places(line);
    for (uint32_t i = 0; i < places; i++)
        if (load_acquire(&line->held[i]) == key) {
            *since = (int64_t)load_acquire(&line->held_since[i]); /* S4: loaded after `held` */
            return *since <= when->ticks;
        }
    return false;
}

/* Returns true if the lock may be one of those that the thread holds but its line does not name. */
static bool state_may_hold_lock(const struct state_line *line, uint64_t key)
{
    return load_relaxed(&line->held_unnamed) > 0 && load_relaxed(&line->wait_key) != key;
}

/* Copies an entry of the ring of releases: the newest of `releases` if `back` is 1, or an older one. Returns false
 * if the entry may have been overwritten meanwhile. */
static inline bool state_read_release(const struct state_line *line, uint32_t releases, uint32_t back,
                                      struct state_release *entry)
{
    const struct state_release *release = &line->released[(releases - back) % STATE_RELEASES];
    *entry = (struct state_release){load_acquire(&release->key), load_acquire(&release->since),
                                    load_acquire(&release->lacked), load_acquire(&release->asked),
                                    load_acquire(&release->ticks)};
    return load_relaxed(&line->releases) - releases + back < STATE_RELEASES; /* S5: the count is loaded last */
}

/* Returns true if the line remembers that the thread held the lock at that time, and released it since. Sets *since
 * to the time of the acquisition, 0 if unknown. */
static bool state_released_lock_after(const struct state_line *line, uint64_t key, const struct census_time *when,
                                      int64_t *since)
{
    if ((int64_t)load_acquire(&line->noted_last) < when->ticks)
        return false; /* for most threads, only one cache line is read */
    uint32_t releases = load_acquire(&line->releases);
    for (uint32_t back = 1; back < STATE_RELEASES && back <= releases; back++) {
        struct state_release release;
        if (!state_read_release(line, releases, back, &release) || (int64_t)release.ticks < when->ticks)
            return false;
        *since = (int64_t)release.since;
        if (release.key == key && *since <= when->ticks)
            return true;
    }
    return false;
}

/* The lock's next acquisition after a time. */
struct next_owner {
    uint32_t line;
    int64_t since, lacked; /* its time, and how long the thread had lacked a core then; in ticks */
    int64_t asked;         /* when the thread began to wait; 0: unknown */
    bool told;             /* whether an acquisition at the time itself has been released, and that is reported */
    bool forgotten;        /* whether a thread that acquired the lock may have done so earlier, too */
};

static void state_take_earlier_owner(struct next_owner *next, uint32_t line, const struct state_release *held,
                                     int64_t after)
{
    int64_t since = (int64_t)held->since;
    if (since > after && since < next->since)
        *next =
            (struct next_owner){line, since, (int64_t)held->lacked, (int64_t)held->asked, next->told, next->forgotten};
}

static void state_look_for_acquisitions(const struct state_line *line, uint64_t key, int64_t after,
                                        struct next_owner *next)
{
    uint32_t number = state_line_number(line), places = state_held_places(line);
    for (uint32_t i = 0; i < places; i++)
        if (load_acquire(&line->held[i]) == key) {
            struct state_release held = {.since = load_acquire(&line->held_since[i]),
                                         .lacked = load_relaxed(&line->held_lacked[i]),
                                         .asked = load_relaxed(&line->held_asked[i])};
            state_take_earlier_owner(next, number, &held, after);
        }
    if ((int64_t)load_acquire(&line->noted_last) < after) /* S4: the releases are loaded after `held` */
        return;
    uint32_t releases = load_acquire(&line->releases), found = 0;
    for (uint32_t back = 1; back < STATE_RELEASES && back <= releases; back++) {
        struct state_release release;
        if (!state_read_release(line, releases, back, &release) || (int64_t)release.ticks < after)
            return;
        if (release.key != key)
            continue;
        state_take_earlier_owner(next, number, &release, after);
        next->told |= (int64_t)release.since == after;
        found++;
    }
    next->forgotten |= found && releases >= STATE_RELEASES;
}

static const struct next_owner nobody = {.line = STATE_NO_HOLDER, .since = INT64_MAX};

static struct next_owner state_next_owner(uint64_t key, int64_t after, uint32_t count)
{
    struct next_owner next = nobody;
    for (uint32_t i = 0; i < count; i++)
        if (load_acquire(&lines[i].state) != STATE_ABSENT)
            state_look_for_acquisitions(&lines[i], key, after, &next);
    return next;
}

/* Returns true if a lock that was acquired at `since` (0: unknown) had been acquired again by that time. A runtime
 * reports a release after it has woken the next owner, and in between the thread may lose its core. `held`: the thread's
 * line still names the lock; if the release is reported nevertheless, the thread has taken the lock again, at a time
 * that is unknown. */
static bool state_lock_was_passed_on(uint64_t key, int64_t since, bool held, int64_t ticks, uint32_t count)
{
    if (!since)
        return false;
    struct next_owner next = state_next_owner(key, since, count);
    return next.line != STATE_NO_HOLDER && !(held && next.told) && (next.since <= ticks || next.forgotten);
}

enum state_handover state_handover_after(int64_t ticks, uint64_t key, uint32_t *owner)
{
    struct next_owner next = state_next_owner(key, ticks, load_acquire(&high_water));
    *owner = next.line;
    if (next.line == STATE_NO_HOLDER)
        return STATE_FREE;
    return ticks >= next.since - next.lacked ? STATE_PASSED_WITHOUT : STATE_PASSED_WITH_CORE;
}

/* Returns the number of threads that waited for the lock at that time and have acquired it since. */
static uint32_t state_count_former_waiters(uint64_t key, int64_t ticks, uint32_t count)
{
    uint32_t waiters = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct next_owner next = nobody;
        if (load_acquire(&lines[i].state) != STATE_ABSENT)
            state_look_for_acquisitions(&lines[i], key, ticks, &next);
        waiters += next.asked && next.asked <= ticks;
    }
    return waiters;
}

uint32_t state_count_waiters(const struct state_line *own, int64_t ticks, uint32_t waiters[STATE_HELD_LOCKS])
{
    uint32_t count = load_acquire(&high_water), total = 0;
    memset(waiters, 0, STATE_HELD_LOCKS * sizeof(*waiters));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = load_acquire(&lines[i].wait_key);
        /* in `ordered`, the waiters blame the thread whose turn it is */
        bool waits = unlikely(key) && PROFILE_LOCK_KEY_KIND(key) != PROFILE_LOCK_ORDERED && &lines[i] != own &&
                     load_acquire(&lines[i].state) != STATE_ABSENT;
        uint32_t slot = waits ? state_held_slot(own, key) : STATE_HELD_LOCKS;
        if (likely(slot == STATE_HELD_LOCKS) || state_awaits_own(own, key) ||
            (int64_t)load_relaxed(&lines[i].wait_since) > ticks)
            continue;
        waiters[slot]++;
        total++;
    }
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++) {
        int64_t since = own->held[i] ? (int64_t)own->held_since[i] : 0;
        if (likely(!state_lock_was_passed_on(own->held[i], since, true, INT64_MAX, count)))
            continue;
        total -= waiters[i];
        waiters[i] = state_lock_was_passed_on(own->held[i], since, true, ticks, count)
                         ? 0
                         : waiters[i] + state_count_former_waiters(own->held[i], ticks, count);
        total += waiters[i];
    }
    return total;
}

const struct state_line *state_line_of(int32_t tid)
{
    uint32_t count = load_acquire(&high_water);
    for (uint32_t i = 0; i < count; i++)
        if (load_acquire(&lines[i].state) != STATE_ABSENT && load_relaxed(&lines[i].tid) == tid)
            return &lines[i];
    return NULL;
}

/* Returns the line of the lock's holder at that time: the thread that acquired it last before, unless it had released
 * it by then. If there is none, a thread that holds unnamed locks is taken. STATE_NO_HOLDER: the lock was free,
 * between two owners. For each thread the held locks are read before the released ones, so that a release in between
 * is not missed (S4). */
static uint32_t state_find_holder(const struct census_time *when, uint64_t key, uint32_t count, bool *counts)
{
    uint32_t holder = STATE_NO_HOLDER, possible = STATE_NO_HOLDER;
    int64_t last = -1, since;
    bool named = false;
    for (uint32_t i = 0; i < count; i++) {
        if (load_acquire(&lines[i].state) == STATE_ABSENT)
            continue;
        bool held = state_held_lock_at(&lines[i], key, when, &since);
        if ((held || state_released_lock_after(&lines[i], key, when, &since)) && since > last) {
            last = since;
            named = held;
            holder = i;
        } else if (possible == STATE_NO_HOLDER && state_may_hold_lock(&lines[i], key)) {
            possible = i;
        }
    }
    if (holder != STATE_NO_HOLDER && state_lock_was_passed_on(key, last, named, when->ticks, count))
        holder = STATE_NO_HOLDER;
    *counts = holder != STATE_NO_HOLDER && load_relaxed(&lines[holder].counts_waiters);
    return holder != STATE_NO_HOLDER ? holder : possible;
}

/* Returns when the thread acquired the lock that it held at that time, for long or until now; 0 if its line remembers no
 * such hold. */
static int64_t state_held_long_since(const struct state_line *line, uint64_t key, int64_t ticks)
{
    struct census_time when = {.ticks = ticks};
    int64_t since;
    if (load_acquire(&line->state) == STATE_ABSENT)
        return 0;
    if (state_held_lock_at(line, key, &when, &since))
        return since;
    uint32_t noted = load_acquire(&line->long_holds_noted);
    for (uint32_t back = 1; back < STATE_LONG_HOLDS && back <= noted; back++) {
        const struct state_hold *entry = &line->long_holds[(noted - back) % STATE_LONG_HOLDS];
        struct state_hold hold = {load_acquire(&entry->key), load_acquire(&entry->since), load_acquire(&entry->until)};
        if ((int64_t)hold.until < ticks || load_relaxed(&line->long_holds_noted) - noted + back >= STATE_LONG_HOLDS)
            return 0; /* S5: the count is loaded last */
        if (hold.key == key && (int64_t)hold.since <= ticks)
            return (int64_t)hold.since;
    }
    return 0;
}

static int64_t state_held_long_by_any_since(uint64_t key, int64_t ticks, uint32_t count)
{
    int64_t since = 0;
    for (uint32_t i = 0; i < count && !since; i++)
        since = state_held_long_since(&lines[i], key, ticks);
    return since;
}

/* Finds the lock's holder at a time that not all lines remember, for which when->ticks stands. If nobody held it for long
 * then, a time of a long hold cannot stand for it. */
static uint32_t state_find_forgotten_holder(struct census_time *when, int64_t due_ticks, uint64_t key, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (state_held_long_since(&lines[i], key, due_ticks))
            return i;
    for (uint32_t i = 0; i < 4; i++) {
        int64_t since = state_held_long_by_any_since(key, when->ticks, count);
        if (since <= when->from)
            break;
        int64_t other = when->from + when->ticks % (since - when->from);
        when->grown += other - when->ticks;
        when->ticks = other;
    }
    return STATE_NO_HOLDER;
}

bool state_was_free_at(const struct clock_reading *clocks, uint64_t time_ns, uint64_t key)
{
    uint32_t count = load_acquire(&high_water);
    struct census_time when = state_census_time(clocks, time_ns, count, key);
    bool counts, remembered = when.ticks == clock_ns_ticks(clocks, time_ns);
    return remembered && state_find_holder(&when, key, count, &counts) == STATE_NO_HOLDER;
}

bool state_others_wait(const struct state_line *own, uint64_t key)
{
    uint32_t count = load_acquire(&high_water);
    for (uint32_t i = 0; i < count; i++)
        if (&lines[i] != own && load_relaxed(&lines[i].wait_key) == key && load_acquire(&lines[i].state))
            return true;
    return false;
}

/* A thread's wait. */
struct waiting {
    uint64_t place;
    const struct region *region;
    uint32_t instance;
    uintptr_t codeptr; /* return address of the region's fork call */
    int64_t since;     /* start of the wait in ticks */
};

/* Finds the noted wait that had lasted longer than the grace at that time. Returns false if there is none. */
static bool state_waited_then(const struct state_line *line, const struct census_time *when, struct waiting *waiting)
{
    uint32_t noted = load_acquire(&line->waits_noted);
    for (uint32_t back = 1; back < STATE_WAITS && back <= noted; back++) {
        const struct state_wait *wait = &line->waits[(noted - back) % STATE_WAITS];
        int64_t since = (int64_t)load_acquire(&wait->since), until = (int64_t)load_acquire(&wait->until);
        *waiting = (struct waiting){load_acquire(&wait->place), load_acquire(&wait->region),
                                    load_acquire(&wait->region_instance), 0, since}; /* S5: the count is loaded last */
        if (until <= when->ticks || load_relaxed(&line->waits_noted) - noted + back >= STATE_WAITS)
            return false;
        if (since <= when->grown)
            return true;
    }
    return false;
}

static inline bool state_waited_at(const struct state_line *line, uint32_t state, const struct census_time *when,
                                   struct waiting *waiting)
{
    int64_t since = state == STATE_IDLE ? (int64_t)load_acquire(&line->idle_since) /* S5 */ : INT64_MAX;
    if (since <= when->grown) {
        *waiting = (struct waiting){load_relaxed(&line->place), load_relaxed(&line->region),
                                    load_relaxed(&line->region_instance), 0, since};
        return true;
    }
    return (int64_t)load_acquire(&line->noted_last) > when->ticks && state_waited_then(line, when, waiting);
}

/* Returns true if the region of the wait had ended at that time. Sets waiting->codeptr. */
static bool state_wait_is_parked(struct waiting *waiting, int64_t ticks)
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

/* Returns when the first thread passed the barrier the last time, in ticks; 0 if that is not known. */
static int64_t state_wait_passed(const struct waiting *waiting)
{
    const uint64_t *passed = state_pass_of(waiting->region, waiting->place);
    return passed ? (int64_t)load_relaxed(passed) : 0;
}

/* Returns when another thread first passed the barrier at which the thread waits, in ticks; INT64_MAX if no
 * thread is known to have passed it. */
static int64_t state_wait_was_over(const struct waiting *waiting)
{
    int64_t ticks = state_wait_passed(waiting);
    return ticks && ticks >= waiting->since ? ticks : INT64_MAX;
}

uint64_t state_released_ns(const struct state_line *line, const struct clock_reading *clocks)
{
    struct waiting waiting = {.place = line->place, .region = line->region, .since = (int64_t)line->idle_since};
    int64_t ticks = state_is_hidden(line) ? INT64_MAX : state_wait_was_over(&waiting);
    return ticks == INT64_MAX ? UINT64_MAX : clock_ticks_ns(clocks, (uint64_t)ticks);
}

uint64_t state_wait_ended_ns(const struct state_line *line, const struct clock_reading *clocks)
{
    const uint64_t *ended = state_is_hidden(line) ? NULL : state_end_of(line->region, line->place);
    uint64_t ticks = ended ? load_relaxed(ended) : 0;
    return ticks && (int64_t)(ticks - line->idle_since) >= 0 ? clock_ticks_ns(clocks, ticks) : UINT64_MAX;
}

bool state_was_parked(const struct state_line *line, const struct clock_reading *clocks, uint64_t time_ns)
{
    struct waiting waiting = {.region = line->region, .instance = line->region_instance};
    return state_wait_is_parked(&waiting, clock_ns_ticks(clocks, time_ns));
}

/* Returns the wait's place, of type STATE_PLACE. The runtime does not report a region's end to workers: the
 * region's fork call stands for it. */
static uint64_t state_place_of(const struct waiting *waiting)
{
    uint64_t place = STATE_PLACE_ONLY(waiting->place);
    if (STATE_PLACE_CODEPTR(place) || !waiting->region)
        return place;
    uint32_t kind = STATE_PLACE_KIND(place);
    return STATE_PLACE(kind == PROFILE_PLACE_REGION_END ? kind : kind | PROFILE_PLACE_REGIONS, waiting->codeptr);
}

uint64_t state_wait_place(const struct state_line *line)
{
    struct waiting waiting = {.place = line->place, .region = line->region, .instance = line->region_instance};
    state_wait_is_parked(&waiting, 0);
    return state_place_of(&waiting);
}

/* What a census has found out about the wait that it saw last. Most threads wait at the same place. */
struct census_wait {
    uint64_t place;
    const struct region *region;
    uint32_t instance;
    bool parked;     /* state_wait_is_parked() */
    uint32_t number; /* of the place in the list of places; NO_NUMBER: not listed yet */
    int64_t passed;  /* state_wait_passed() */
    uintptr_t codeptr;
};

#define NO_NUMBER UINT32_MAX

/* Looks at a wait, unless the last one is of the same kind. */
static inline void state_look_at_wait(struct census_wait *last, struct waiting *waiting, int64_t ticks)
{
    if (likely(last->place == waiting->place && last->region == waiting->region && last->instance == waiting->instance))
        return;
    bool parked = state_wait_is_parked(waiting, ticks);
    *last = (struct census_wait){.place = waiting->place,
                                 .region = waiting->region,
                                 .instance = waiting->instance,
                                 .parked = parked,
                                 .number = NO_NUMBER,
                                 .passed = parked ? 0 : state_wait_passed(waiting),
                                 .codeptr = waiting->codeptr};
}

/* Adds the place to the list if it is new there. Returns its number. */
static uint32_t state_list_wait_place(struct waiting_places *places, const struct census_wait *last)
{
    uint64_t place =
        state_place_of(&(struct waiting){.place = last->place, .region = last->region, .codeptr = last->codeptr});
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
    return number;
}

/* Returns true if the busy thread was ASLEEP at that time. */
static bool state_was_asleep(const struct state_line *line, uint32_t state, int64_t ticks)
{
    if (state == STATE_ASLEEP && (int64_t)load_acquire(&line->asleep_since) <= ticks) /* S5 */
        return state_woken_ticks(line) > ticks;
    if ((int64_t)load_acquire(&line->noted_last) <= ticks)
        return false;
    uint32_t noted = load_acquire(&line->sleeps_noted);
    for (uint32_t back = 1; back < STATE_SLEEPS && back <= noted; back++) {
        const struct state_sleep *sleep = &line->sleeps[(noted - back) % STATE_SLEEPS];
        int64_t since = (int64_t)load_acquire(&sleep->since), until = (int64_t)load_acquire(&sleep->until);
        /* S5: the count is loaded last */
        if (until <= ticks || load_relaxed(&line->sleeps_noted) - noted + back >= STATE_SLEEPS)
            return false;
        if (since <= ticks)
            return true;
    }
    return false;
}

/* Returns true if the thread that had the ABSENT line last was there at that time, and needed a core. */
static bool state_ran_until_later(const struct state_line *line, int64_t ticks)
{
    return unlikely((int64_t)load_acquire(&line->ended) > ticks) && (int64_t)load_relaxed(&line->began) <= ticks &&
           !state_was_asleep(line, STATE_ABSENT, ticks);
}

static void state_count_most(struct census *census, struct waiting_places *places, uint32_t most)
{
    census->busy = census->in_use = most;
    if (places)
        places->count = 0;
}

void state_count_beside(struct census *census, struct waiting_places *places)
{
    uint32_t most = load_relaxed(&state_counted_most), expected = load_relaxed(&state_expected);
    uint32_t booked = load_relaxed(&state_beside_most);
    most = most > expected ? most : expected;
    state_count_most(census, places, most);
    census->beside = true;
    while (unlikely(booked < most) && !compare_exchange(&state_beside_most, &booked, most))
        ;
}

/* T does not count threads that stand aside, but all others may sleep, too, or several be woken at the same time. Nobody is
 * idle then. In other cases T is about to become greater. */
static __attribute__((noinline)) void state_leave_out_excess(struct census *census, struct waiting_places *places)
{
    if (load_relaxed(&state_some_stood_aside))
        state_count_most(census, places, load_relaxed(&state_counted_most));
}

/* Returns true if the asking thread is left out. */
static bool state_leave_out_sleepers(struct census *census)
{
    if (load_relaxed(&state_sleepers_count) || census->busy == census->asleep)
        return false;
    census->busy -= census->asleep;
    census->in_use -= census->asleep;
    census->asleep = 0;
    return census->own_asleep;
}

struct census state_census_at(const struct clock_reading *clocks, uint64_t time_ns, const struct state_line *own,
                              uint64_t wait_key, struct waiting_places *places)
{
    uint32_t count = load_acquire(&high_water);
    struct census_time when = state_census_time(clocks, time_ns, count, wait_key);
    struct census census = {.holder = STATE_NO_HOLDER, .ticks = when.ticks};
    struct census_wait last = {.parked = true}; /* that of a wait without a region */
    int64_t due_ticks = clock_ns_ticks(clocks, time_ns);
    if (wait_key && unlikely(when.from))
        census.holder = state_find_forgotten_holder(&when, due_ticks, wait_key, count);
    census.ticks = when.ticks;
    if (census.holder != STATE_NO_HOLDER)
        census.holder_counts = load_relaxed(&lines[census.holder].counts_waiters);
    else if (wait_key)
        census.holder = state_find_holder(&when, wait_key, count, &census.holder_counts);
    census.holder_counts = census.holder_counts && !state_awaits_own(&lines[census.holder], wait_key);
    for (uint32_t i = 0; i < count; i++) {
        const struct state_line *line = &lines[i];
        uint32_t state = load_acquire(&line->state); /* S2, S5 */
        struct waiting waiting;
        if (likely(state == STATE_WORK && (int64_t)load_relaxed(&line->noted_last) <= when.ticks)) {
            census.busy++;
            continue;
        }
        if (state == STATE_ABSENT)
            census.ended += state_ran_until_later(line, when.ticks);
        if (state == STATE_ABSENT || state == STATE_OUTSIDE || (line == own && state == STATE_IDLE))
            continue;
        if (line == own || !state_waited_at(line, state, &when, &waiting)) {
            census.busy++;
            bool asleep = state_was_asleep(line, state, when.ticks);
            census.asleep += asleep;
            census.own_asleep = census.own_asleep || (asleep && line == own);
            continue;
        }
        state_look_at_wait(&last, &waiting, when.ticks);
        if (last.parked)
            continue;
        if (unlikely(last.passed && last.passed >= waiting.since && last.passed <= when.ticks)) {
            census.busy++; /* It waits for a core alone. */
            continue;
        }
        census.in_use++;
        if (!places)
            continue;
        if (last.number == NO_NUMBER)
            last.number = state_list_wait_place(places, &last);
        places->threads[last.number]++;
    }
    census.in_use += census.busy;
    bool left_out = unlikely(census.asleep) && state_leave_out_sleepers(&census);
    if (unlikely(left_out) || unlikely(own && load_relaxed(&own->state) == STATE_OUTSIDE))
        state_count_beside(&census, places);
    else if (unlikely(census.busy > load_relaxed(&state_counted_most)))
        state_leave_out_excess(&census, places);
    return census;
}

bool state_holds(uint32_t line_number, uint64_t key)
{
    return line_number < load_acquire(&high_water) &&
           (state_line_names_lock(&lines[line_number], key) || state_may_hold_lock(&lines[line_number], key));
}
