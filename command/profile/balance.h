/* Charges waiting in collective calls, as far as no rank of the same node is blamed for it, to the ranks that
 * arrived later. Within these ranks, charges the contexts that took longer than the mean. Uses the sums of
 * all ranks (docs/accounting.md, "Between nodes"). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_H
#define BLAME_COMMAND_PROFILE_BALANCE_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

#define BALANCE_CALLS 16 /* calling contexts with most waiting; waiting in others is not charged */
#define BALANCE_RANKS 64 /* ranks with the largest charges, whose contexts are compared */

/* Used in two passes over the job's ranks. First pass: balance_start(), balance_add_rank() for each rank,
 * balance_charge_calls(). Second pass: balance_charge_contexts() for the ranks from balance_late(),
 * balance_end(). */
struct balance {
    struct profile *job;
    size_t nodes;                 /* node count of the job at the start */
    uint32_t call[BALANCE_CALLS]; /* nodes */
    size_t calls;
    struct balance_waits {
        /* waiting in ns by call; the part for which no rank of the node is blamed */
        double all[BALANCE_CALLS], untold[BALANCE_CALLS];
        bool known;
    } *waits;                        /* indexed by rank record of the job */
    size_t ranks;                    /* number of ranks added */
    double *time;                    /* ns by node, over all added ranks */
    struct profile_balance *context; /* by node */
    struct profile_balance of_call[BALANCE_CALLS], no_context, more_ranks;
};

/* Starts the first pass. Returns false if there is nothing to charge or the ranks cannot be compared. */
bool balance_start(struct balance *balance, struct profile *job);
/* Adds a rank. place: job node for each of the rank's nodes; balance->nodes or more means none. record: the
 * rank's index in the job. */
void balance_add_rank(struct balance *balance, const struct profile *rank, const uint32_t *place, size_t record);
/* Charges the waiting in calls, and stores each rank's charge in its record. */
void balance_charge_calls(struct balance *balance);
/* Fills in the records of the ranks whose contexts are to be compared. Returns their number. */
size_t balance_late(const struct balance *balance, size_t late[BALANCE_RANKS]);
void balance_charge_contexts(struct balance *balance, const struct profile *rank, const uint32_t *place, size_t record);
/* Moves the result to the profile. */
void balance_end(struct balance *balance);

/* Reads the charges from a file. place: merged node for each node of the file. Returns NULL, or what is wrong
 * with the file. */
const char *profile_read_balances(const struct profile_chunks *chunks, const uint32_t *place, struct profile *profile);

#endif
