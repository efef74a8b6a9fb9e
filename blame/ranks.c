#include "blame/ranks.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"

#define SPINS  100
#define YIELDS 20
/* number of further attempts, with a pause before each: at least a second in all */
#define PAUSES        1000
#define PAUSE_NS      1000000
#define STOP_ATTEMPTS 1000

static struct ranks_segment *segment; /* NULL: this process is not a rank */
static struct ranks_line *own_line;
static uint32_t own_number;

/* Lock between this process's threads (MPI_THREAD_MULTIPLE). Handlers only try it. */
static uint32_t writing;

void ranks_use(struct ranks_segment *of, uint32_t own, uint32_t rank, uint64_t program)
{
    own_number = own;
    own_line = &of->line[own];
    memset(own_line, 0, sizeof(*own_line));
    own_line->rank = rank;
    own_line->program = program;
    own_line->appeared = RANKS_NEVER;
    store_relaxed(&writing, 0);
    store_release(&segment, of);
}

void ranks_appear(void)
{
    if (!load_acquire(&segment))
        return;
    store_relaxed(&own_line->appeared, clock_ticks());
    store_release(&own_line->disappeared, 0); /* X1: stored after `appeared` */
}

void ranks_disappear(void)
{
    if (load_acquire(&segment) && !load_relaxed(&own_line->disappeared))
        /* X2: of two leaving ranks, at least one sees the other's store */
        store_seq_cst(&own_line->disappeared, clock_ticks());
}

void ranks_forget(void)
{
    store_relaxed(&segment, (struct ranks_segment *)NULL);
}

void ranks_stop(void)
{
    store_seq_cst(&segment, (struct ranks_segment *)NULL);
    for (int i = 0; i < STOP_ATTEMPTS && load_seq_cst(&writing); i++)
        sched_yield();
}

bool ranks_are_seen(void)
{
    return load_relaxed(&segment) != NULL;
}

static uint32_t ranks_lines_of_segment(const struct ranks_segment *of)
{
    uint32_t high = load_acquire(&of->high);
    return high < RANKS_MAX ? high : RANKS_MAX;
}

uint32_t ranks_lines(void)
{
    const struct ranks_segment *of = load_acquire(&segment);
    return of ? ranks_lines_of_segment(of) : 0;
}

static inline bool ranks_try_lock(void)
{
    uint32_t expected = 0;
    return compare_exchange(&writing, &expected, 1);
}

/* Ends this process's part as a rank, because the thread that had the lock was cancelled or left its handler
 * by a jump. The line stays this process's, but no process reads it any more. */
static void ranks_stop_being_rank(void)
{
    struct ranks_segment *of = load_seq_cst(&segment);
    if (of && compare_exchange(&segment, &of, (struct ranks_segment *)NULL))
        store_release(&of->owner[own_number], load_relaxed(&of->owner[own_number]) & ~RANKS_READY);
}

/* Pauses by a system call, because nanosleep() is a cancellation point. */
static void ranks_pause(void)
{
    int saved = errno;
    syscall(SYS_nanosleep, &(struct timespec){0, PAUSE_NS}, NULL);
    errno = saved;
}

static __attribute__((noinline, cold)) bool ranks_wait_for_lock(void)
{
    for (int turn = 0; turn < SPINS + YIELDS + PAUSES; turn++) {
        if (ranks_try_lock())
            return true;
        if (!load_seq_cst(&segment))
            return false;
        if (turn >= SPINS + YIELDS)
            ranks_pause();
        else if (turn >= SPINS)
            sched_yield();
    }
    ranks_stop_being_rank();
    return false;
}

/* Takes the lock. Returns false if this process is no longer a rank. */
static inline bool ranks_lock(void)
{
    return likely(ranks_try_lock()) || ranks_wait_for_lock();
}

static inline void ranks_unlock(void)
{
    store_release(&writing, 0);
}

