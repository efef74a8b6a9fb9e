#include "blame/neighbours.h"

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

static struct profile_neighbours *neighbours_record(struct neighbours *neighbours, struct tree *tree)
{
    if (unlikely(!neighbours->record))
        neighbours->record =
            (struct profile_neighbours *)attribute_at(tree, tree_child(tree, tree->root, PROFILE_NODE_NEIGHBOURS, 0));
    return neighbours->record;
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
}

/* How much a sample that adds x to a sum is beyond what the samples before it tell. A sample of n periods counts as n
 * samples that have each added x. All but two of them add nothing to the variance: their neighbours on both sides are
 * as large as they are. */
static inline double neighbours_beyond(const struct neighbours *neighbours, uint32_t sum, double x, bool late)
{
    double a = neighbours->last[0][sum], b = neighbours->last[1][sum];
    return late ? 1.0 / 3 * x - a + 2.0 / 3 * b : x - 5.0 / 3 * a + 2.0 / 3 * b;
}

static double neighbours_both(const struct neighbours *neighbours, const double sums[NEIGHBOURS_SUMS], double part,
                              bool late)
{
    const uint32_t i = PROFILE_NEIGHBOURS_INVERSE_BUSY, o = PROFILE_NEIGHBOURS_OWN;
    double inverse_busy = (sums[i] - neighbours->until[i]) * part, own = (sums[o] - neighbours->until[o]) * part;
    return inverse_busy * neighbours_beyond(neighbours, o, own, late) +
           own * neighbours_beyond(neighbours, i, inverse_busy, late);
}

void neighbours_compare(struct neighbours *neighbours, struct tree *tree, const struct profile_thread *ledger)
{
    double sums[NEIGHBOURS_SUMS];
    int64_t count = (int64_t)(ledger->recorded - neighbours->periods);
    struct profile_neighbours *record = neighbours_record(neighbours, tree);
    if (count <= 0 || !record)
        return;
    neighbours_read(neighbours, ledger, sums);
    bool late = count > 1;
    double part = late ? 1 / (double)count : 1;
    if (sums[PROFILE_NEIGHBOURS_OWN] != neighbours->until[PROFILE_NEIGHBOURS_OWN])
        record->variance[PROFILE_NEIGHBOURS_BOTH] += neighbours_both(neighbours, sums, part, late);
    for (uint32_t i = 0; i < NEIGHBOURS_SUMS; i++) {
        double x = (sums[i] - neighbours->until[i]) * part;
        if (x != 0) {
            record->variance[i] += x * neighbours_beyond(neighbours, i, x, late);
            neighbours->until[i] = sums[i];
        }
        neighbours->last[1][i] = late ? x : neighbours->last[0][i];
        neighbours->last[0][i] = x;
    }
    neighbours->periods = ledger->recorded;
}
