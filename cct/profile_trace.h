/* The trace in the measurement file (cct/profile_format.h), for runs with BLAME_TRACE: the context and state
 * of each sample, in the order of time.
 *
 * A tree's samples are in chunks of kind TRACE. Each chunk can be read alone; `number` gives the order of the
 * chunks. A tree that has reached its limit overwrites its oldest chunk. A chunk is a sequence of records. A
 * record is one byte and its operands. An operand "number" has seven bits in each byte, lowest first; the
 * high bit is set in all bytes except the last. A signed number n is stored as 2n, or as the complement of 2n
 * if it is negative.
 *
 *     00 .. 7f   one sample; the byte is the table position of its context and state
 *     80 .. bf   number + 2 samples of the context and state at position 0 .. 3f
 *     c0 .. cf   a context that is not in the table: bits 0 to 2 are the state; the operand is the signed
 *                difference between its node and the last such node. If bit 3 is set, number + 2 samples
 *                follow, otherwise one
 *     d0         number: length in ns of a gap without samples
 *     d1         number: total ns of the next record's samples, if they are not whole periods
 *     d2         number: length of a period in ns, from here on
 *     d3         number: time at this point, on the clock of profile_header.start_ns
 *     d4 .. fd   two samples: d4 + 7 (a - 1) + b - 1 is a sample with the entry at position a, then one
 *                with the entry that is at position b after that
 *
 * The table has PROFILE_TRACE_PLACES entries; the context and state of the last sample move to the front. At
 * the start of a chunk the table is empty (all zero) and the last node is 0; d2 and d3 come before the first
 * sample. Each sample begins where the previous one ends. */
#ifndef BLAME_CCT_PROFILE_TRACE_H
#define BLAME_CCT_PROFILE_TRACE_H

#include <stdint.h>

#include "cct/profile_time.h"

#define PROFILE_TRACED_WHOLE 2u /* header.traced */

#define PROFILE_TRACE_PLACES 128u
#define PROFILE_TRACE_RUNS   64u /* number of table positions that records 80 .. bf can name */
/* last table position that a record of two samples can name for its first sample, and for its second */
#define PROFILE_TRACE_FIRST  6u
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
    PROFILE_TRACE_END = 0xfe, /* padding; no record follows */
};

/* maximum size in bytes of a record together with the records d0 to d3 before it */
#define PROFILE_TRACE_LONGEST 64u

/* Header of a trace chunk. The first three fields are those of struct profile_chunk. */
struct profile_trace_chunk {
    uint32_t kind, owner;
    uint32_t used;    /* size of the complete records in bytes, without the header */
    uint32_t number;  /* 1, 2, ... in the order in which the tree's chunks were begun */
    uint32_t samples; /* number of samples in the chunk */
    uint32_t next;    /* used only by the writer: number of the tree's next chunk */
    uint32_t reserved[2];
};

#define PROFILE_TRACE_PAIR(node, state) ((uint64_t)(node) << 3 | (state))
#define PROFILE_TRACE_NODE(pair)        ((uint32_t)((pair) >> 3))
#define PROFILE_TRACE_STATE(pair)       ((uint8_t)((pair) & 7u))

_Static_assert(sizeof(struct profile_trace_chunk) == 32, "it is unit 0");
_Static_assert(PROFILE_TIME_STATES == 8, "a thread's state fits into three bits");

/* Moves this context and state from their position to the front of the table. [handler] */
static inline void profile_trace_to_front(uint64_t table[PROFILE_TRACE_PLACES], uint32_t place, uint64_t pair)
{
    for (; place > 0; place--)
        table[place] = table[place - 1];
    table[0] = pair;
}

#endif
