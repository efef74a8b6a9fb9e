/* The rank of a process, and the ranks of a merged job. */
#ifndef BLAME_COMMAND_TABLES_RANKS_H
#define BLAME_COMMAND_TABLES_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

/* Writes the rank as a continuation of a sentence: ", rank 1 of 2, bound to core 3"; "" if the process is not
 * a rank. */
void rank_note(const struct profile *profile, char *text, size_t bytes);

/* Writes the size of a job: "4 ranks on 2 nodes, 1 to 2 threads on 4 cores each". Returns false if the
 * profile is not a job's. */
bool ranks_size(const struct profile *profile, char *text, size_t bytes);

/* Returns one line about the ranks that are missing, damaged or unfinished; NULL if there are none. The
 * caller frees the line. */
char *ranks_problems(const struct profile *profile);

/* Returns the number of machines that had ranks with measurements. */
size_t ranks_nodes(const struct profile *profile);

/* The ranks of one machine that have the same binding. threads: sum, over these ranks, of the largest number
 * of threads at a time. */
struct ranks_crowd {
    size_t ranks;
    double threads, cores;
};

/* Returns the group of ranks that has the most threads per core. */
struct ranks_crowd ranks_crowd(const struct profile *profile);

/* Returns whether the values of the job include this rank. */
bool rank_counts(const struct profile_rank *rank);

/* Returns whether all ranks of a job were measured to their end and each rank saw all other ranks on its
 * machine. */
bool ranks_saw_each_other(const struct profile *profile);

/* Writes a rank's number: "3", or "3.1" for the rank's second process. */
void rank_name(const struct profile_rank *rank, char *text, size_t bytes);

/* Returns "whole", "open", "damaged", "missing" or "foreign". */
const char *rank_state_name(const struct profile_rank *rank);

#endif
