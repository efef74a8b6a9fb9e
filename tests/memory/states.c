/* What a census finds in the lines of threads that go on meanwhile: S2, S4, S5. */
#include "base/clock.h"
#include "blame/state.h"
#include "tests/memory/scenarios.h"

#define NS_PER_TICK 100 /* so that the grace is some steps */
#define GRACE       (STATE_GRACE_NS / NS_PER_TICK)
#define KEY         0x1000ull

static struct state_line *line, *other, *own;
static struct region regions[3];
static uint32_t lock;

static GHOST struct {
    struct ghost_interval {
        uint64_t since, until;           /* as the tool's clock had it; 0: not yet */
        uint64_t since_told, until_told; /* when that was all stored: a thread may lose its core in between */
    } of[2][128];
    unsigned count[2];
    uint64_t asked[2], asked_told[2]; /* when a thread asked for the lock, and when that was stored; 0: it has not */
    unsigned ended;
} ghost;

static struct clock_reading reading_of(uint64_t ticks)
{
    return (struct clock_reading){ticks * NS_PER_TICK, ticks, NS_PER_TICK};
}

/* Whether the interval covered the moment for all who look now, and whether it may have. */
static bool is_certain(const struct ghost_interval *interval, uint64_t ticks, uint64_t now)
{
    return interval->since_told && interval->since_told + model_staleness() < now && interval->since <= ticks &&
           (!interval->until || interval->until > ticks);
}

static bool is_possible(const struct ghost_interval *interval, uint64_t ticks, uint64_t now)
{
    return interval->since <= ticks &&
           (interval->until >= ticks || !interval->until_told || interval->until_told + model_staleness() >= now);
}

static void begin(void)
{
    line = state_line_acquire();
    other = state_line_acquire();
    own = state_line_acquire();
    line->grace_ticks = other->grace_ticks = GRACE;
    state_set_work(line);
    state_set_work(own);
    regions[0] = (struct region){.instance = 7, .codeptr = 0x100};
    regions[1] = (struct region){.instance = 9, .codeptr = 0x200};
    regions[2] = (struct region){.instance = 11, .codeptr = 0x300};
}

static void end(void)
{
    ghost.ended = 0;
    state_reset();
}

/* ---- a ring of waits, whose words all tell which wait they are of ---- */

#define RING_NOTES  (3 * STATE_WAITS)
#define RING_APART  2u
#define RING_LENGTH (GRACE + 1)

static uint64_t ring_since(unsigned number)
{
    return 1000000 + number * RING_APART;
}

static uint32_t ring_kind(unsigned number)
{
    return 16 * (1 + number % 15); /* none that a census changes */
}

static void note_waits(void)
{
    for (unsigned number = 1; number <= RING_NOTES; number++) {
        line->place = STATE_PLACE(ring_kind(number), 0);
        line->region = &regions[number % 3];
        line->region_instance = regions[number % 3].instance;
        line->idle_since = ring_since(number);
        state_note_wait(line, ring_since(number) + RING_LENGTH);
        ghost.count[0] = number;
    }
}

/* Far back: what is asked for is overwritten while the reader comes to it, or was. */
static unsigned asked_for(unsigned reading, unsigned ring)
{
    while (ghost.count[0] < 3 + reading * ring / 4)
        model_pause();
    unsigned back = ring / 3 + (unsigned)model_random(ring * 2 / 3);
    return ghost.count[0] > back ? ghost.count[0] - back : 1;
}

static void read_waits(void)
{
    for (unsigned reading = 0; reading < 11; reading++) {
        unsigned number = asked_for(reading, STATE_WAITS), noted = ghost.count[0];
        bool behind = model_random(3) == 0; /* between two waits that were long enough */
        uint64_t ticks = ring_since(number) + GRACE + behind;
        struct clock_reading clocks = reading_of(ticks);
        struct waiting_places places = {.count = 0};
        struct census census = state_census_at(&clocks, ticks * NS_PER_TICK, own, 0, &places);
        model_check(census.in_use == 2, "wait %u of %u: no region of its", number, noted);
        if (census.busy == 2)
            continue; /* forgotten, or not seen yet */
        model_check(!behind, "behind wait %u of %u: the thread was busy", number, noted);
        uint64_t place = STATE_PLACE(ring_kind(number) | PROFILE_PLACE_REGIONS, regions[number % 3].codeptr);
        model_check(places.count == 1 && places.place[0] == place, "wait %u of %u: place %llx", number, noted,
                    (unsigned long long)places.place[0]);
    }
}

