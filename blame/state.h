/* Thread states, which the tool keeps itself. Each thread has a line of a few cache lines. Its own thread
 * writes the line, and samples of all threads read it. docs/concurrency.md has the design and the guarantees
 * S1 to S5 and S7; in short:
 *
 * S1: only the thread itself writes its line, in callbacks and in its handler, with two exceptions. A reader
 * sees each word whole, but the words may come from different times. S2: IDLE is stored after idle_since with
 * release order, so a reader never takes an old idle_since. S3: lines are never unmapped; readers skip ABSENT
 * lines. S5: an entry about the past is not used if it may have been overwritten while it was read. */
#ifndef BLAME_BLAME_STATE_H
#define BLAME_BLAME_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "cct/deferred/region.h"
#include "cct/profile_tree.h"

#define STATE_MAX_THREADS 4095u /* line numbers stay below DIRECTED_ANY_HOLDER */
#define STATE_HELD_LOCKS  7u
#define STATE_RELEASES    32u /* entries of the ring; a power of two, like STATE_WAITS */
#define STATE_WAITS       32u
#define STATE_SLEEPS      32u
#define STATE_LONG_HOLDS  16u
#define STATE_LONG_PARTS  8u
#define STATE_LONG_GRACES 20u
#define STATE_NO_HOLDER   0xffffu

/* The grace: time in ns for which an idle thread counts as dispatch, and so as busy (docs/accounting.md). */
#define STATE_GRACE_NS 5000u

/* A time later than any for which a census asks. It leaves room for arithmetic. */
#define STATE_FUTURE_TICKS (UINT64_MAX / 4)

/* Longer than the delivery of a signal takes, in ns. If a sample comes later than this, the thread had no
 * core. */
#define STATE_LATE_NS 100000u

enum thread_state {
    STATE_ABSENT = 0,
    STATE_WORK = 1, /* work or overhead, which each sample decides by the call path */
    STATE_IDLE = 2,
    /* in an MPI call that may wait for other ranks; for its team, the thread is as busy as one that waits for
     * a lock */
    STATE_MPI_WAIT = 3,
    /* WORK that needs no core: the thread sleeps in a call of its own. In a program without a team it counts as busy;
     * in others, it waits outside all regions until another thread wakes it (state_sleepers_count). */
    STATE_ASLEEP = 4,
    /* WORK of a thread beside the teams (std::thread in an OpenMP program), which no census counts */
    STATE_OUTSIDE = 5,
};

/* Which locks a thread stamps: all, those for which a sample has seen a waiter, or none (blame/contended.h). */
enum state_stamps { STATE_STAMPS_ALL, STATE_STAMPS_SEEN, STATE_STAMPS_NONE };

