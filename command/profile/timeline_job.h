/* Merges the timelines of a job's ranks, or of parts of a job, into one.
 * A job's bins start at multiples of their width in the time of day, whenever a part started. A rank's bins
 * are divided among the job's bins once, by overlapping time; from then on, parts can be added exactly. A
 * timeline that is too large is made coarser. The rules for this give the same result for any division into
 * parts: lanes become ranks, then groups of ranks, and the bins of many lanes become as wide as the contexts'
 * bins. */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_JOB_H
#define BLAME_COMMAND_PROFILE_TIMELINE_JOB_H

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"

/* maximum number of lanes. Their bins may number PROFILE_TIME_BINS times as many. */
#define TIMELINE_JOB_LANES 1024u
/* maximum number of pairs of a context and a lane. If there are more contexts than this, the cells of all
 * lanes are merged. */
#define TIMELINE_JOB_PAIRS 2048u
/* maximum number of pairs of a context and a lane that may have more than PROFILE_FEW_BINS bins */
#define TIMELINE_JOB_DENSE 2048u

/* Working data of the merge. All bytes 0: nothing merged yet. */
struct timeline_join {
    uint64_t origin; /* start of bin 0 in the time of day, in ns */
    uint32_t shift, lane_shift;
    size_t lane_room, cell_room, joined; /* `joined`: number of cells after the last sorting */
    struct pair_map lanes, cell_lanes;   /* maps (group, 0) to the number of the lane */
};

/* Adds the timeline of a rank, or of a part, to the job. The job's header and nodes must include the rank
 * already, but not its rank record. node_map: the job's node for each node of the rank. threads: number of
 * the job's threads before the rank was added. */
void timeline_join_add(struct timeline_join *join, struct profile *job, const struct profile *rank,
                       const uint32_t *node_map, size_t threads);
/* Ends the merge. All ranks are known now, so inverse_busy is divided by the job's number of threads T. */
void timeline_join_end(struct timeline_join *join, struct profile *job);

/* Completes the timeline of a whole job. If more than TIMELINE_JOB_DENSE contexts have many bins, the
 * smallest of them are added to their parents. */
void timeline_join_prune(struct profile *job);

#endif
