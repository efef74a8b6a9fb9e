/* The lines of a job's ranks: X1, X3. */
#include "blame/ranks.h"

#include "base/atomics.h"
#include "tests/memory/scenarios.h"

#define NS_PER_TICK 100
#define WAITS       12
#define NOTES       (3 * RANKS_WAITS)

static struct ranks_segment *segment;
static struct ranks_line *line; /* of another process, whose only thread that waits writes it */

static GHOST struct {
    struct ghost_wait {
        uint64_t since, until, since_told, until_told;
    } of[128];
    unsigned count, ended;
    bool stopped, gives;
} ghost;

static void begin(void)
{
    segment = model_map(sizeof(*segment) + 3 * sizeof(struct ranks_line));
    line = &segment->line[1];
    segment->high = 2;
    segment->owner[0] = segment->owner[1] = 1 | RANKS_READY;
    line->rank = 1;
    ranks_use(segment, 0, 0, 0);
    segment->line[0].appeared = 0; /* both are sampled all the time */
}

static uint64_t call_of(unsigned number)
{
    return RANKS_CALL(1 + number % 3, 0x1000 + number);
}

static void last(uint64_t steps)
{
    for (uint64_t from = model_now(); model_now() < from + steps;)
        model_pause();
}

/* ---- whether it waited, and in which call ---- */

static void wait_in_calls(void)
{
    for (unsigned i = 0; i < WAITS; i++) {
        struct ghost_wait *wait = &ghost.of[i];
        last(model_random(3) ? model_random(60) : 400 + model_random(200));
        wait->since = model_now();
        ghost.count = i + 1;
        ranks_line_begin(line, wait->since, call_of(i), 0);
        wait->since_told = model_now();
        last(model_random(3) ? 1 + model_random(60) : 400 + model_random(200));
        wait->until = model_now();
        ranks_line_end(line, wait->until);
        wait->until_told = model_now();
    }
    ghost.ended = 1;
}

static void sample_ranks(void)
{
    while (!ghost.ended) {
        last(20 + model_random(100));
        uint64_t now = model_now(), ticks = now - model_staleness() - 100, seen = now - model_staleness();
        struct clock_reading clocks = {now * NS_PER_TICK, now, NS_PER_TICK};
        unsigned count = ghost.count, certain = WAITS, call = WAITS;
        struct ranks_census census = ranks_census_at(&clocks, ticks * NS_PER_TICK);
        for (unsigned i = 0; i < count; i++) {
            const struct ghost_wait *wait = &ghost.of[i];
            bool over = wait->until && wait->until <= ticks;
            if (wait->since_told && wait->since_told < seen && wait->since <= ticks && !over)
                certain = i;
            bool perhaps = wait->since <= ticks && !(over && wait->until_told && wait->until_told < seen);
            if (census.calls && census.call[0].call == call_of(i) && perhaps)
                call = i;
        }
        model_check(certain == WAITS || census.waiting == 1, "at %llu of %llu: the rank waited, and counts as busy",
                    (unsigned long long)ticks, (unsigned long long)now);
        model_check(!census.waiting || call < WAITS, "at %llu of %llu: the rank did not wait in that call",
                    (unsigned long long)ticks, (unsigned long long)now);
    }
}

const struct scenario scenario_ranks = {"ranks",      "X1", begin, {wait_in_calls, sample_ranks, sample_ranks},
                                        ranks_forget, 300};

/* ---- the ring, whose words all tell which wait they are of ---- */

static uint64_t since_of(unsigned number)
{
    return 1000000 + 10 * number;
}

static void note_calls(void)
{
    for (unsigned number = 1; number <= NOTES; number++) {
        ranks_line_begin(line, since_of(number), call_of(number), number % 3 ? RANKS_PEER(0) : 0);
        ranks_line_end(line, since_of(number) + 5);
        ghost.of[number].until_told = model_now();
        ghost.count = number;
    }
}