/* X1: runs after the previous wait has been noted. */
void ranks_line_begin(struct ranks_line *line, uint64_t now_ticks, uint64_t call, uint64_t peer)
{
    if (likely(line->waiting == 0)) {
        store_release(&line->since, now_ticks);
        store_release(&line->call, call);
        store_release(&line->peer, peer);
    } else if (line->peer !=
               peer) { /* a second thread waits for another rank, and either wait may be why this rank waits */
        store_release(&line->peer, 0);
    }
    store_release(&line->waiting, line->waiting + 1);
}

static inline void ranks_note_wait(struct ranks_line *line, uint64_t now_ticks)
{
    uint32_t noted = line->waits_noted;
    struct ranks_wait *wait = &line->waits[noted % RANKS_WAITS];
    store_release(&wait->since, line->since); /* S5: stored before the count */
    store_release(&wait->until, now_ticks);
    store_release(&wait->call, line->call);
    store_release(&wait->peer, line->peer);
    store_release(&line->waits_noted, noted + 1);
    store_release(&line->noted_last, now_ticks);
}

void ranks_line_end(struct ranks_line *line, uint64_t now_ticks)
{
    if (likely(line->waiting == 1))
        ranks_note_wait(line, now_ticks);
    store_release(&line->waiting, line->waiting - 1); /* X1: stored after the note */
}

/* Returns true, and releases the lock, if this process is no longer a rank. X3: a writer checks this again
 * after it has taken the lock. */
static inline bool ranks_has_stopped(void)
{
    if (likely(load_seq_cst(&segment) != NULL))
        return false;
    ranks_unlock();
    return true;
}

bool ranks_wait_begin(uint64_t call, uint64_t peer)
{
    if (likely(!load_acquire(&segment)))
        return false;
    struct ranks_line *line = own_line;
    uint64_t now_ticks = clock_ticks();
    if (!ranks_lock() || ranks_has_stopped())
        return false;
    ranks_line_begin(line, now_ticks, call, peer);
    ranks_unlock();
    return true;
}

static inline void ranks_end_wait(struct ranks_line *line)
{
    if (ranks_has_stopped())
        return;
    ranks_line_end(line, clock_ticks());
    ranks_unlock();
}

void ranks_wait_end(void)
{
    if (ranks_lock())
        ranks_end_wait(own_line);
}

bool ranks_wait_left(void)
{
    if (!ranks_try_lock())
        return false;
    ranks_end_wait(own_line);
    return true;
}

/* Returns the time from which on the ring of waits is complete: the start of its oldest entry that is not
 * being overwritten; 0 if nothing has been overwritten yet. */
static int64_t rank_remembers_from(const struct ranks_line *line)
{
    uint32_t noted = load_acquire(&line->waits_noted);
    return noted < RANKS_WAITS ? 0 : (int64_t)load_relaxed(&line->waits[(noted + 1) % RANKS_WAITS].since);
}

static bool rank_line_is_ready(const struct ranks_segment *of, uint32_t number)
{
    return load_acquire(&of->owner[number]) & RANKS_READY;
}

bool ranks_has_gone(const struct ranks_segment *of, uint32_t number)
{
    return rank_line_is_ready(of, number) && load_seq_cst(&of->line[number].disappeared) != 0;
}

/* Returns true if the rank was being sampled at that time. */
static bool rank_was_sampled_at(const struct ranks_segment *of, uint32_t number, int64_t ticks)
{
    const struct ranks_line *line = &of->line[number];
    if (!rank_line_is_ready(of, number))
        return false;
    /* X1: loaded first, so that a 0 comes with the matching value of `appeared` */
    int64_t until = (int64_t)load_acquire(&line->disappeared);
    return (int64_t)load_relaxed(&line->appeared) <= ticks && (!until || ticks < until);
}

/* For each rank, the number of its line, as the last census saw it. Ranks may share a slot. */
#define LINE_SLOTS 2048u
static uint16_t line_slots[LINE_SLOTS];

