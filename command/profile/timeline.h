/* The course of a run over time: the states of the threads, and each context's own time and blame, in bins of
 * equal width (cct/profile_time.h). */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_H
#define BLAME_COMMAND_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_time.h"

/* One row of the timeline. It shows the threads that used one tree, one after another. In a merged job, a row
 * may also show a rank or a group of ranks. */
struct timeline_lane {
    uint64_t tree;   /* number of the tree; 0 in a job */
    uint32_t thread; /* index in profile.threads of the first thread that used the tree */
    /* largest number of these threads that lived at the same time; the times in a bin add up to at most this
     * number times the bin's width */
    uint32_t threads;
    uint32_t rank_record; /* 1 + index in profile.ranks of the lane's first rank; 0: not in a job */
    uint32_t rank;        /* rank number of the lane's first rank */
    /* index of the lane that holds this lane's cells: usually the lane itself; in a large job, the first lane
     * of a group */
    uint32_t cell_lane;
    double (*ns)[PROFILE_TIME_STATES]; /* ns for each bin and state, with lane_bins bins */
};

/* One context's values in one bin, in ns, from the samples of one lane. */
struct timeline_cell {
    uint32_t node; /* index of the merged node */
    uint32_t lane;
    uint32_t bin;
    struct profile_time_value value;
};

/* Levels of detail of a job's lanes and cells. Level 0 has one lane per thread, level 1 one per rank. Level n
 * has one lane for each group of 2^(n-1) ranks. */
#define TIMELINE_THREADS 0u
#define TIMELINE_RANKS   1u
#define TIMELINE_ONE     33u /* level with one lane for all ranks */

struct timeline {
    /* start of bin 0, on the clock of profile_header.start_ns; in a job, up to one bin before the tool's
     * start */
    uint64_t origin_ns;
    uint64_t bin_ns;      /* width of a bin of contexts */
    uint64_t lane_bin_ns; /* width of a bin of lanes; 1, 2 or 4 of these bins make one bin of width bin_ns */
    /* number of bins, at most PROFILE_TIME_BINS and PROFILE_LANE_BINS; 0: measured without a timeline */
    uint32_t bins, lane_bins;
    struct timeline_lane *lanes; /* lanes in the order of profile.threads; in a job, in the order of ranks */
    size_t lane_count;
    struct timeline_cell *cells; /* cells sorted by node, bin and lane */
    size_t cell_count;
    bool spread;                          /* whether timeline_spread_lanes() has filled the lanes' gaps */
    double lane_sum[PROFILE_TIME_STATES]; /* if so, the sums over all lanes before that, which has rounding errors */
    uint8_t level, cell_level;
    uint32_t without; /* in a job, number of ranks without a timeline */
};

void timeline_free(struct timeline *timeline);

/* Moves time from lanes' bins with more of it than a bin is wide to bins beside them that have room: a sample that is seldom,
 * as those of sleeping threads are, stands for the time around its moment. Sums do not change. */
void timeline_spread_lanes(struct timeline *timeline);

/* Sorts the cells, and adds up the cells with the same node, bin and lane. */
void timeline_join_cells(struct timeline *timeline, size_t node_count);

/* Returns a copy of the cells, sorted by node, lane and bin. The caller frees it. */
struct timeline_cell *timeline_cells_by_lane(const struct timeline *timeline, size_t node_count);

/* Adds a cell in the last bin. `node` must be larger than every node that has cells. */
void timeline_add_at_end(struct timeline *timeline, uint32_t node, const struct profile_time_value *value);

/* Return sums in ns: over all lanes, by state; and over all cells. */
void timeline_sum_lanes(const struct timeline *timeline, double sum[PROFILE_TIME_STATES]);
struct timeline_sum {
    double own, inverse_busy, shared_idle, lock_wait;
};
struct timeline_sum timeline_sum_cells(const struct timeline *timeline);

#endif
