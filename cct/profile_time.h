/* Time in the measurement file (cct/profile_format.h): bins of threads' states and of contexts, in constant space however long the run.
 *
 * Time is cut into bins of 2^shift nanoseconds, counted from profile_header.tool_start_ns. As the run grows shift does, for all at once, by
 * profile_time_shift(); what stands in narrower bins is merged when it is touched next, and until then says so. */
#ifndef BLAME_CCT_PROFILE_TIME_H
#define BLAME_CCT_PROFILE_TIME_H

#include <stdint.h>

#define PROFILE_TIME_SHIFT 24u                                       /* the least, of contexts' bins: 16.8 ms */
#define PROFILE_TIME_BINS  120u                                      /* most, of contexts */
#define PROFILE_TIME_FINER 2u                                        /* lanes' bins are 2^2 times as narrow, */
#define PROFILE_LANE_BINS  (PROFILE_TIME_BINS << PROFILE_TIME_FINER) /* and as many times as many */

enum profile_time_state {
    PROFILE_TIME_WORK = 0,
    PROFILE_TIME_OVERHEAD = 1,
    PROFILE_TIME_IDLE = 2,
    PROFILE_TIME_LOCK_WAIT = 3,
    PROFILE_TIME_MPI_WAIT = 4,
    PROFILE_TIME_NO_CORE = 5,
    PROFILE_TIME_BLOCKED = 6,
    PROFILE_TIME_STOPPED =
        7, /* the whole process was: SIGSTOP, a debugger, a suspended machine. In sums it is a part of blocked */
    PROFILE_TIME_STATES = 8
};

/* In nanoseconds, as in struct profile_metric of the TIME node's parent; own: work and overhead (of MPI nodes only work). LOCK nodes and the pseudo
 * node BLOCKED have no TIME node: theirs is in that of the context above them. A <no core> has its own, with as much of the threads' own time as it has a
 * part of the others' idleness. */
struct profile_time_value {
    float own, inverse_busy, shared_idle, lock_wait;
};

enum profile_time_form { PROFILE_TIME_FEW = 0, PROFILE_TIME_DENSE = 1 };

/* In a metric's place at TIME nodes whose context has been sampled in few bins so far. */
#define PROFILE_MOMENTS 3u
struct profile_moments {
    uint8_t form; /* PROFILE_TIME_FEW */
    uint8_t shift, count;
    uint8_t above; /* 1: what else there is is in the dense bins of a context above; for the writer */
    struct {
        uint32_t bin;
        struct profile_time_value value;
    } moment[PROFILE_MOMENTS];
};

/* The same of more, in a chunk of kind TIME. A killed process may leave it while it is merged: then `shift` is the new one, and bins below
 * `merged` are of that, those from 2 x merged on are of shift - 1; merged is 0 otherwise. */
struct profile_bins {
    uint8_t form; /* PROFILE_TIME_DENSE */
    uint8_t shift;
    uint16_t merged;
    uint32_t node, place; /* for the writer: the TIME node; where in its list the record is */
    uint32_t reserved[5];
    struct profile_time_value bin[PROFILE_TIME_BINS];
};

/* In a metric's place at LANE nodes: nanoseconds by state, merged as struct profile_bins. */
struct profile_lane {
    uint8_t reserved_byte;
    uint8_t shift; /* of its own bins, PROFILE_TIME_FINER less than contexts' */
    uint16_t merged;
    uint32_t reserved[7];
    float ns[PROFILE_LANE_BINS][PROFILE_TIME_STATES];
};

/* Of contexts' bins, so long after tool_start_ns; lanes' is PROFILE_TIME_FINER less. [handler] */
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
