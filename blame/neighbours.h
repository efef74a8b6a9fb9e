/* The variances of a thread's sums, estimated from neighbouring samples. docs/accounting.md derives them ("What is
 * stated"). */
#ifndef BLAME_BLAME_NEIGHBOURS_H
#define BLAME_BLAME_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_metrics.h"

struct profile_thread;
struct lock_blame;
struct tree;

#define NEIGHBOURS_SUMS (PROFILE_NEIGHBOURS_EACH * PROFILE_NEIGHBOURS_RECORDS)

/* Everything is 0 at the start of a thread. */
struct neighbours {
    /* blame that the thread's samples have booked, in any context, in ns */
    double lock_wait, inverse_busy, shared_idle, core_idle, rank_idle;
    double all;                    /* of all sums until the last sample */
    uint32_t still;                /* number of the last samples that added nothing, at most 2 */
    uint64_t periods;              /* number of periods until the last sample that was not dropped */
    double until[NEIGHBOURS_SUMS]; /* sums until that sample, in ns */
    /* what the last period added to each sum, and the period before it, in ns */
    double last[2][NEIGHBOURS_SUMS];
    /* in the thread's tree; NULL as long as no sample has added to one of its sums */
    struct profile_neighbours *record[PROFILE_NEIGHBOURS_RECORDS];
};

/* Adds blame that a sample of the thread has booked. [handler] */
void neighbours_add(struct neighbours *neighbours, const struct lock_blame *blame);

/* Compares what the last sample has added to the thread's sums with what the samples before it added. Called after each
 * sample. [handler] */
void neighbours_compare(struct neighbours *neighbours, struct tree *tree, const struct profile_thread *ledger);

#endif