static inline void note_line_of_rank(const struct ranks_segment *of, uint32_t number)
{
    uint16_t *slot = &line_slots[load_relaxed(&of->line[number].rank) % LINE_SLOTS];
    if (unlikely(load_relaxed(slot) != number))
        store_relaxed(slot, (uint16_t)number);
}

/* Returns the time itself or, if a line does not remember so far back, a later one. Later times are spread
 * evenly over what all lines remember. Also notes the line of each rank. */
static int64_t ranks_time_remembered(const struct ranks_segment *of, uint32_t count, int64_t ticks, int64_t now_ticks)
{
    int64_t from = ticks;
    for (uint32_t i = 0; i < count; i++) {
        if (!rank_line_is_ready(of, i))
            continue;
        note_line_of_rank(of, i);
        int64_t line_from =
            (int64_t)load_acquire(&of->line[i].noted_last) > ticks ? rank_remembers_from(&of->line[i]) : 0;
        from = line_from > from ? line_from : from;
    }
    return from == ticks || from >= now_ticks ? ticks : from + ticks % (now_ticks - from);
}

/* The call in which a rank waits, and the rank for which it waits. */
struct wait {
    uint64_t call, peer;
};

static bool rank_waited_then(const struct ranks_line *line, int64_t ticks, struct wait *wait)
{
    uint32_t noted = load_acquire(&line->waits_noted);
    for (uint32_t back = 1; back < RANKS_WAITS && back <= noted; back++) {
        const struct ranks_wait *then = &line->waits[(noted - back) % RANKS_WAITS];
        int64_t since = (int64_t)load_acquire(&then->since), until = (int64_t)load_acquire(&then->until);
        *wait = (struct wait){load_acquire(&then->call), load_acquire(&then->peer)}; /* S5: the count is loaded last */
        if (until <= ticks || load_relaxed(&line->waits_noted) - noted + back >= RANKS_WAITS)
            return false;
        if (since <= ticks)
            return true;
    }
    return false;
}

/* X1: reads the current wait first, then the noted waits. */
static bool rank_waited(const struct ranks_line *line, int64_t ticks, struct wait *wait)
{
    if (load_acquire(&line->waiting) > 0) {
        uint64_t since = load_acquire(&line->since);
        *wait = (struct wait){load_acquire(&line->call), load_acquire(&line->peer)};
        if ((int64_t)since <= ticks && load_acquire(&line->since) == since)
            return true;
    }
    return (int64_t)load_acquire(&line->noted_last) > ticks && rank_waited_then(line, ticks, wait);
}

/* Returns the number of the rank's line; RANKS_MAX if the rank was not on this node at that time. Searches
 * all lines if two ranks share a slot or if one has left. */
static uint32_t line_of_rank(const struct ranks_segment *of, uint32_t count, uint32_t rank, int64_t ticks,
                             uint32_t *looks)
{
    uint32_t number = load_relaxed(&line_slots[rank % LINE_SLOTS]),
             there = number < count ? load_relaxed(&of->line[number].rank) : 0;
    ++*looks;
    if (number >= count || there % LINE_SLOTS != rank % LINE_SLOTS)
        /* ranks_time_remembered() has noted the lines of all ranks, so no line is missing */
        return RANKS_MAX;
    if (there == rank && rank_was_sampled_at(of, number, ticks))
        return number;
    *looks += count;
    for (number = 0; number < count; number++)
        if (rank_was_sampled_at(of, number, ticks) && load_relaxed(&of->line[number].rank) == rank)
            return number;
    return RANKS_MAX;
}

/* Results of a search for the rank to blame for a wait: the line of the busy rank at the end of the chain of
 * waiting ranks, or one of these. ANYBODY: a rank of the chain waits for no rank in particular, or the search
 * would read too many lines. NOBODY: the chain leaves the node or is a circle. */
