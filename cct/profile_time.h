/* Time in the measurement file (cct/profile_format.h): bins by time, for the states of threads (lanes) and
 * for contexts. They take the same space however long the run is.
 *
 * Time is divided into bins of 2^shift ns, from profile_header.tool_start_ns. As the run grows,
 * profile_time_shift() raises the shift for all bins. A record with narrower bins is merged when it is next
 * touched; until then its own `shift` tells their width. */
#ifndef BLAME_CCT_PROFILE_TIME_H
#define BLAME_CCT_PROFILE_TIME_H

#include <stdint.h>

/* smallest shift of contexts' bins; 2^24 ns are 16.8 ms */
#define PROFILE_TIME_SHIFT 24u
#define PROFILE_TIME_BINS  120u /* number of bins of a context */
/* lanes' bins are narrower by a factor of 2^2 */
#define PROFILE_TIME_FINER 2u
#define PROFILE_LANE_BINS  (PROFILE_TIME_BINS << PROFILE_TIME_FINER) /* number of bins of a lane */

enum profile_time_state {
    PROFILE_TIME_WORK = 0,
    PROFILE_TIME_OVERHEAD = 1,
    PROFILE_TIME_IDLE = 2,
    PROFILE_TIME_LOCK_WAIT = 3,
    PROFILE_TIME_MPI_WAIT = 4,
    PROFILE_TIME_NO_CORE = 5,
    PROFILE_TIME_BLOCKED = 6,
    /* the whole process was stopped by SIGSTOP, a debugger or a suspended machine; sums count this as blocked */
    PROFILE_TIME_STOPPED = 7,
    PROFILE_TIME_STATES = 8
};

/* Values in ns, as in the metric of the TIME node's parent. `own` is work and overhead, for MPI nodes only
 * work. LOCK nodes and the pseudo node BLOCKED have no TIME node; their time is in the TIME node of the
 * context above. A <no core> node has a TIME node, whose `own` is in proportion to the idleness blamed on it. */
struct profile_time_value {
    float own, inverse_busy, shared_idle, lock_wait;
};

enum profile_time_form { PROFILE_TIME_FEW = 0, PROFILE_TIME_DENSE = 1 };

/* The metric of a TIME node whose context was sampled in at most PROFILE_FEW_BINS bins. */
#define PROFILE_FEW_BINS 3u
struct profile_few_bins {
    uint8_t form; /* PROFILE_TIME_FEW */
    uint8_t shift, count;
    uint8_t above; /* for the writer: 1 if further values go to the dense bins of a context above */
    struct {
        uint32_t bin;
        struct profile_time_value value;
    } entry[PROFILE_FEW_BINS];
};

/* The metric of other TIME nodes: one value for each bin, in a chunk of kind TIME. If the process was killed
 * while bins were merged, `merged` is not 0: `shift` is then already the new one, bins below `merged` are
 * merged, and bins from 2 x merged on still have shift - 1. */
struct profile_bins {
    uint8_t form; /* PROFILE_TIME_DENSE */
    uint8_t shift;
    uint16_t merged;
    uint32_t node, place; /* for the writer: the TIME node, and the record's position in times.dense[] */
    uint32_t reserved[5];
    struct profile_time_value bin[PROFILE_TIME_BINS];
};

/* The metric of LANE nodes: ns by state. `shift` and `merged` are used as in struct profile_bins. */
struct profile_lane {
    uint8_t reserved_byte;
    uint8_t shift; /* less than the contexts' shift by PROFILE_TIME_FINER */
    uint16_t merged;
    uint32_t reserved[7];
    float ns[PROFILE_LANE_BINS][PROFILE_TIME_STATES];
};

/* Returns the shift of the contexts' bins at a time after tool_start_ns. [handler] */
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