struct state_line {
    uint8_t state;
    /* whether the thread's samples count the threads that wait for its locks; otherwise these blame it */
    bool counts_waiters;
    uint16_t stamps;       /* a value of enum state_stamps, chosen again at each sample of the thread */
    uint32_t held_unnamed; /* number of held locks that are not in held[] */
    uint64_t idle_since;   /* start of the IDLE state, in ticks of clock_ticks() */
    /* PROFILE_LOCK_KEY of the lock that the thread waits for or takes; 0: none */
    uint64_t wait_key;
    struct region *region;    /* region in which the thread became IDLE; NULL: in no team */
    uint32_t region_instance; /* instance of that region's record at that time */
    /* number of locks in held[1] and above; too high if another thread has released one of them */
    uint32_t holds_more;
    uint64_t place;                  /* STATE_PLACE of the current wait; 0: none */
    uint64_t noted_last;             /* time of the last entry in released[] or waits[], in ticks */
    uint64_t held[STATE_HELD_LOCKS]; /* keys of the locks that the thread holds; 0: none */
    /* What follows is read only to find holders of contended locks and states in the past. Stamps are in
     * ticks; 0: the lock was not stamped (blame/contended.h). */
    uint64_t held_since[STATE_HELD_LOCKS];
    uint64_t held_lacked[STATE_HELD_LOCKS]; /* wait_lacked of the wait for each lock */
    uint64_t held_asked[STATE_HELD_LOCKS];  /* wait_since of the wait for each lock */
    uint64_t wait_since;                    /* start of the wait for wait_key */
    /* ticks that the thread lacked a core at the end of its last wait for a lock; only the thread reads it */
    uint64_t wait_lacked;
    int32_t tid;           /* number of the thread */
    bool wait_uncounted;   /* whether only the thread's own samples count its wait for wait_key, a mutex or the like */
    uint32_t releases;     /* number of entries ever written to released[] */
    uint32_t acquisitions; /* number of locks acquired; distinguishes one wait from the next */
    /* The last releases of stamped locks. A sample asks who held a lock when its timer was due, and several
     * short sections may have run since. */
    struct state_release {
        uint64_t key;
        uint64_t since;  /* time of the acquisition; 0: unknown */
        uint64_t lacked; /* wait_lacked of the wait for the lock */
        uint64_t asked;  /* wait_since of the wait for the lock */
        uint64_t ticks;  /* time of the release */
    } released[STATE_RELEASES];
    /* The last times for which the thread held a lock for an eighth or more of what released[] remembers, or for 20 graces
     * while that is not full. Who waited for it then may have no core until more short sections have run than released[]
     * has entries. */
    uint32_t long_holds_noted; /* number of entries ever written to long_holds[] */
    struct state_hold {
        uint64_t key, since, until;
    } long_holds[STATE_LONG_HOLDS];
    /* The last noted waits that outlasted the grace, for samples that are handled after them (blame/notes.h). */
    uint32_t waits_noted; /* number of entries ever written to waits[] */
    uint32_t grace_ticks; /* the grace in ticks */
    struct state_wait {
        uint64_t since, until;
        uint64_t place;
        struct region *region;
        uint32_t region_instance;
    } waits[STATE_WAITS];
    /* The last times in which the thread was ASLEEP, for samples that ask how many cores were used. */
    uint32_t sleeps_noted; /* number of entries ever written to sleeps[] */
    uint64_t asleep_since; /* start of the ASLEEP state, in ticks */
    /* If the thread's layer reports the sleep, and the thread has joined what it sleeps for: the entry and the last waker
     * before (blame/wakers.h); otherwise 0. */
    uint32_t awaits;
    uint64_t awaits_after;
    struct state_sleep {
        uint64_t since, until;
    } sleeps[STATE_SLEEPS];
    /* Life of a thread of no team, in ticks, for samples that come after its end. 0: it has not ended. */
    uint64_t began, ended;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct state_line, held) == 56,
               "a census reads one cache line per thread, and taking or releasing a single lock writes one");

/* A wait place: the kind of wait (enum profile_place_kind), and the return address of the call as the runtime
 * reported it, or 0. */
#define STATE_PLACE(kind, codeptr) (((uint64_t)(kind) << 56) | ((uint64_t)(codeptr) & 0xffffffffffffull))
#define STATE_PLACE_KIND(place)    ((uint32_t)((place) >> 56))
#define STATE_PLACE_CODEPTR(place) ((uintptr_t)((place) & 0xffffffffffffull))

/* At a barrier inside a region, the place also contains which of the region's barriers it is: how many the thread
 * has reached there so far, modulo 256. The number is the same for all threads of the team. For other kinds of waits
 * it means nothing. */
#define STATE_BARRIER(number)      ((uint64_t)(uint8_t)(number) << 48)
#define STATE_PLACE_BARRIER(place) ((uint8_t)((place) >> 48))
#define STATE_PLACE_ONLY(place)    ((place) & ~STATE_BARRIER(UINT8_MAX))

/* Returns true if a wait of this kind is a barrier inside a region, which all threads of the team pass at the same
 * time. */
static inline bool state_is_barrier(uint32_t place_kind) /* [handler] */
{
    return place_kind == PROFILE_PLACE_BARRIER || place_kind == PROFILE_PLACE_WORKSHARE;
}

