/* Merges the timelines of a job's ranks, or of parts of a job, into one.
 *
 * A job's bins begin at multiples of their width in the time of day, wherever a part begins. A rank's bins
 * are divided among the job's bins once, by overlapping time; after that, parts can be added exactly.
 * Timelines that are too large become coarser, by rules that give the same result for any division into
 * parts: lanes are threads, then ranks, then groups of ranks; lanes' bins become as wide as contexts' bins if
 * there are many threads. */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_JOB_H
#define BLAME_COMMAND_PROFILE_TIMELINE_JOB_H

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"

#define TIMELINE_JOB_LANES 1024u /* most lanes, and most bins of lanes in units of PROFILE_TIME_BINS */
/* most pairs of context and lane. With more contexts than this, cells of all lanes are merged. */
#define TIMELINE_JOB_PAIRS 2048u
#define TIMELINE_JOB_DENSE 2048u /* most pairs of a job that may have more than PROFILE_MOMENTS bins */

/* Zeroed means empty. */
struct timeline_join {
    uint64_t origin; /* start of bin 0, as time of day */
    uint32_t shift, lane_shift;
    size_t lane_room, cell_room, joined; /* joined: number of cells at the last sorting */
    struct pair_map lanes, cell_lanes;   /* (group, 0) -> the lane */
};

/* Adds the timeline of a rank or part to the job. The job's header and nodes must include the rank already,
 * its records of ranks must not. place: job node for each of the rank's nodes. threads: the job's thread
 * count before. */
void timeline_join_add(struct timeline_join *join, struct profile *job, const struct profile *rank,
                       const uint32_t *place, size_t threads);
/* Ends the merge. The job's T is now known, so inverse_busy is divided by it. */
void timeline_join_end(struct timeline_join *join, struct profile *job);

/* Completes a whole job: adds contexts beyond TIMELINE_JOB_DENSE, smallest first, to their parents. */
void timeline_join_prune(struct profile *job);

#endif
