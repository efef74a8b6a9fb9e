/* Records which of a job's ranks on this node wait in MPI, now and in the recent past. Each rank has one line
 * in shared memory. Its process writes the line with plain stores, and all processes read it at their
 * samples. Design: docs/accounting.md, "Across ranks", and guarantees X1 to X3 in docs/concurrency.md.
 *
 * A rank waits while at least one of its threads is in an MPI call; otherwise it is busy. */
#ifndef BLAME_BLAME_RANKS_H
#define BLAME_BLAME_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

#define RANKS_MAX   1024u /* greatest number of ranks on a node; further ranks are not seen */
#define RANKS_WAITS 32u   /* number of waits that a line remembers; a power of two */
#define RANKS_CALLS 8u    /* number of different calls that one census distinguishes */
#define RANKS_CHAIN 16u   /* greatest length of a chain of ranks that wait for one another */
/* limit on line reads for such chains in one census; the last search may exceed it by one pass over all lines */
#define RANKS_LOOKS   4096u
#define RANKS_VERSION 2u
#define RANKS_NEVER   ((uint64_t)INT64_MAX)

/* The call in which a rank waits: enum mpi_function, and the call's link-time return address in the program.
 * Address 0: the call is not in the program. */
#define RANKS_CALL(function, vaddr) ((uint64_t)(function) << 56 | ((vaddr) & 0xffffffffffffffull))
#define RANKS_CALL_FUNCTION(call)   ((uint32_t)((call) >> 56))
#define RANKS_CALL_VADDR(call)      ((call) & 0xffffffffffffffull)

/* The rank for which a rank waits, if the call names one; 0: any rank. */
#define RANKS_PEER(rank) (1 + (uint64_t)(rank))

/* A rank's line. Times are in ticks of clock_ticks(), which all processes of a machine share. */
struct ranks_line {
    uint32_t waiting;     /* number of threads in MPI calls; 0: the rank is busy */
    uint32_t waits_noted; /* number of waits written to waits[] */
    uint64_t since, call; /* start and call of the current wait */
    uint64_t peer;        /* RANKS_PEER of the current wait */
    uint64_t noted_last;  /* end of the last wait in waits[]; 0: none yet */
    uint64_t program;     /* identifies the program's build; 0: unknown */
    uint32_t rank;
    uint32_t reserved;
    /* start of the rank's samples; the rank does not count before; RANKS_NEVER: not yet sampled */
    uint64_t appeared;
    struct ranks_wait {
        uint64_t since, until, call, peer;
    } waits[RANKS_WAITS];
    uint64_t disappeared; /* end of the rank's samples; 0: they continue */
    uint64_t room[119];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct ranks_line) == 2048, "lines tile pages");

/* The shared memory: a header of whole pages, then the lines. A line's memory is reserved before its owner is
 * ready. */
#define RANKS_READY         (1ull << 32)
#define RANKS_OWNER_PID(of) ((pid_t)(of))
struct ranks_segment {
    uint32_t version;
    /* 1: the last process is about to remove the file; 2: the file is removed, so a new process creates
     * another */
    uint32_t closed;
    uint32_t attached; /* number of processes that have ever attached and called MPI */
    uint32_t high;     /* number of lines ever used */
    uint64_t reserved[6];
    uint64_t owner[RANKS_MAX]; /* process id, with RANKS_READY once the line can be read; 0: free */
    uint64_t room[504];
    struct ranks_line line[];
};

#define RANKS_HEADER_BYTES sizeof(struct ranks_segment)
#define RANKS_BYTES        (RANKS_HEADER_BYTES + RANKS_MAX * sizeof(struct ranks_line))
_Static_assert(RANKS_HEADER_BYTES % 4096 == 0, "the ranks' state lines start at a page boundary");

/* What the ranks of the node were doing at one time. */
struct ranks_census {
    uint32_t seen, busy, waiting; /* numbers of ranks, including this process's own */
    bool own_waits;
    /* a busy rank is to blame for this rank's waiting, or would be if this rank waited for any rank */
    bool own_is_blamed;
    uint32_t own_threads; /* number of this rank's threads that wait now, at least 1 */
    /* number of entries in call[]; if the last entry has call 0, it stands for all calls without an entry */
    uint32_t calls;
    struct ranks_call {
        uint64_t call;
        bool own_program; /* the waiting rank runs the same build of the program as this process */
        /* number of ranks that wait for any busy rank, and of ranks that wait for this one */
        uint32_t any, named;
    } call[RANKS_CALLS];
};

/* Makes this process the rank with line `own`. The line's memory must be reserved, and the line free. [init] */
void ranks_use(struct ranks_segment *segment, uint32_t own, uint32_t rank, uint64_t program);

/* Marks the start of the rank's samples; ranks_disappear() marks their end. Waiting of other ranks between
 * the two can be blamed on this rank. [owner] */
void ranks_appear(void);
void ranks_disappear(void);

/* Ends this process's part as a rank. Afterwards nobody writes to the line; the memory stays mapped. [init] */
void ranks_stop(void);

/* Drops the parent's line in the child of a fork. [init] */
void ranks_forget(void);

/* Returns true for a ready line whose rank has taken its last sample. Censuses of earlier times still read
 * the line. [handler] */
bool ranks_has_gone(const struct ranks_segment *segment, uint32_t number);

/* Returns true if this process is a rank. [handler] */
bool ranks_are_seen(void);

/* Returns the number of lines that a census reads. [handler] */
uint32_t ranks_lines(void);

/* Adds one waiting thread of the rank; ranks_line_end() removes one. Only one thread at a time may call them.
 * [handler] */
void ranks_line_begin(struct ranks_line *line, uint64_t now_ticks, uint64_t call, uint64_t peer);
void ranks_line_end(struct ranks_line *line, uint64_t now_ticks);

/* Notes that a thread begins to wait. Returns false if the wait is not recorded. [owner] */
bool ranks_wait_begin(uint64_t call, uint64_t peer);

/* Notes that a thread has left the call of a recorded wait. [owner] */
void ranks_wait_end(void);

/* Ends a recorded wait from a handler. Returns false if a thread is writing the line, perhaps the interrupted
 * one. [handler] */
bool ranks_wait_left(void);

/* Counts all ranks as of time_ns, which must lie before the clock reading. A line remembers a limited number
 * of waits. If time_ns is too early, the census uses a later time that all lines remember. [handler] */
struct ranks_census ranks_census_at(const struct clock_reading *clocks, uint64_t time_ns);

/* Frees the lines of dead ranks: every apart_ticks, asks is_dead() about one other rank. [handler] */
void ranks_bury(uint64_t now_ticks, uint64_t apart_ticks, bool (*is_dead)(pid_t pid));

#endif
