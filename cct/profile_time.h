/* Values over time in the measurement file (cct/profile_format.h): bins of time, for each tree's threads by
 * state (a lane) and for contexts. Their size does not depend on the length of the run.
 *
 * The run is divided into bins of 2^shift ns, from profile_header.tool_start_ns on. As the run grows,
 * profile_time_shift() raises the shift for all bins. A record whose bins are narrower has them merged when
 * it is next changed; until then its own `shift` gives their width. */
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
    /* a signal, a debugger or a suspended machine had stopped the whole process; sums count this as blocked */
    PROFILE_TIME_STOPPED = 7,
    PROFILE_TIME_STATES = 8
};

/* Values in ns, as in the metric of the TIME node's parent. `own` is work and overhead; for MPI nodes it is
 * work only. LOCK nodes and BLOCKED nodes have no TIME node; their time is in the TIME node of the context
 * above. A <no core> node has a TIME node, whose `own` is in proportion to the idleness blamed on the <no
 * core> node. */
struct profile_time_value {
    float own, inverse_busy, shared_idle, lock_wait;
};

enum profile_time_form { PROFILE_TIME_FEW = 0, PROFILE_TIME_DENSE = 1 };

/* The metric of a TIME node whose context has values in at most PROFILE_FEW_BINS bins. */
#define PROFILE_FEW_BINS 3u
struct profile_few_bins {
    uint8_t form; /* PROFILE_TIME_FEW, which distinguishes this record from struct profile_bins */
    uint8_t shift, count;
    uint8_t above; /* used only by the writer; 1 if further values go to the dense bins of a context above */
    struct {
        uint32_t bin;
        struct profile_time_value value;
    } entry[PROFILE_FEW_BINS];
};

/* The metric of the other TIME nodes: dense bins, with one value for each bin, in a chunk of kind TIME.
 * `merged` is not 0 if the process was killed while neighbouring bins were being merged. `shift` is then the
 * new one, bins below `merged` are merged, and bins from 2 x merged on still have shift - 1. */
struct profile_bins {
    uint8_t form; /* PROFILE_TIME_DENSE, which distinguishes this record from struct profile_few_bins */
    uint8_t shift;
    uint16_t merged;
    /* used only by the writer: the TIME node, and the record's index in times.dense[] */
    uint32_t node, place;
    uint32_t reserved[5];
    struct profile_time_value bin[PROFILE_TIME_BINS];
};

/* The metric of LANE nodes: ns of the tree's threads in each bin, by state. `shift` and `merged` have the
 * same meaning as in struct profile_bins. */
struct profile_lane {
    uint8_t reserved_byte;
    uint8_t shift; /* smaller than the shift of contexts by PROFILE_TIME_FINER */
    uint16_t merged;
    uint32_t reserved[7];
    float ns[PROFILE_LANE_BINS][PROFILE_TIME_STATES];
};

/* Returns the shift of contexts' bins for a run that has lasted after_ns since tool_start_ns. [handler] */
static inline uint32_t profile_time_shift(uint64_t after_ns)
{
    uint32_t shift = PROFILE_TIME_SHIFT;
    while (after_ns >> shift >= PROFILE_TIME_BINS)
        shift++;
    return shift;
}

_Static_assert(sizeof(struct profile_bins) % 32 == 0 && sizeof(struct profile_lane) % 32 == 0,
               "their sizes are multiples of the file's 32-byte unit");

#endif
