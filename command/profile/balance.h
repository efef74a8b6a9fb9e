/* Waiting in collective calls that no rank of the own node was blamed for, charged to the ranks that came later, and in these to the contexts in
 * which they were longer than the mean: by the sums of all ranks (docs/accounting.md, "Between nodes"). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_H
#define BLAME_COMMAND_PROFILE_BALANCE_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

#define BALANCE_CALLS 16 /* calling contexts, those with the most waiting; of others nothing is charged */
#define BALANCE_RANKS 64 /* whose contexts are compared, those that are charged most */

/* Two passes over the job's ranks: balance_start(), balance_add_rank() of each, balance_charge_calls(), balance_charge_contexts() of the ranks
 * of balance_late(), balance_end(). */
struct balance {
    struct profile *job;
    size_t nodes;                 /* of the job, at the start */
    uint32_t call[BALANCE_CALLS]; /* nodes */
    size_t calls;
    struct balance_waits {
        double all[BALANCE_CALLS], untold[BALANCE_CALLS]; /* untold: nobody of the node was blamed */
        bool known;
    } *waits;                        /* by record of the job */
    size_t ranks;                    /* that were added */
    double *time;                    /* by node, of all of them */
    struct profile_balance *context; /* by node */
    struct profile_balance of_call[BALANCE_CALLS], no_context, more_ranks;
};

/* False: there is nothing to charge, or it cannot be. */
bool balance_start(struct balance *balance, struct profile *job);
/* place: by the rank's nodes, the job's, from balance->nodes on none of them; record: the rank's in the job. */
void balance_add_rank(struct balance *balance, const struct profile *rank, const uint32_t *place, size_t record);
/* Puts it into the ranks' records. */
void balance_charge_calls(struct balance *balance);
/* Which records have their contexts compared; how many. */
size_t balance_late(const struct balance *balance, size_t late[BALANCE_RANKS]);
void balance_charge_contexts(struct balance *balance, const struct profile *rank, const uint32_t *place, size_t record);
/* Gives it to the profile. */
void balance_end(struct balance *balance);

/* What a file has; place: by its nodes. NULL, or what is wrong with it. */
const char *profile_read_balances(const struct profile_chunks *chunks, const uint32_t *place, struct profile *profile);

#endif
