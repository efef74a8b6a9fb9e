/* Thread states, kept by the tool: a few cache lines a thread, written only by its thread with relaxed
 * stores, read by all at sample time (design: docs/concurrency.md, guarantees S1-S3).
 *
 * S1: a line is written by its thread's callbacks only; a reader sees each word whole, perhaps not all of one
 * moment. S2: IDLE is stored after idle_since with release order, so that a reader never takes an old
 * entry time. S3: lines are never unmapped; ABSENT lines are skipped. S5: what a line remembers of before is
 * not read while it is overwritten. */
#ifndef BLAME_BLAME_STATE_H
#define BLAME_BLAME_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "cct/deferred/region.h"

#define STATE_MAX_THREADS 4095u /* their numbers stay below DIRECTED_ANY_HOLDER */
#define STATE_HELD_LOCKS  7u
#define STATE_RELEASES    32u /* a power of two, as is the next */
#define STATE_WAITS       32u
#define STATE_NO_HOLDER   0xffffu

/* An idle entry counts as dispatch, that is as busy, until this has passed (docs/accounting.md). */
#define STATE_GRACE_NS 5000u

/* Later than any time that a census can ask for; leaves room for arithmetic. */
#define STATE_FUTURE_TICKS (UINT64_MAX / 4)

/* To take a free lock takes this long at most; who is still at it then has waited. */
#define STATE_LOCK_GRACE_NS 1000u

/* Longer than a signal takes: a sample that comes so long after it was due is that of a thread which had no core. */
#define STATE_LATE_NS 100000u

enum thread_state {
    STATE_ABSENT = 0,
    STATE_WORK = 1, /* work or overhead: decided per sample, from the call path */
    STATE_IDLE = 2,
    STATE_MPI_WAIT =
        3, /* in a call of MPI's that may wait for other ranks: for its team it is as busy as one that waits for a lock */
};

/* Which locks a thread stamps (blame/contended.h). */
enum state_stamps { STATE_STAMPS_ALL, STATE_STAMPS_SEEN, STATE_STAMPS_NONE };

struct state_line {
    uint8_t state;
    uint16_t stamps;                 /* enum state_stamps: until the thread's next sample */
    uint32_t held_unnamed;           /* locks held beyond those in held[] */
    uint64_t idle_since;             /* IDLE: when the thread became so, on clock_ticks() */
    uint64_t wait_key;               /* PROFILE_LOCK_KEY of the lock that the thread waits for, or takes; 0: none */
    struct region *region;           /* region in which the thread became IDLE, or NULL: in no team */
    uint32_t region_instance;        /* the record's life at that time */
    uint32_t holds_more;             /* locks in held[1] and above; too many when another thread released one */
    uint64_t place;                  /* STATE_PLACE of the wait entered last; 0: none, or over */
    uint64_t noted_last;             /* when the last of released[] was, or of waits[] was over, on clock_ticks() */
    uint64_t held[STATE_HELD_LOCKS]; /* keys of locks that the thread holds, 0: none */
    /* From here on read for holders of locks that somebody waits for, only. Stamps are on clock_ticks(), 0:
     * the lock was not stamped (blame/contended.h). */
    uint64_t held_since[STATE_HELD_LOCKS];
    uint64_t wait_since;   /* of wait_key */
    uint32_t releases;     /* written to released[] so far */
    uint32_t acquisitions; /* of locks: tells one wait from the next */
    /* The last releases of stamped locks: a sample asks for the holder when its timer was due, and is handled
     * some short sections later. */
    struct state_release {
        uint64_t key;
        uint64_t since; /* when it had been acquired; 0: not known */
        uint64_t ticks; /* when it was released */
    } released[STATE_RELEASES];
    /* The last waits that were noted and longer than the grace, for samples that come when they are over (blame/notes.h). */
    uint32_t waits_noted; /* written to waits[] so far */
    uint32_t grace_ticks; /* the grace on clock_ticks() */
    /* How long the thread lacked a core between its waits, as its last sample knew; read of who waits for a thread that
     * lacked one, too. lost_us is what it was before the wait that began at lost_before; before a later one it is lost_next_us. */
    uint64_t lost_before;
    uint32_t lost_us, lost_next_us;
    struct state_wait {
        uint64_t since, until;
        uint64_t place;
        struct region *region;
        uint32_t region_instance;
        uint32_t lost_us; /* before it */
    } waits[STATE_WAITS];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct state_line, held) == 56,
               "what a census reads of every thread is one cache line, and so is what a single lock writes");

/* A wait: what kind (enum profile_place_kind), and the return address of its call as the runtime gave it, or
 * 0. */
#define STATE_PLACE(kind, codeptr) (((uint64_t)(kind) << 56) | ((uint64_t)(codeptr) & 0xffffffffffffffull))
#define STATE_PLACE_KIND(place)    ((uint32_t)((place) >> 56))
#define STATE_PLACE_CODEPTR(place) ((uintptr_t)((place) & 0xffffffffffffffull))

/* What the other threads do, counted at one sample. */
struct census {
    uint32_t
        busy; /* b: WORK, waiting for locks or not, and IDLE within its grace; the asking thread included if it is busy */
    uint32_t in_use; /* t_now: threads that exist and are not between regions */
    uint32_t holder; /* the line of the thread that held the lock that was asked for, or STATE_NO_HOLDER */
};

/* Where the idle threads of one census waited, and for what of the asking thread's: for its code, or because it is late, having lacked
 * a core for longer than they had before they waited (docs/accounting.md, "Whom others wait for"). */
