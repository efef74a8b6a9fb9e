/* The trace in the measurement file (cct/profile_format.h), for runs with BLAME_TRACE: what each sample
 * found, in order of time.
 *
 * A tree's samples are in chunks of kind TRACE. Each chunk can be read alone; `number` gives their order. A
 * tree that has reached its limit overwrites its oldest chunk. A chunk is a sequence of records: one byte and
 * its operands. A number has seven bits per byte, lowest first, with the high bit set in all bytes but the
 * last. A signed number is doubled, and complemented if it is negative.
 *
 *     00 .. 7f   one sample of the context and state at this position of the table
 *     80 .. bf   number + 2 samples of those at position 0 .. 3f
 *     c0 .. cf   a context that is not in the table: state in bits 0 to 2, then the signed difference of
 *                its node to the last such node; bit 3: number + 2 samples follow, else one
 *     d0         number: ns of which nothing is known
 *     d1         number: ns that the next record's samples stand for in total, if not the number of periods
 *     d2         number: ns of a period, from here on
 *     d3         number: the time now, on the clock of profile_header.start_ns
 *     d4 .. fd   two samples: d4 + 7 (a - 1) + b - 1 is one sample of those at position a, then one of
 *                those at position b by then
 *
 * The table has PROFILE_TRACE_PLACES entries; the last context and state move to the front. At the start of a
 * chunk the table is empty (all zero) and the last node is 0; d2 and d3 come before the first sample. Samples
 * begin where the previous ones end. */
#ifndef BLAME_CCT_PROFILE_TRACE_H
#define BLAME_CCT_PROFILE_TRACE_H

#include <stdint.h>

#include "cct/profile_time.h"

#define PROFILE_TRACED_WHOLE 2u /* header.traced */

#define PROFILE_TRACE_PLACES 128u
#define PROFILE_TRACE_RUNS   64u /* positions for records of several samples */
#define PROFILE_TRACE_FIRST  6u  /* last positions of the first and the second of two samples */
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
    PROFILE_TRACE_END = 0xfe, /* no record: padding from here on */
};

#define PROFILE_TRACE_LONGEST 64u /* bytes of a record and what may precede it */

/* Header of a trace chunk, laid out like struct profile_chunk. */
struct profile_trace_chunk {
    uint32_t kind, owner;
    uint32_t used;    /* bytes of complete records, after the header */
    uint32_t number;  /* number among the tree's chunks: 1, 2, ... */
    uint32_t samples; /* number of samples in the chunk */
    uint32_t next;    /* for the writer: the next chunk */
    uint32_t reserved[2];
};

#define PROFILE_TRACE_PAIR(node, state) ((uint64_t)(node) << 3 | (state))
#define PROFILE_TRACE_NODE(pair)        ((uint32_t)((pair) >> 3))
#define PROFILE_TRACE_STATE(pair)       ((uint8_t)((pair) & 7u))

_Static_assert(sizeof(struct profile_trace_chunk) == 32, "it is unit 0");
_Static_assert(PROFILE_TIME_STATES == 8, "a state has three bits");

/* Moves a pair from its position to the front of the table. [handler] */
static inline void profile_trace_to_front(uint64_t table[PROFILE_TRACE_PLACES], uint32_t place, uint64_t pair)
{
    for (; place > 0; place--)
        table[place] = table[place - 1];
    table[0] = pair;
}

#endif