/* The result of a census: counts of the threads at one time. */
struct census {
    /* b: number of threads in WORK, with or without a lock wait, and of IDLE threads within their grace;
     * includes the asking thread if it is busy */
    uint32_t busy;
    uint32_t in_use; /* t_now: number of threads that are not between regions */
    uint32_t asleep; /* number of busy threads that were ASLEEP, and needed no core */
    uint32_t ended;  /* number of threads that ran then and have ended since; busy does not count them */
    bool own_asleep; /* whether the asking thread is one of them */
    bool beside;     /* whether the asking thread is beside the teams: T threads count as busy */
    uint32_t holder; /* line of the thread that held the lock in question, or STATE_NO_HOLDER */
    /* whether the holder's own samples count the threads that wait for the lock */
    bool holder_counts;
    int64_t ticks; /* time as of which the census counted */
};

/* How a lock that was free passed to its next owner. */
enum state_handover {
    STATE_FREE,             /* nobody has acquired it yet, or that is not known */
    STATE_PASSED_WITH_CORE, /* the next owner had a core, or slept */
    STATE_PASSED_WITHOUT,   /* the next owner was ready to run and had no core */
};

/* The places at which the idle threads of one census waited. */
#define STATE_PLACES 8u
struct waiting_places {
    uint32_t count;
    uint32_t threads[STATE_PLACES]; /* number of idle threads at each place */
    /* STATE_PLACE of each place; the last may be 0, for all places without an entry */
    uint64_t place[STATE_PLACES];
};

/* True once the program has used detached tasks or target tasks, whose ends the teams may wait for although
 * none of their threads is to run. Until then, a team of which nobody is busy waits for a core. */
extern bool state_waits_outside __attribute__((visibility("hidden")));

/* Returns the place, of type STATE_PLACE, of the calling thread's wait. [handler] */
uint64_t state_wait_place(const struct state_line *line);

/* The line of threads that have none of their own. No fast path matches it, and nothing writes to it. */
extern struct state_line state_nobody __attribute__((visibility("hidden")));

/* Returns the line with this number; NULL if no thread ever used it. [handler] */
struct state_line *state_line_at(uint32_t number);

/* Returns the number of lines ever used. [handler] */
uint32_t state_lines(void);

/* Returns the line's number. [handler] */
uint32_t state_line_number(const struct state_line *line);

/* Removes the lock from the line that names it as held, because another thread has released it. Returns the
 * line's number, or STATE_NO_HOLDER. [owner] */
uint32_t state_forget_holder(uint64_t key);

/* Returns true if the thread with that line holds the lock. [handler] */
bool state_holds(uint32_t line_number, uint64_t key);

/* Returns true if the thread waits for a lock that it has itself, until another thread releases it. Its samples then do not
 * count those that wait for the lock: the thread that releases it takes the blame. A nestable lock is never waited for in
 * this way. [handler] */
bool state_awaits_own(const struct state_line *line, uint64_t key);

/* The greatest number of threads at one time that counted (T), and the size of the first team, whose threads are still to
 * come. The work of threads beside the teams is booked as if so many were busy, so that nobody is idle because of it. */
extern uint32_t state_counted_most __attribute__((visibility("hidden")));
extern uint32_t state_expected __attribute__((visibility("hidden")));

/* The greatest number of threads that was booked as busy for a thread beside the teams. */
extern uint32_t state_beside_most __attribute__((visibility("hidden")));

/* Whether ASLEEP threads count as busy. If not, they count only while nobody else is busy, and otherwise are beside the
 * teams: what they wait for is being done. */
extern bool state_sleepers_count __attribute__((visibility("hidden")));

/* True once a thread has stood aside: T no longer counts it while it sleeps, or is outside the teams. */
extern bool state_some_stood_aside __attribute__((visibility("hidden")));

/* Makes the census one of a thread beside the teams. `places` may be NULL. [handler] */
void state_count_beside(struct census *census, struct waiting_places *places);

/* Returns a free line in state ABSENT; NULL if all are taken. [any] */
struct state_line *state_line_acquire(void);
void state_line_release(struct state_line *line); /* [owner] */

/* Forgets all lines, in the child of a fork. [init] */
void state_reset(void);

/* Counts all threads as of time_ns, which must lie before the clock reading. `own` is the line of the asking
 * thread, or NULL. Its present state counts, because the thread has stood still; if it is IDLE, it does not
 * count; if it is OUTSIDE, T threads count as busy. wait_key is the lock for which the asking thread waits, 0 for none. The lock's holder is the one at
 * time_ns, because the lock may have passed to the asking thread since. `places` (or NULL) receives the wait
 * places of threads that are in use and not busy. Lines remember a limited number of waits. If time_ns is too
 * early, the census uses a later time that all lines remember. [handler] */
