/* Which rank of a job a process was, and the ranks of a job that was merged. */
#ifndef BLAME_COMMAND_TABLES_RANKS_H
#define BLAME_COMMAND_TABLES_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

/* To be put behind the number of cores: ", rank 1 of 2, bound to core 3"; "" of a program that is none. */
void rank_note(const struct profile *profile, char *text, size_t bytes);

/* Of a job: "4 ranks on 2 nodes, 1 to 2 threads on 4 cores each". False: it is none. */
bool ranks_size(const struct profile *profile, char *text, size_t bytes);

/* Of a job: one line on ranks that are missing, damaged or had not ended, malloc'ed; NULL: there are none. */
char *ranks_problems(const struct profile *profile);

/* On how many nodes those ran that count. */
size_t ranks_nodes(const struct profile *profile);

/* Ranks that may run on the same cores, by their node and binding, and their threads at most. */
struct ranks_crowd {
    size_t ranks;
    double threads, cores;
};

/* Those of a job that have most threads for a core. */
struct ranks_crowd ranks_crowd(const struct profile *profile);

/* Whether the rank's figures are in the job's. */
bool rank_counts(const struct profile_rank *rank);

/* Whether all of a job's ranks were measured to their end, and saw all others of their node. */
bool ranks_saw_each_other(const struct profile *profile);

/* "3", or "3.1" of a rank's second process. */
void rank_name(const struct profile_rank *rank, char *text, size_t bytes);

/* "whole", "open", "damaged", "missing", "foreign". */
const char *rank_state_name(const struct profile_rank *rank);

#endif
