/* When: the threads' states, and each context's own time and blame, in bins of equal width (cct/profile_time.h). */
#ifndef BLAME_REPORT_PROFILE_TIMELINE_H
#define BLAME_REPORT_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "cct/profile_time.h"

/* One line of the picture: the threads that one tree had, one after another; in a merged job a rank's, or several ranks'. */
struct timeline_lane {
    uint64_t tree;           /* 0: several */
    uint32_t thread;         /* index in profile.threads of the first one that had the tree */
    uint32_t threads;        /* so many at once at most: a bin's time is at most that often its width */
    uint32_t rank_record;    /* 1 + index in profile.ranks; 0: no job */
    double (*ns)[PROFILE_TIME_STATES]; /* lane_bins of them */
};

/* What a context has in one bin, of one lane's samples; in nanoseconds. */
struct timeline_cell {
    uint32_t node; /* the merged node */
    uint32_t lane;
    uint32_t bin;
    struct profile_time_value value;
};

struct timeline {
    uint64_t origin_ns; /* where bin 0 begins, on the clock of profile_header.start_ns */
    uint64_t bin_ns;    /* width of contexts' bins, */
    uint64_t lane_bin_ns; /* and of lanes' */
    uint32_t bins, lane_bins; /* that the run has; 0: it was measured without */
    struct timeline_lane *lanes; /* in order of profile.threads, of a job by rank */
    size_t lane_count;
    struct timeline_cell *cells; /* by node, bin and lane */
    size_t cell_count;
};

#endif