static void read_calls(void)
{
    for (unsigned reading = 0; reading < 11; reading++) {
        while (ghost.count < 3 + reading * RANKS_WAITS / 4)
            model_pause();
        unsigned back = RANKS_WAITS / 3 + (unsigned)model_random(RANKS_WAITS * 2 / 3);
        unsigned number = ghost.count > back ? ghost.count - back : 1;
        bool behind = model_random(3) == 0; /* between two waits */
        uint64_t ticks = since_of(number) + (behind ? 7 : 2);
        struct clock_reading clocks = {ticks, ticks, 1};
        if (model_now() < ghost.of[number].until_told + model_staleness())
            continue; /* words of the wait that is on may be older than its begin */
        struct ranks_census census = ranks_census_at(&clocks, ticks);
        if (!census.waiting)
            continue; /* forgotten */
        model_check(!behind, "behind wait %u: the rank was busy", number);
        model_check(census.call[0].call == call_of(number), "wait %u: call %llx", number,
                    (unsigned long long)census.call[0].call);
        model_check(census.call[0].named == (number % 3 != 0), "wait %u: for another rank", number);
    }
}

const struct scenario scenario_ranks_ring = {"ranks-ring", "X1", begin, {note_calls, read_calls, read_calls},
                                             ranks_forget, 150};

/* ---- when it is sampled at all ---- */

#define LIVES 12

static void begin_unborn(void)
{
    begin();
    segment->line[0].appeared = RANKS_NEVER;
}

static void live_and_die(void)
{
    for (unsigned i = 0; i < LIVES; i++) {
        struct ghost_wait *life = &ghost.of[i];
        last(model_random(3) ? 30 + model_random(60) : 400 + model_random(200));
        life->since = model_now();
        ghost.count = i + 1;
        ranks_appear();
        life->since_told = model_now();
        last(model_random(3) ? 30 + model_random(60) : 400 + model_random(200));
        life->until = model_now();
        ranks_disappear();
        life->until_told = model_now();
    }
    ghost.ended = 1;
}

static void sample_lives(void)
{
    while (!ghost.ended) {
        last(20 + model_random(100));
        uint64_t now = model_now(), seen = now - model_staleness(), ticks = seen - model_random(100);
        struct clock_reading clocks = {now, now, 1};
        struct ranks_census census = ranks_census_at(&clocks, ticks);
        bool certain = false, perhaps = false;
        for (unsigned i = 0; i < ghost.count; i++) {
            const struct ghost_wait *life = &ghost.of[i];
            perhaps |= life->since <= ticks && !(life->until_told && life->until_told < ticks);
            /* Behind the next one's begin this one is forgotten. */
            certain |= i + 1 == ghost.count && life->since_told && life->since_told < ticks &&
                       (!life->until || life->until > ticks);
        }
        model_check(!certain || census.seen == 2, "at %llu of %llu: the rank was there, and is not seen",
                    (unsigned long long)ticks, (unsigned long long)now);
        model_check(perhaps || census.seen == 1, "at %llu of %llu: the rank was not there, and is seen",
                    (unsigned long long)ticks, (unsigned long long)now);
    }
}

const struct scenario scenario_ranks_lives = {
    "ranks-lives", "X1", begin_unborn, {live_and_die, sample_lives, sample_lives}, ranks_forget, 300};

/* ---- who stops: behind it nobody writes to the line ---- */

static void tell_waits(void)
{
    for (unsigned i = 0; i < 4; i++) {
        if (ranks_wait_begin(call_of(i), 0))
            ranks_wait_end();
        model_pause();
    }
}

static void stop(void)
{
    last(model_random(60));
    ranks_stop();
    struct ranks_line *own = &segment->line[0];
    own->waiting = 1000;
    own->waits_noted = 2000;
    own->noted_last = 3000;
}

static void end_stopped(void)
{
    const struct ranks_line *own = &segment->line[0];
    model_check(own->waiting == 1000 && own->waits_noted == 2000 && own->noted_last == 3000,
                "somebody has written to the line: %u waiting, %u noted", own->waiting, own->waits_noted);
}

const struct scenario scenario_ranks_stop = {"ranks-stop", "X3", begin, {tell_waits, tell_waits, stop},
                                             end_stopped,  3000};
