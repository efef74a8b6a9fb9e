/* Time in the measurement file (cct/profile_format.h): bins for the threads' states and for contexts, in
 * constant space however long the run is.
 *
 * Time is cut into bins of 2^shift ns, counted from profile_header.tool_start_ns. As the run grows,
 * profile_time_shift() raises the shift for all bins. A record with narrower bins is merged when it is next
 * touched, and its own shift says so until then. */
#ifndef BLAME_CCT_PROFILE_TIME_H
#define BLAME_CCT_PROFILE_TIME_H

#include <stdint.h>

/* smallest shift of contexts' bins: 16.8 ms */
#define PROFILE_TIME_SHIFT 24u
#define PROFILE_TIME_BINS  120u /* number of bins of a context */
/* lanes' bins are narrower by a factor of 2^2 */
#define PROFILE_TIME_FINER 2u
#define PROFILE_LANE_BINS  (PROFILE_TIME_BINS << PROFILE_TIME_FINER) /* as many times more bins */

enum profile_time_state {
    PROFILE_TIME_WORK = 0,
    PROFILE_TIME_OVERHEAD = 1,
    PROFILE_TIME_IDLE = 2,
    PROFILE_TIME_LOCK_WAIT = 3,
    PROFILE_TIME_MPI_WAIT = 4,
    PROFILE_TIME_NO_CORE = 5,
    PROFILE_TIME_BLOCKED = 6,
    PROFILE_TIME_STOPPED =
        /* the whole process was stopped: SIGSTOP, a debugger, a suspended machine; in sums a part of blocked */
    7,
    PROFILE_TIME_STATES = 8
};

/* Values in ns, as in struct profile_metric of the TIME node's parent. `own` is work and overhead (of MPI
 * nodes only work). LOCK nodes and the pseudo node BLOCKED have no TIME node; the context above them includes
 * their time. A <no core> node has a TIME node. Its own time there is in proportion to its part of the
 * others' idleness. */
struct profile_time_value {
    float own, inverse_busy, shared_idle, lock_wait;
};

enum profile_time_form { PROFILE_TIME_FEW = 0, PROFILE_TIME_DENSE = 1 };

/* The metric of TIME nodes whose context has been sampled in only a few bins. */
#define PROFILE_FEW_BINS 3u
struct profile_few_bins {
    uint8_t form; /* PROFILE_TIME_FEW */
    uint8_t shift, count;
    uint8_t above; /* 1: further values are in the dense bins of a context above; for the writer */
    struct {
        uint32_t bin;
        struct profile_time_value value;
    } entry[PROFILE_FEW_BINS];
};

/* Dense bins, in a chunk of kind TIME. A killed process may leave a record half merged. `shift` is then the
 * new one, bins below `merged` have it, and bins from 2 x merged on still have shift - 1. Otherwise merged is
 * 0. */
struct profile_bins {
    uint8_t form; /* PROFILE_TIME_DENSE */
    uint8_t shift;
    uint16_t merged;
    uint32_t node, place; /* for the writer: the TIME node, and the record's position in its list */
    uint32_t reserved[5];
    struct profile_time_value bin[PROFILE_TIME_BINS];
};

/* The metric of LANE nodes: ns by state, merged like struct profile_bins. */
struct profile_lane {
    uint8_t reserved_byte;
    uint8_t shift; /* shift of its own bins, PROFILE_TIME_FINER less than that of contexts */
    uint16_t merged;
    uint32_t reserved[7];
    float ns[PROFILE_LANE_BINS][PROFILE_TIME_STATES];
};

/* Returns the shift of contexts' bins this long after tool_start_ns. The shift of lanes is PROFILE_TIME_FINER
 * less. [handler] */
static inline uint32_t profile_time_shift(uint64_t after_ns)
{
    uint32_t shift = PROFILE_TIME_SHIFT;
    while (after_ns >> shift >= PROFILE_TIME_BINS)
        shift++;
    return shift;
}

_Static_assert(sizeof(struct profile_bins) % 32 == 0 && sizeof(struct profile_lane) % 32 == 0,
               "they are units of the file");

#endif
