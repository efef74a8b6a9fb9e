/* Merges the timelines of a job's ranks, or of parts of a job, into one. In the time of day, a job's bins
 * start at multiples of their width, no matter when the ranks started. A rank's bins are divided among the
 * job's bins only once, by overlapping time; after that, parts can be added exactly. A timeline that is too
 * large is made coarser: lanes become ranks, then groups of ranks, and the bins of many lanes become as wide
 * as the bins of contexts. The rules for this give the same result for any division into parts. */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_JOB_H
#define BLAME_COMMAND_PROFILE_TIMELINE_JOB_H

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"

/* maximum number of lanes; together, they have at most PROFILE_TIME_BINS times as many bins */
#define TIMELINE_JOB_LANES 1024u
/* maximum number of pairs of a context and a lane; if there are even more contexts, the cells of all lanes
 * are merged */
#define TIMELINE_JOB_PAIRS 2048u
/* maximum number of pairs of a context and a lane that may have more than PROFILE_FEW_BINS bins */
#define TIMELINE_JOB_DENSE 2048u

/* Working data of the merge. If all its bytes are 0, nothing has been merged. */
struct timeline_join {
    uint64_t origin; /* start of bin 0 in the time of day, in ns */
    uint32_t shift, lane_shift;
    size_t lane_room, cell_room, joined; /* `joined`: number of cells after the cells were last sorted */
    struct pair_map lanes, cell_lanes;   /* maps from a group of ranks (group, 0) to the number of its lane */
};

/* Adds the timeline of a rank, or of a part of the job, to the job. The job's header and nodes must already
 * include the rank, but its rank record must not have been added. node_map: the job's node for each node of
 * the rank. threads: number of the job's threads before the rank was added. */
void timeline_join_add(struct timeline_join *join, struct profile *job, const struct profile *rank,
                       const uint32_t *node_map, size_t threads);
/* Ends the merge. All ranks have been added, so inverse_busy is divided by T, the job's number of threads. */
void timeline_join_end(struct timeline_join *join, struct profile *job);

/* Completes the timeline of a whole job. If more than TIMELINE_JOB_DENSE pairs of a context and a lane have
 * many bins, the smallest of them are added to their ancestors. */
void timeline_join_prune(struct profile *job);

#endif
