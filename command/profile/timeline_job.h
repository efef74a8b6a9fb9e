/* The timelines of a job's ranks, or of parts of it, added up to one.
 *
 * Bins are cut at multiples of their width in the time of day, wherever a part begins: so a rank's bins are shared out between the job's once,
 * by the time that each of these has of them, and parts are added up exactly. What is too much is made coarser, by rules that give the same for the
 * whole whatever its parts were: lanes by thread, else by rank, else by groups of ranks; lanes' bins up to the width of contexts', where threads are many. */
#ifndef BLAME_COMMAND_PROFILE_TIMELINE_JOB_H
#define BLAME_COMMAND_PROFILE_TIMELINE_JOB_H

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"

#define TIMELINE_JOB_LANES 1024u /* most; and as many times PROFILE_TIME_BINS bins of them */
#define TIMELINE_JOB_PAIRS                                                                                             \
    2048u /* most of contexts and lanes, unless there are more contexts: then all lanes are one for them */
#define TIMELINE_JOB_DENSE 2048u /* most of these that have more bins than PROFILE_MOMENTS, in the whole job */

/* All zero is nothing yet. */
struct timeline_join {
    uint64_t origin; /* in the time of day */
    uint32_t shift, lane_shift;
    size_t lane_room, cell_room, joined; /* joined: cells when they were put in order last */
    struct pair_map lanes, cell_lanes;   /* (group, 0) -> the lane */
};

/* Adds the timeline of a rank or a part to the job's, whose header and nodes have it already, but not its records of ranks. place: by its nodes, the job's;
 * threads: how many the job had before. */
void timeline_join_add(struct timeline_join *join, struct profile *job, const struct profile *rank,
                       const uint32_t *place, size_t threads);
/* The job's T is known: inverse_busy is divided by it. */
void timeline_join_end(struct timeline_join *join, struct profile *job);

/* Of the whole job: contexts beyond TIMELINE_JOB_DENSE, those that have least, are added to those above them. */
void timeline_join_prune(struct profile *job);

#endif