enum { ANYBODY = RANKS_MAX + 1, NOBODY };

static uint32_t ranks_head_of_chain(const struct ranks_segment *of, uint32_t count, int64_t ticks, struct wait wait,
                                    uint32_t *looks)
{
    for (uint32_t hops = 0; hops < RANKS_CHAIN; hops++) {
        if (!wait.peer || *looks >= RANKS_LOOKS)
            return ANYBODY;
        uint32_t number = line_of_rank(of, count, (uint32_t)(wait.peer - 1), ticks, looks);
        if (number == RANKS_MAX)
            return NOBODY;
        if (!rank_waited(&of->line[number], ticks, &wait))
            return number;
    }
    return NOBODY;
}

static struct ranks_call *ranks_census_call(struct ranks_census *census, uint64_t call, bool own_program)
{
    uint32_t number = 0;
    while (number < census->calls &&
           (census->call[number].call != call || census->call[number].own_program != own_program))
        number++;
    if (number == RANKS_CALLS) {
        number--;
        census->call[number].call = 0;
    } else if (number == census->calls) {
        census->calls++;
        census->call[number] = (struct ranks_call){.call = call, .own_program = own_program};
    }
    return &census->call[number];
}

struct ranks_census ranks_census_at(const struct clock_reading *clocks, uint64_t time_ns)
{
    const struct ranks_segment *of = load_acquire(&segment);
    struct ranks_census census;
    uint32_t looks = 0, own_head = ANYBODY;
    bool own_is_there = false;
    census.seen = census.busy = census.waiting = census.calls = 0;
    census.own_waits = census.own_is_blamed = false;
    census.own_threads = 1;
    if (!of)
        return census;
    uint32_t count = ranks_lines_of_segment(of);
    int64_t ticks = ranks_time_remembered(of, count, clock_ns_ticks(clocks, time_ns), (int64_t)clocks->ticks);
    for (uint32_t i = 0; i < count; i++) {
        const struct ranks_line *line = &of->line[i];
        struct wait wait;
        if (!rank_was_sampled_at(of, i, ticks))
            continue;
        census.seen++;
        own_is_there |= i == own_number;
        if (!rank_waited(line, ticks, &wait))
            continue;
        census.waiting++;
        uint32_t head = ranks_head_of_chain(of, count, ticks, wait, &looks);
        if (i == own_number) {
            census.own_waits = true;
            own_head = head;
        } else if (head == own_number || head == ANYBODY) {
            struct ranks_call *call =
                ranks_census_call(&census, wait.call, line->program && line->program == own_line->program);
            call->named += head == own_number;
            call->any += head == ANYBODY;
        }
    }
    census.busy = census.seen - census.waiting;
    bool own_is_busy = own_is_there && !census.own_waits;
    census.own_is_blamed = own_head == ANYBODY ? census.busy > own_is_busy : own_head != NOBODY;
    census.calls = own_is_there ? census.calls : 0;
    uint32_t threads = load_relaxed(&own_line->waiting);
    census.own_threads = threads ? threads : 1;
    return census;
}

void ranks_bury(uint64_t now_ticks, uint64_t apart_ticks, bool (*is_dead)(pid_t pid))
{
    static uint64_t looked;
    static uint32_t next;
    struct ranks_segment *of = load_acquire(&segment);
    uint64_t last = load_relaxed(&looked);
    uint32_t count = of ? ranks_lines_of_segment(of) : 0;
    if (!count || now_ticks - last < apart_ticks || !compare_exchange(&looked, &last, now_ticks))
        return;
    uint32_t number = load_relaxed(&next) % count;
    store_relaxed(&next, number + 1);
    uint64_t owner = load_acquire(&of->owner[number]);
    if (number != own_number && (owner & RANKS_READY) && !ranks_has_gone(of, number) && is_dead(RANKS_OWNER_PID(owner)))
        compare_exchange(&of->owner[number], &owner, 0);
}
