/* Charges waiting in collective calls to the ranks that arrived late. Waiting for which a rank of the same
 * node is blamed is not charged. Within a late rank, the contexts that took longer than the mean are charged.
 * All this uses only the sums of each rank (docs/accounting.md, "Between nodes"). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_H
#define BLAME_COMMAND_PROFILE_BALANCE_H

#include "command/profile/chunks.h"
#include "command/profile/profile.h"

/* maximum number of calling contexts whose waiting is charged; those with the most waiting are chosen */
#define BALANCE_CALLS 16
/* maximum number of late ranks whose contexts are compared; those with the largest charges are chosen */
#define BALANCE_RANKS 64

/* Charges of a job's ranks and contexts, computed in two passes over the files of the ranks. First pass:
 * balance_start(), balance_add_rank() for each rank, balance_charge_calls(). Second pass:
 * balance_charge_contexts() for each rank from balance_late(), then balance_end(). */
struct balance {
    struct profile *job;
    size_t nodes;                 /* number of nodes in the job when the first pass starts */
    uint32_t call[BALANCE_CALLS]; /* nodes of the calls whose waiting is charged */
    size_t calls;
    struct balance_waits {
        /* ns of waiting in each call, and the part for which no rank of the same node is blamed */
        double all[BALANCE_CALLS], unblamed[BALANCE_CALLS];
        bool known;
    } *waits;                        /* one element for each rank record of the job */
    size_t ranks;                    /* number of ranks added so far */
    double *time;                    /* ns in each node, summed over all added ranks */
    struct profile_balance *context; /* charges of contexts, one element for each node */
    struct profile_balance of_call[BALANCE_CALLS], no_context, more_ranks;
};

/* Starts the first pass. Returns false if there is nothing to charge or if the ranks cannot be compared. */
bool balance_start(struct balance *balance, struct profile *job);
/* Adds the times and waits of one rank. node_map: the job's node for each node of the rank; a number of at
 * least balance->nodes means none. record: index of the rank's record in the job. */
void balance_add_rank(struct balance *balance, const struct profile *rank, const uint32_t *node_map, size_t record);
/* Charges the waiting in all calls to the ranks that arrived late. Stores each rank's charge in its record. */
void balance_charge_calls(struct balance *balance);
/* Stores in late[] the record indices of the ranks with the largest charges, whose contexts are to be
 * compared. Returns their number. */
size_t balance_late(const struct balance *balance, size_t late[BALANCE_RANKS]);
void balance_charge_contexts(struct balance *balance, const struct profile *rank, const uint32_t *node_map,
                             size_t record);
/* Moves the charges to the job's profile and frees the rest. */
void balance_end(struct balance *balance);

/* Reads the charges from a job's file. node_map: as made by profile_merge(). Returns NULL, or a text that
 * says what is wrong with the file. */
const char *profile_read_balances(const struct profile_chunks *chunks, const uint32_t *node_map,
                                  struct profile *profile);

#endif
