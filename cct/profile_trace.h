/* The trace in the measurement file (cct/profile_format.h), of runs with BLAME_TRACE: what each sample found, in time's order.
 *
 * A tree's samples stand in chunks of kind TRACE, each of which can be read alone: their `number` says in which order. Of a tree
 * that has as many as it may have, the oldest is written anew. A chunk is a string of records, a byte each and what follows it; numbers are
 * of seven bits a byte, the lowest first, the highest bit set in all but the last; with a sign: doubled, and one's complement
 * of that below zero.
 *
 *     00 .. 7f   one sample of the context and state that stand at that place of the table
 *     80 .. bf   number + 2 samples of those at place 0 .. 3f
 *     c0 .. cf   a context that is not in the table: state in bits 0 to 2, then its node as difference (with a sign) to the last that came so;
 *                bit 3: then number + 2 samples, else it is one
 *     d0         number: for so many nanoseconds nothing is known
 *     d1         number: what the next record's samples stand for, in nanoseconds in all, where that is not so many periods
 *     d2         number: nanoseconds of a period, from here on
 *     d3         number: the time is this now, on the clock of profile_header.start_ns
 *     d4 .. fd   two samples: d4 + 7 (a - 1) + b - 1 are one of those at place a, and then one of those that stand at place b by then
 *
 * Of a table of PROFILE_TRACE_PLACES the context and state that came last are put in front. It is empty (all zero) at a chunk's begin, the last
 * node is 0, and d2 and d3 come before the first sample. Samples go on where those before them end. */
#ifndef BLAME_CCT_PROFILE_TRACE_H
#define BLAME_CCT_PROFILE_TRACE_H

#include <stdint.h>

#include "cct/profile_time.h"

#define PROFILE_TRACED_WHOLE 2u /* header.traced */

#define PROFILE_TRACE_PLACES 128u
#define PROFILE_TRACE_RUNS   64u /* places that several samples may stand at, */
#define PROFILE_TRACE_FIRST  6u  /* and the last that the first and the second of two may */
#define PROFILE_TRACE_SECOND 7u

enum profile_trace_record {
    PROFILE_TRACE_ONE = 0x00,
    PROFILE_TRACE_SEVERAL = 0x80,
    PROFILE_TRACE_NEW = 0xc0,
    PROFILE_TRACE_NEW_SEVERAL = 0xc8,
    PROFILE_TRACE_GAP = 0xd0,
    PROFILE_TRACE_WEIGHT = 0xd1,
    PROFILE_TRACE_PERIOD = 0xd2,
    PROFILE_TRACE_TIME = 0xd3,
    PROFILE_TRACE_TWO = 0xd4,
    PROFILE_TRACE_END = 0xfe, /* what is no record, from here on */
};

#define PROFILE_TRACE_LONGEST 64u /* bytes of what may stand before a record, and of itself */

/* A chunk's header, as struct profile_chunk. */
struct profile_trace_chunk {
    uint32_t kind, owner;
    uint32_t used;    /* bytes of whole records, behind the header */
    uint32_t number;  /* of the tree's chunks: 1, 2, ... */
    uint32_t samples; /* in it */
    uint32_t next;    /* for the writer: the chunk that comes behind it */
    uint32_t reserved[2];
};

#define PROFILE_TRACE_PAIR(node, state) ((uint64_t)(node) << 3 | (state))
#define PROFILE_TRACE_NODE(pair)        ((uint32_t)((pair) >> 3))
#define PROFILE_TRACE_STATE(pair)       ((uint8_t)((pair) & 7u))

_Static_assert(sizeof(struct profile_trace_chunk) == 32, "it is unit 0");
_Static_assert(PROFILE_TIME_STATES == 8, "a state has three bits");

/* [handler] */
static inline void profile_trace_to_front(uint64_t table[PROFILE_TRACE_PLACES], uint32_t place, uint64_t pair)
{
    for (; place > 0; place--)
        table[place] = table[place - 1];
    table[0] = pair;
}

#endif
