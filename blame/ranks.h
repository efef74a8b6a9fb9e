/* Who of a job's ranks on this node waits in MPI, now and a while ago: one line a rank in memory that they share, written by
 * its process with plain stores, read by all at sample time (design: docs/accounting.md, "Across ranks"; docs/concurrency.md,
 * guarantees X1-X3).
 *
 * A rank waits while at least one of its threads is in a call of MPI's; else it is busy. */
#ifndef BLAME_BLAME_RANKS_H
#define BLAME_BLAME_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

#define RANKS_MAX     1024u /* on a node; further ones are not seen */
#define RANKS_WAITS   32u   /* a power of two */
#define RANKS_CALLS   8u    /* told apart in one census */
#define RANKS_CHAIN   16u   /* a rank that waits for one that waits for one ... */
#define RANKS_LOOKS   4096u /* at lines for such chains, in one census; or those of one node more */
#define RANKS_VERSION 2u
#define RANKS_NEVER   ((uint64_t)INT64_MAX)

/* The call that a rank waits in: enum mpi_function, and the link-time address behind the place in the program that calls it,
 * 0: it is none of the program's. */
#define RANKS_CALL(function, vaddr) ((uint64_t)(function) << 56 | ((vaddr) & 0xffffffffffffffull))
#define RANKS_CALL_FUNCTION(call)   ((uint32_t)((call) >> 56))
#define RANKS_CALL_VADDR(call)      ((call) & 0xffffffffffffffull)

/* For whom it waits there, if the call says so; 0: for anybody. */
#define RANKS_PEER(rank) (1 + (uint64_t)(rank))

/* Times are on clock_ticks(), the same in all processes of a machine. */
struct ranks_line {
    uint32_t waiting;     /* threads in calls; 0: the rank is busy */
    uint32_t waits_noted; /* written to waits[] so far */
    uint64_t since, call; /* of the wait that is on */
    uint64_t peer;        /* RANKS_PEER of it */
    uint64_t noted_last;  /* when the last of waits[] was over */
    uint64_t program;     /* tells one build from another; 0: nothing does */
    uint32_t rank;
    uint32_t reserved;
    uint64_t appeared; /* when the rank's samples began: it counts from then on, RANKS_NEVER: not yet */
    struct ranks_wait {
        uint64_t since, until, call, peer;
    } waits[RANKS_WAITS];
    uint64_t disappeared; /* and until then; 0: they go on */
    uint64_t room[119];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct ranks_line) == 2048, "lines tile pages");

/* The shared memory: this page or two, and lines behind it, each of which exists before its owner is ready. */
#define RANKS_READY         (1ull << 32)
#define RANKS_OWNER_PID(of) ((pid_t)(of))
struct ranks_segment {
    uint32_t version;
    uint32_t
        closed; /* 1: about to be no file any more, unless somebody has come; 2: it is none. Who comes now makes another */
    uint32_t attached; /* processes that ever were, and have called MPI */
    uint32_t high;     /* lines at and above it were never used */
    uint64_t reserved[6];
    uint64_t owner[RANKS_MAX]; /* pid, and RANKS_READY once its line can be read; 0: nobody's */
    uint64_t room[504];
    struct ranks_line line[];
};

#define RANKS_HEADER_BYTES sizeof(struct ranks_segment)
#define RANKS_BYTES        (RANKS_HEADER_BYTES + RANKS_MAX * sizeof(struct ranks_line))
_Static_assert(RANKS_HEADER_BYTES % 4096 == 0, "lines begin with a page");

/* What the ranks of the node did at a moment. */
struct ranks_census {
    uint32_t seen, busy, waiting; /* the own rank included */
    bool own_waits;
    bool own_is_blamed;   /* some busy rank is blamed for the own one's waiting, or would be if it waited for anybody */
    uint32_t own_threads; /* of the own rank wait now, at least 1 */
    uint32_t calls;       /* in which others wait for the own rank; the last may be 0: of all that found no room */
    struct ranks_call {
        uint64_t call;
        bool own_program;    /* the address is one of this process's program, too */
        uint32_t any, named; /* ranks that wait for anybody who is busy, and for this one */
    } call[RANKS_CALLS];
};

/* From now on this process is the rank with that line, which exists and is nobody else's. [init] */
void ranks_use(struct ranks_segment *segment, uint32_t own, uint32_t rank, uint64_t program);

/* Moments count from the first one that its samples can stand for, to the last one: what others wait for is then somebody's. [owner] */
void ranks_appear(void);
void ranks_disappear(void);

/* It is none any more; behind it nobody writes to the line. The memory stays mapped. [init] */
void ranks_stop(void);

/* The same in the child of a fork, whose parent's line it was. [init] */
void ranks_forget(void);

/* True of a line that is ready, and whose rank will come no more: what it did before can still be asked for. [handler] */
bool ranks_has_gone(const struct ranks_segment *segment, uint32_t number);

/* Whether there is one. [handler] */
bool ranks_are_seen(void);

/* How many lines a census reads. [handler] */
uint32_t ranks_lines(void);

/* One more of the rank's threads waits, or one less. By one thread at a time. [handler] */
void ranks_line_begin(struct ranks_line *line, uint64_t now_ticks, uint64_t call, uint64_t peer);
void ranks_line_end(struct ranks_line *line, uint64_t now_ticks);

/* A thread begins to wait; false: it is not told. [owner] */
bool ranks_wait_begin(uint64_t call, uint64_t peer);

/* A thread that has told it has left its call. [owner] */
void ranks_wait_end(void);

/* The same for a handler, which may have interrupted one of these two; false: it has. [handler] */
bool ranks_wait_left(void);

/* All ranks at time_ns, which lies before the reading of the clocks. What lines remember reaches back some waits of theirs; of
 * a moment before that the census is one of another moment, within what they remember. [handler] */
struct ranks_census ranks_census_at(const struct clock_reading *clocks, uint64_t time_ns);

/* One more of the others that looks dead is asked for, now and then, and its line is nobody's if it is. [handler] */
void ranks_bury(uint64_t now_ticks, uint64_t apart_ticks, bool (*is_dead)(pid_t pid));

#endif