const struct scenario scenario_waits_ring = {"waits-ring", "S5", begin, {note_waits, read_waits, read_waits},
                                             end,          3000};

/* ---- waits, one after another: a sample finds the thread idle when it was ---- */

static void last(uint64_t steps)
{
    for (uint64_t from = model_now(); model_now() < from + steps;)
        model_pause();
}

static void wait_and_work(void)
{
    for (unsigned i = 0; i < 12; i++) {
        struct ghost_interval *interval = &ghost.of[0][i];
        last(model_random(3) ? model_random(60) : 400 + model_random(200));
        state_set_place(line, STATE_PLACE(ring_kind(i), 0));
        state_set_idle_region(line, region_word(&regions[i % 2]));
        interval->since = model_now();
        ghost.count[0] = i + 1;
        state_set_idle(line, interval->since);
        interval->since_told = model_now();
        last(GRACE + (model_random(3) ? model_random(60) : 400 + model_random(200)));
        interval->until = model_now();
        state_note_wait(line, interval->until);
        state_set_work(line);
        interval->until_told = model_now();
    }
    ghost.ended = 1;
}

static void sample_waits(void)
{
    while (!ghost.ended) {
        last(20 + model_random(100));
        uint64_t now = model_now(), ticks = now - model_staleness() - 100;
        struct clock_reading clocks = reading_of(now);
        unsigned count = ghost.count[0];
        struct census census = state_census_at(&clocks, ticks * NS_PER_TICK, own, 0, NULL);
        bool idle = false, perhaps = false;
        for (unsigned i = 0; i < count; i++) {
            idle |= is_certain(&ghost.of[0][i], ticks - GRACE, now) &&
                    (!ghost.of[0][i].until || ghost.of[0][i].until > ticks);
            perhaps |= is_possible(&ghost.of[0][i], ticks - GRACE, now) && is_possible(&ghost.of[0][i], ticks, now);
        }
        model_check(!idle || census.busy == 1, "at %llu of %llu: the thread was idle, and counts as busy",
                    (unsigned long long)ticks, (unsigned long long)now);
        model_check(perhaps || census.busy == 2, "at %llu of %llu: the thread was busy, and counts as idle",
                    (unsigned long long)ticks, (unsigned long long)now);
    }
}

const struct scenario scenario_waits = {"waits", "S2, S5", begin, {wait_and_work, sample_waits, sample_waits},
                                        end,     300};

/* ---- who held a lock ---- */

/* The thread's sample counts the other, which waits until the lock is released. */
static void count_waiters(const struct state_line *self, unsigned number)
{
    uint32_t waiters[STATE_HELD_LOCKS], peer = 1 - number;
    uint64_t now = model_now(), ticks = now - model_random(300), told = ghost.asked_told[peer];
    bool waited = told && told + model_staleness() < now && ghost.asked[peer] <= ticks;
    uint32_t count = state_count_waiters(self, (int64_t)ticks, waiters);
    model_check(count == 1 || !waited, "at %llu of %llu: a waiter was missed", (unsigned long long)ticks,
                (unsigned long long)now);
    model_check(count == 0 || (ghost.asked[peer] && ghost.asked[peer] <= ticks),
                "at %llu of %llu: a thread is counted that did not wait", (unsigned long long)ticks,
                (unsigned long long)now);
}

static void take_and_release(struct state_line *self, unsigned number)
{
    for (unsigned i = 0; i < 10; i++) {
        struct ghost_interval *interval = &ghost.of[number][i];
        uint32_t free = 0;
        last(model_random(3) ? model_random(20) : model_random(700));
        ghost.asked[number] = model_now();
        state_set_lockwait_at(self, KEY, ghost.asked[number]);
        ghost.asked_told[number] = model_now();
        while (!compare_exchange(&lock, &free, 1)) {
            free = 0;
            model_pause();
        }
        ghost.asked[number] = ghost.asked_told[number] = 0;
        interval->since = model_now();
        ghost.count[number] = i + 1;
        state_lock_held(self, KEY, interval->since);
        interval->since_told = model_now();
        last(model_random(3) ? model_random(20) : model_random(700));
        count_waiters(self, number);
        store_release(&lock, 0);
        interval->until = model_now();
        state_lock_released(self, KEY, interval->until);
        interval->until_told = model_now();
    }
    ghost.ended++;
}