#define STATE_PLACES 8u
enum state_cause { STATE_FOR_CODE, STATE_FOR_CORE, STATE_CAUSES };
struct waiting_places {
    /* Of the asking thread at that time: how long it has lacked a core since its last wait; it has none. */
    int64_t lost_ns;
    bool no_core;
    uint32_t late; /* threads that wait because of that */
    uint32_t count;
    uint32_t threads[STATE_PLACES][STATE_CAUSES];
    uint64_t place[STATE_PLACES]; /* STATE_PLACE; the last may be 0 for all that found no room */
};

/* Stands for the line of a thread that has none: no fast path is its own. Never written. */
extern struct state_line state_nobody __attribute__((visibility("hidden")));

/* All lines that were ever used, by number; NULL for a greater one. [handler] */
struct state_line *state_line_at(uint32_t number);

/* How many there are. [handler] */
uint32_t state_lines(void);

/* The line's number. [handler] */
uint32_t state_line_number(const struct state_line *line);

/* Makes the thread that is said to hold the lock forget it, and returns its line's number, or
 * STATE_NO_HOLDER: the lock was released by another thread. [owner] */
uint32_t state_forget_holder(uint64_t key);

/* True if the thread with that line holds the lock. [any] */
bool state_holds(uint32_t line_number, uint64_t key);

/* The next free line, ABSENT; NULL when all are taken. [any] */
struct state_line *state_line_acquire(void);
void state_line_release(struct state_line *line); /* [owner] */

/* Forgets all lines: the child of a fork. [init] */
void state_reset(void);

/* Counts all lines as of time_ns, which lies before the reading of the clocks. own, the asking thread's (or NULL), is as
 * it is now, and not counted if it is IDLE: the thread has stood still since then. So the lock that it waits for,
 * wait_key (0: none), may have been released to just this thread meanwhile: the holder is that of then. places (or
 * NULL) takes where the threads waited that are in use and not busy. What lines remember reaches back some waits of theirs; of a
 * moment before that the census is one of another moment, within what they remember. [handler] */
struct census state_census_at(const struct clock_reading *clocks, uint64_t time_ns, const struct state_line *own,
                              uint64_t wait_key, struct waiting_places *places);

/* True if the IDLE thread was between regions at that time: the region it waits in had ended. [handler] */
bool state_was_parked(const struct state_line *line, const struct clock_reading *clocks, uint64_t time_ns);

/* Notes the wait of the thread, which is IDLE until now, unless it is within the grace. [owner] */
void state_note_wait(struct state_line *line, uint64_t now_ticks);

static inline void state_set_work(struct state_line *line) /* [handler] */
{
    store_release(&line->state,
                  (uint8_t)STATE_WORK); /* S5: behind the note of the wait, pairs with state_census_at() */
}

static inline void state_set_idle(struct state_line *line, uint64_t since_ticks) /* [handler] */
{
    store_release(&line->idle_since, since_ticks); /* S5: behind the note of the wait before */
    store_relaxed(&line->wait_key, 0);             /* of a runtime that did not tell the end of its wait for a lock */
    store_release(&line->state, (uint8_t)STATE_IDLE); /* S2, pairs with state_census_at() */
}

/* The IDLE thread is not idle for others, as long as that may be. [handler] */
static inline void state_hide_idle(struct state_line *line)
{
    store_relaxed(&line->idle_since, STATE_FUTURE_TICKS);
}

/* From WORK, and back to it. */
static inline void state_set_mpi_wait(struct state_line *line) /* [owner] */
{
    store_release(&line->state, (uint8_t)STATE_MPI_WAIT);
}

static inline bool state_is_hidden(const struct state_line *line) /* [handler] */
{
    return line->idle_since == STATE_FUTURE_TICKS;
}

static inline void state_set_idle_region(struct state_line *line, struct region *region) /* [owner] */
{
    store_relaxed(&line->region, region);
    store_relaxed(&line->region_instance, region ? load_relaxed(&region->instance) : 0);
}

static inline void state_set_place(struct state_line *line, uint64_t place) /* [owner] */
{
    store_relaxed(&line->place, place);
}

static inline void state_set_lockwait(struct state_line *line, uint64_t key) /* [owner] */
{
    store_release(&line->wait_key, key);
}

/* The same, stamped. */
static inline void state_set_lockwait_at(struct state_line *line, uint64_t key, uint64_t now_ticks) /* [owner] */
{
    store_relaxed(&line->wait_since, now_ticks);
    store_release(&line->wait_key, key);
}

static inline void state_end_lockwait(struct state_line *line) /* [owner] */
{
    store_relaxed(&line->wait_key, 0);
    store_relaxed(&line->wait_since, 0);
}

/* One or more than one. [handler] */
static inline bool state_holds_locks(const struct state_line *line)
{
    return (line->held[0] | line->holds_more) != 0; /* one branch */
}

/* The wait ends: the thread holds the lock that it asked for. False when it is not that simple: it did not
 * ask, holds another, or the lock is stamped. (held_since[] keeps what it had: as old as not known.) [owner] */
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

/* The same for a release of such a lock. [owner] */
static inline bool state_lock_released_simply(struct state_line *line, uint64_t key)
{
    if (unlikely(line->held[0] != key))
        return false;
    store_release(&line->held[0], 0);
    return true;
}

/* False when the lock has no name here: it was taken while all places were full, or by another thread's task.
 * [owner] */
bool state_lock_released(struct state_line *line, uint64_t key, uint64_t now_ticks);

/* The same for one of the locks without a name; false when the thread holds none. [owner] */
static inline bool state_unnamed_released(struct state_line *line)
{
    if (line->held_unnamed == 0)
        return false;
    store_relaxed(&line->held_unnamed, line->held_unnamed - 1);
    return true;
}

#endif
