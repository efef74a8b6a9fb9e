/* Statistics of how much the times of a context differ between a job's ranks. The statistics of two groups of
 * ranks can be combined, in any order. */
#ifndef BLAME_COMMAND_PROFILE_SPREAD_H
#define BLAME_COMMAND_PROFILE_SPREAD_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Combines the statistics of two groups of ranks (Chan, Golub, LeVeque 1979). */
void profile_spread_add(struct profile_spread *to, const struct profile_spread *from);

/* Statistics of a time over all ranks of the job. A rank without the node counts as 0. */
struct spread_shown {
    double mean, deviation, least, most;
    /* whether every rank has the node, so that `least` is the time of a rank */
    bool least_known;
};
struct spread_shown profile_spread_over(const struct profile_spread *spread, uint32_t ranks);

/* A job's statistics while ranks are added. If all its bytes are 0, no rank has been added. */
struct spread_sums {
    struct merged_spread *spread;
    /* for each entry of `spread`: 1 + index of the next entry of the same node; 0: none */
    uint32_t *next;
    uint32_t *first; /* for each node of the job: 1 + index of the node's first entry in `spread`; 0: none */
    size_t count, room, next_room, nodes;
    uint32_t *seen; /* for each node of the job: working space, 0 between calls */
};

/* Adds a rank, or a part of the job. node_map: the job's node for each node of the rank. nodes: current
 * number of the job's nodes. */
void spread_sums_add(struct spread_sums *sums, const struct profile *rank, const uint32_t *node_map, size_t nodes);
/* Moves the statistics to the profile and empties `sums`. */
void spread_sums_end(struct spread_sums *sums, struct profile *profile);

/* Reads the statistics from a job's file. node_map: as made by profile_merge(). Returns NULL, or a text that
 * says what is wrong with the file. */
const char *profile_read_spreads(const struct profile_chunks *chunks, const uint32_t *node_map,
                                 struct profile *profile);

#endif
