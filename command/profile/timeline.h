/* When: the threads' states, and each context's own time and blame, in bins of equal width (cct/profile_time.h). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_H
#define BLAME_COMMAND_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_time.h"

/* One line of the picture: the threads that one tree had, one after another; in a merged job perhaps a rank's, or several ranks'. */
struct timeline_lane {
    uint64_t tree;        /* 0: it is of a job */
    uint32_t thread;      /* index in profile.threads of the first one that had the tree */
    uint32_t threads;     /* so many at once at most: a bin's time is at most that often its width */
    uint32_t rank_record; /* 1 + index in profile.ranks, of the first rank; 0: no job */
    uint32_t rank;        /* its number */
    uint32_t
        cell_lane; /* the lane that this one's cells are counted to: itself, in a large job the first one of a group */
    double (*ns)[PROFILE_TIME_STATES]; /* lane_bins of them */
};

/* What a context has in one bin, of one lane's samples; in nanoseconds. */
struct timeline_cell {
    uint32_t node; /* the merged node */
    uint32_t lane;
    uint32_t bin;
    struct profile_time_value value;
};

/* Of a job, what its lanes and its cells are apart by: 0 threads, 1 ranks, n groups of 2^(n-1) ranks. */
#define TIMELINE_THREADS 0u
#define TIMELINE_RANKS   1u
#define TIMELINE_ONE     33u /* all ranks are one group */

struct timeline {
    uint64_t
        origin_ns; /* where bin 0 begins, on the clock of profile_header.start_ns; of a job up to a bin before the tool's start */
    uint64_t bin_ns;      /* width of contexts' bins, */
    uint64_t lane_bin_ns; /* and of lanes', of which 1, 2 or 4 make one */
    uint32_t bins,
        lane_bins; /* that the run has, at most PROFILE_TIME_BINS and PROFILE_LANE_BINS; 0: it was measured without */
    struct timeline_lane *lanes; /* in order of profile.threads, of a job by rank */
    size_t lane_count;
    struct timeline_cell *cells; /* by node, bin and lane */
    size_t cell_count;
    uint8_t level, cell_level;
    uint32_t without; /* of a job: so many ranks have none */
};

void timeline_free(struct timeline *timeline);

/* Puts the cells in their order, and adds up those of one node, bin and lane. */
void timeline_join_cells(struct timeline *timeline, size_t node_count);

/* A copy of them by node, lane and bin; malloc'ed. */
struct timeline_cell *timeline_cells_by_lane(const struct timeline *timeline, size_t node_count);

/* What was found at the run's end, of a node behind all those that have cells. */
void timeline_add_at_end(struct timeline *timeline, uint32_t node, const struct profile_time_value *value);

/* All lanes' time by state; all cells'. In nanoseconds. */
void timeline_sum_lanes(const struct timeline *timeline, double sum[PROFILE_TIME_STATES]);
struct timeline_sum {
    double own, inverse_busy, shared_idle, lock_wait;
};
struct timeline_sum timeline_sum_cells(const struct timeline *timeline);

#endif