struct census state_census_at(const struct clock_reading *clocks, uint64_t time_ns, const struct state_line *own,
                              uint64_t wait_key, struct waiting_places *places);

/* Returns true if the lock was certainly free at that time: all lines remember it, and none names a holder.
 * [handler] */
bool state_was_free_at(const struct clock_reading *clocks, uint64_t time_ns, uint64_t key);

/* Returns how the lock, which was free at that time (in ticks), passed to its next owner. Sets *owner to the
 * owner's line. [handler] */
enum state_handover state_handover_after(int64_t ticks, uint64_t key, uint32_t *owner);

/* Counts the threads that had begun to wait by that time (in ticks) for each of the locks in own->held. Returns
 * their total number. [handler] */
uint32_t state_count_waiters(const struct state_line *own, int64_t ticks, uint32_t waiters[STATE_HELD_LOCKS]);

/* Returns the line of the thread with that number; NULL if there is none. [handler] */
const struct state_line *state_line_of(int32_t tid);

/* Returns true if a thread other than that of the line waits for the lock now. [handler] */
bool state_others_wait(const struct state_line *own, uint64_t key);

/* Returns true if the IDLE thread was parked at that time: the region of its wait had ended. [handler] */
bool state_was_parked(const struct state_line *line, const struct clock_reading *clocks, uint64_t time_ns);

/* Returns the time in ns at which the barrier where the IDLE thread waits was over: another thread of the team
 * passed it then. UINT64_MAX: it is not over, no thread has noted that it passed it, or the thread waits
 * elsewhere. [handler] */
uint64_t state_released_ns(const struct state_line *line, const struct clock_reading *clocks);

/* Returns the same time; for a thread that waits at the end of a region, the time at which the first of them had a core for
 * the next one. [handler] */
uint64_t state_wait_ended_ns(const struct state_line *line, const struct clock_reading *clocks);

/* Notes that the IDLE thread passes the barrier at which it waits, if it does, or begins the next region. [owner] */
void state_note_pass(const struct state_line *line, uint64_t now_ticks);

/* Notes the wait of the IDLE thread, which ends now, unless it stayed within the grace. [owner] */
void state_note_wait(struct state_line *line, uint64_t now_ticks);

static inline void state_set_work(struct state_line *line) /* [handler] */
{
    /* S5: stored after the note of the wait, pairs with state_census_at() */
    store_release(&line->state, (uint8_t)STATE_WORK);
}

/* Puts a thread in WORK beside the teams. Any thread may do that when the first team is to come. */
static inline void state_set_outside(struct state_line *line) /* [any] */
{
    uint8_t state = STATE_WORK;
    if (!compare_exchange(&line->state, &state, (uint8_t)STATE_OUTSIDE) && state == STATE_ASLEEP)
        compare_exchange(&line->state, &state, (uint8_t)STATE_OUTSIDE);
}

static inline void state_set_idle(struct state_line *line, uint64_t since_ticks) /* [handler] */
{
    store_release(&line->idle_since, since_ticks); /* S5: stored after the note of the previous wait */
    /* may be left over from a lock wait whose end the runtime did not report */
    store_relaxed(&line->wait_key, 0);
    store_release(&line->state, (uint8_t)STATE_IDLE); /* S2, pairs with state_census_at() */
}

/* Hides an IDLE thread: until account_idle_resume() shows it again, others count it as within its grace.
 * [handler] */
static inline void state_hide_idle(struct state_line *line)
{
    store_relaxed(&line->idle_since, STATE_FUTURE_TICKS);
}

/* Switches the thread from WORK to MPI_WAIT; state_set_work() switches it back. */
static inline void state_set_mpi_wait(struct state_line *line) /* [owner] */
{
    store_release(&line->state, (uint8_t)STATE_MPI_WAIT);
}

/* Returns true if the thread executes the program's code, or sleeps in a call of it. [handler] */
static inline bool state_is_in_code(const struct state_line *line)
{
    uint8_t state = load_relaxed(&line->state);
    return state == STATE_WORK || state == STATE_ASLEEP || state == STATE_OUTSIDE;
}

