/* How times of contexts differ between the ranks of a job. What is kept of each can be added up in any order, of single ranks and of sums. */
#ifndef BLAME_COMMAND_PROFILE_SPREAD_H
#define BLAME_COMMAND_PROFILE_SPREAD_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* Chan, Golub, LeVeque (1979): the sums of two groups of ranks are those of both. */
void profile_spread_add(struct profile_spread *to, const struct profile_spread *from);

/* The same over all of `ranks` processes: those that do not have it have 0. */
struct spread_shown {
    double mean, deviation, least, most;
    bool least_known; /* that it is the least of one rank; else of several, which lack it */
};
struct spread_shown profile_spread_over(const struct profile_spread *spread, uint32_t ranks);

/* A job's, as ranks are added. All zero is none. */
struct spread_sums {
    struct merged_spread *spread;
    uint32_t *next;  /* by spread: 1 + another one of its node */
    uint32_t *first; /* by node of the job: 1 + its first spread */
    size_t count, room, next_room, nodes;
    uint32_t *seen; /* by node of the job: 0, but while a rank is added */
};

/* Those of a rank, or of a job of which this is a part; place: by its nodes, the job's. nodes: how many the job has by now. */
void spread_sums_add(struct spread_sums *sums, const struct profile *rank, const uint32_t *place, size_t nodes);
/* Gives them to the profile, and is nothing afterwards. */
void spread_sums_end(struct spread_sums *sums, struct profile *profile);

/* What a file has; place: by its nodes. NULL, or what is wrong with it. */
const char *profile_read_spreads(const struct profile_chunks *chunks, const uint32_t *place, struct profile *profile);

#endif
