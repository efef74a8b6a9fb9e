#include "blame/neighbours.h"

#include <math.h>

#include <string.h>

#include "base/atomics.h"
#include "blame/attribute.h"
#include "blame/directed.h"
#include "cct/profile_format.h"
#include "cct/tree.h"

void neighbours_add(struct neighbours *neighbours, const struct lock_blame *blame)
{
    neighbours->lock_wait += blame->lock_wait;
    neighbours->inverse_busy += blame->inverse_busy;
    neighbours->shared_idle += blame->shared_idle;
}

/* What the sums of a record are compared into; NULL: there is no memory. */
static struct profile_neighbours *neighbours_record(struct neighbours *neighbours, struct tree *tree, uint32_t number)
{
    if (unlikely(!neighbours->record[number]))
        neighbours->record[number] = (struct profile_neighbours *)attribute_at(
            tree, tree_child(tree, tree->root, PROFILE_NODE_NEIGHBOURS, number));
    return neighbours->record[number];
}

static void neighbours_read(const struct neighbours *neighbours, const struct profile_thread *ledger,
                            double sums[NEIGHBOURS_SUMS])
{
    sums[PROFILE_NEIGHBOURS_WORK] = ledger->work;
    sums[PROFILE_NEIGHBOURS_LOCK_WAIT] = neighbours->lock_wait;
    sums[PROFILE_NEIGHBOURS_LOCK_WAIT_HERE] = ledger->lock_wait;
    sums[PROFILE_NEIGHBOURS_MPI_WAIT] = ledger->mpi_wait;
    sums[PROFILE_NEIGHBOURS_SHARED_IDLENESS] = neighbours->shared_idle;
    sums[PROFILE_NEIGHBOURS_INVERSE_BUSY] = neighbours->inverse_busy;
    sums[PROFILE_NEIGHBOURS_OWN] =
        ledger->work + ledger->overhead + ledger->no_core + ledger->blocked + ledger->mpi_wait + neighbours->lock_wait;
    sums[PROFILE_NEIGHBOURS_BOTH] = 0; /* not a sum that is compared with itself */
    sums[PROFILE_NEIGHBOURS_BLOCKED] = ledger->blocked;
    sums[PROFILE_NEIGHBOURS_NO_CORE] = ledger->no_core;
    sums[PROFILE_NEIGHBOURS_CORES] = neighbours->core_idle;
    sums[PROFILE_NEIGHBOURS_RANKS] = neighbours->rank_idle;
    for (uint32_t i = PROFILE_NEIGHBOURS_SUMS; i < NEIGHBOURS_SUMS; i++)
        sums[i] = 0;
}

/* How much a sample that adds x to a sum is beyond what the samples before it tell. A sample of n periods counts as n
 * samples that have each added x. All but two of them add nothing to the variance: their neighbours on both sides are
 * as large as they are. */
static inline double neighbours_beyond(double a, double b, double x, bool late)
{
    return late ? 1.0 / 3 * x - a + 2.0 / 3 * b : x - 5.0 / 3 * a + 2.0 / 3 * b;
}

static inline double neighbours_both(const struct neighbours *neighbours, const double *sums, double part, bool late)
{
    const uint32_t i = PROFILE_NEIGHBOURS_INVERSE_BUSY, o = PROFILE_NEIGHBOURS_OWN;
    const double *last = neighbours->last[0], *before = neighbours->last[1];
    double inverse_busy = (sums[i] - neighbours->until[i]) * part, own = (sums[o] - neighbours->until[o]) * part;
    return inverse_busy * neighbours_beyond(last[o], before[o], own, late) +
           own * neighbours_beyond(last[i], before[i], inverse_busy, late);
}

/* Compares the sums of a record. Each has its own line of the arrays, so the compiler takes several at once. */
static inline void neighbours_compare_record(struct neighbours *neighbours, uint32_t number,
                                             const double *restrict sums, double part, bool late,
                                             double *restrict variance)
{
    double *restrict until = neighbours->until + number * PROFILE_NEIGHBOURS_EACH;
    double *restrict last = neighbours->last[0] + number * PROFILE_NEIGHBOURS_EACH;
    double *restrict before = neighbours->last[1] + number * PROFILE_NEIGHBOURS_EACH;
    for (uint32_t i = 0; i < PROFILE_NEIGHBOURS_EACH; i++) {
        double x = (sums[i] - until[i]) * part;
        variance[i] += x * neighbours_beyond(last[i], before[i], x, late);
        before[i] = late ? x : last[i];
        last[i] = x;
        until[i] = sums[i];
    }
}

/* The second record's sums are 0 in most programs, and it is made when one is not. They may cancel each other: core
 * idleness is negative where threads lack cores. */
static inline void neighbours_compare_all(struct neighbours *neighbours, struct tree *tree, const double *sums,
                                          double part, bool late)
{
    double added = 0, both = neighbours_both(neighbours, sums, part, late);
    struct profile_neighbours *record = neighbours_record(neighbours, tree, 0);
    for (uint32_t i = PROFILE_NEIGHBOURS_EACH; i < PROFILE_NEIGHBOURS_SUMS; i++)
        added += fabs(sums[i]);
    if (unlikely(!record))
        return;
    record->variance[PROFILE_NEIGHBOURS_BOTH] += both;
    neighbours_compare_record(neighbours, 0, sums, part, late, record->variance);
    record = added > 0 ? neighbours_record(neighbours, tree, 1) : NULL;
    if (record)
        neighbours_compare_record(neighbours, 1, sums + PROFILE_NEIGHBOURS_EACH, part, late, record->variance);
}

/* Returns true if the last sample and the two before it have added nothing, as in an idle thread: there is nothing to
 * compare. */
static inline bool neighbours_are_still(struct neighbours *neighbours, const double *sums)
{
    double all = 0;
    for (uint32_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++)
        all += sums[i];
    bool same = all == neighbours->all;
    if (same && neighbours->still == 2)
        return true;
    neighbours->still = same ? neighbours->still + 1 : 0;
    neighbours->all = all;
    return false;
}

void neighbours_compare(struct neighbours *neighbours, struct tree *tree, const struct profile_thread *ledger)
{
    double sums[NEIGHBOURS_SUMS];
    int64_t count = (int64_t)(ledger->recorded - neighbours->periods);
    if (count <= 0)
        return;
    neighbours_read(neighbours, ledger, sums);
    neighbours->periods = ledger->recorded;
    if (neighbours_are_still(neighbours, sums))
        return;
    if (likely(count == 1))
        neighbours_compare_all(neighbours, tree, sums, 1, false);
    else
        neighbours_compare_all(neighbours, tree, sums, 1 / (double)count, true);
}