/* Puts a thread in WORK to sleep. Returns false in another state: the sleep is part of that wait. [handler] */
static inline bool state_fall_asleep(struct state_line *line, uint64_t since_ticks)
{
    if (line->state != STATE_WORK)
        return false;
    store_release(&line->asleep_since, since_ticks); /* S5: stored after the note of the previous sleep */
    store_release(&line->state, (uint8_t)STATE_ASLEEP);
    return true;
}

/* Returns when another thread ended the sleep of the ASLEEP thread, which then needs a core; the time after all others if
 * that is unknown or has not happened. [handler] */
int64_t state_woken_ticks(const struct state_line *line);

/* Ends the sleep of an ASLEEP thread, and notes it. [handler] */
void state_wake_up(struct state_line *line, uint64_t now_ticks);

static inline bool state_is_hidden(const struct state_line *line) /* [handler] */
{
    return line->idle_since == STATE_FUTURE_TICKS;
}

/* Sets the region of the thread's next wait, by its region_word(). [owner] */
static inline void state_set_idle_region(struct state_line *line, uint64_t word)
{
    store_relaxed(&line->region, region_of_word(word));
    store_relaxed(&line->region_instance, region_word_instance(word));
}

static inline void state_set_place(struct state_line *line, uint64_t place) /* [owner] */
{
    store_relaxed(&line->place, place);
}

static inline void state_set_lockwait(struct state_line *line, uint64_t key) /* [handler] */
{
    store_release(&line->wait_key, key);
}

/* Sets the lock for which the thread waits, with the time of the request. */
static inline void state_set_lockwait_at(struct state_line *line, uint64_t key, uint64_t now_ticks) /* [owner] */
{
    store_relaxed(&line->wait_since, now_ticks);
    store_release(&line->wait_key, key);
}

static inline void state_end_lockwait(struct state_line *line) /* [handler] */
{
    store_relaxed(&line->wait_key, 0);
    store_relaxed(&line->wait_since, 0);
}

/* Returns true if the line names a lock that the thread holds. [handler] */
static inline bool state_holds_locks(const struct state_line *line)
{
    return (line->held[0] | line->holds_more) != 0; /* one branch for both */
}

/* Ends a lock wait in the common case: the thread holds the lock that it asked for. Returns false in the
 * other cases: the thread did not ask, it holds another lock, or the lock is stamped. held_since[0] keeps
 * an old stamp, whose release is noted, or 0.
 * [owner] */
static inline bool state_wait_ends_simply(struct state_line *line)
{
    uint64_t key = line->wait_key;
    if (unlikely(!key) || unlikely(line->held[0]) || unlikely(line->wait_since))
        return false;
    store_release(&line->held[0], key);
    store_relaxed(&line->wait_key, 0);
    store_relaxed(&line->acquisitions, line->acquisitions + 1);
    return true;
}

void state_lock_held(struct state_line *line, uint64_t key, uint64_t since_ticks); /* [owner] */

/* Releases a lock that state_wait_ends_simply() has recorded. Returns false if held[0] is another lock.
 * [owner] */
static inline bool state_lock_released_simply(struct state_line *line, uint64_t key)
{
    if (unlikely(line->held[0] != key))
        return false;
    store_release(&line->held[0], 0);
    return true;
}

/* Forgets when the held locks were acquired. Later acquisitions and releases may leave held_since[] as it is. [handler] */
static inline void state_forget_stamps(struct state_line *line)
{
    for (uint32_t i = 0; i < STATE_HELD_LOCKS; i++)
        store_relaxed(&line->held_since[i], 0);
}

/* Releases a lock. Returns false if the line does not name the lock, because it was taken while held[] was
 * full or by a task of another thread. [owner] */
bool state_lock_released(struct state_line *line, uint64_t key, uint64_t now_ticks);

/* Releases one of the locks that the line does not name. Returns false if there is none. [owner] */
static inline bool state_unnamed_released(struct state_line *line)
{
    if (line->held_unnamed == 0)
        return false;
    store_relaxed(&line->held_unnamed, line->held_unnamed - 1);
    return true;
}

#endif
