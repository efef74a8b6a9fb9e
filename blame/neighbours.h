/* The variances of a thread's sums, estimated from neighbouring samples. docs/accounting.md derives them ("What is
 * stated"). */
#ifndef BLAME_BLAME_NEIGHBOURS_H
#define BLAME_BLAME_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_metrics.h"

#define NEIGHBOURS_MIXED UINT32_MAX

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
    uint32_t node_idx; /* context of the present period, NEIGHBOURS_MIXED if there are several; 0: none */
    uint32_t at[2];    /* the same of the last period, and of the one before it */
    uint32_t grafts;   /* of the tree at the last sample: nodes may have got other numbers since */
    uint32_t stay_idx; /* the context below which stay[] is; 0: none */
    struct profile_neighbours *stay[PROFILE_NEIGHBOURS_RECORDS]; /* NULL: not known yet */
    double unused[PROFILE_NEIGHBOURS_EACH];                      /* written while there is no stay */
    /* in the thread's tree; NULL as long as no sample has added to one of its sums */
    struct profile_neighbours *record[PROFILE_NEIGHBOURS_RECORDS];
};

/* Adds blame that a sample of the thread has booked. [handler] */
void neighbours_add(struct neighbours *neighbours, const struct lock_blame *blame);

/* Says in which context the present sample has booked what it found. [handler] */
static inline void neighbours_found(struct neighbours *neighbours, uint32_t node_idx)
{
    neighbours->node_idx = !neighbours->node_idx || neighbours->node_idx == node_idx ? node_idx : NEIGHBOURS_MIXED;
}

/* Compares what the last sample has added to the thread's sums with what the samples before it added. Called after each
 * sample. [handler] */
void neighbours_compare(struct neighbours *neighbours, struct tree *tree, const struct profile_thread *ledger);

#endif