static void take_first(void)
{
    take_and_release(line, 0);
}

static void take_second(void)
{
    take_and_release(other, 1);
}

/* A waiter's sample asks who took the lock next after a time at which it was free. */
static void find_next_owner(void)
{
    unsigned number = (unsigned)model_random(2);
    if (!ghost.count[number])
        return;
    const struct ghost_interval *interval = &ghost.of[number][model_random(ghost.count[number])];
    uint32_t owner;
    if (!interval->since_told || interval->since_told + model_staleness() >= model_now())
        return;
    enum state_handover handover = state_handover_after((int64_t)interval->since - 1, KEY, &owner);
    model_check(handover != STATE_FREE && owner == state_line_number(number ? other : line),
                "the lock was taken at %llu, not by %u", (unsigned long long)interval->since, owner);
}

static void sample_holders(void)
{
    while (ghost.ended < 2) {
        last(20 + model_random(100));
        uint64_t now = model_now(), ticks = now - model_staleness() - 100;
        struct clock_reading clocks = reading_of(now);
        uint32_t holder = state_census_at(&clocks, ticks * NS_PER_TICK, own, KEY, NULL).holder;
        bool held = false, is_one = holder == STATE_NO_HOLDER;
        for (unsigned number = 0; number < 2; number++)
            for (unsigned i = 0; i < ghost.count[number]; i++) {
                const struct ghost_interval *interval = &ghost.of[number][i];
                held |= is_certain(interval, ticks, now);
                is_one |= is_possible(interval, ticks, now) && holder == state_line_number(number ? other : line);
            }
        model_check(!held || holder != STATE_NO_HOLDER, "at %llu of %llu: the lock's holder was missed",
                    (unsigned long long)ticks, (unsigned long long)now);
        model_check(is_one, "at %llu of %llu: %u did not hold the lock", (unsigned long long)ticks,
                    (unsigned long long)now, holder);
        find_next_owner();
    }
}

static void begin_locks(void)
{
    begin();
    state_set_work(other);
}

const struct scenario scenario_holders = {"holders", "S4", begin_locks, {take_first, take_second, sample_holders},
                                          end,       300};

/* ---- a ring of releases, each of another lock ---- */

static void release_many(void)
{
    for (unsigned number = 1; number <= 3 * STATE_RELEASES; number++) {
        line->wait_lacked = number % 3;
        state_lock_held(line, KEY + number, ring_since(10 * number));
        state_lock_released(line, KEY + number, ring_since(10 * number + 5));
        ghost.of[0][number].until_told = model_now();
        ghost.count[0] = number;
    }
}

/* Who took the lock next, just before it was taken: without a core if the thread had lacked one until then. */
static void read_next_owner(unsigned number)
{
    uint32_t owner;
    enum state_handover handover = state_handover_after((int64_t)ring_since(10 * number) - 1, KEY + number, &owner);
    if (handover == STATE_FREE)
        return; /* forgotten */
    model_check(owner == state_line_number(line) && (handover == STATE_PASSED_WITHOUT) == (number % 3 > 0),
                "lock %u passed %s a core to %u", number, handover == STATE_PASSED_WITHOUT ? "without" : "with", owner);
}

static void read_releases(void)
{
    for (unsigned reading = 0; reading < 11; reading++) {
        unsigned number = asked_for(reading, STATE_RELEASES), asked = number + (model_random(2) ? STATE_RELEASES : 0);
        bool behind = model_random(3) == 0; /* when nobody held any */
        if (ghost.of[0][number].until_told + model_staleness() > model_now())
            continue;
        struct clock_reading clocks = reading_of(ring_since(10 * number + (behind ? 7 : 2)));
        uint32_t holder = state_census_at(&clocks, clocks.ns, own, KEY + asked, NULL).holder;
        model_check(holder == STATE_NO_HOLDER || (asked == number && !behind), "lock %u was held when %u was%s", asked,
                    number, behind ? " held no more" : "");
        read_next_owner(number);
    }
}

const struct scenario scenario_releases_ring = {
    "releases-ring", "S5", begin, {release_many, read_releases, read_releases}, end, 150};
