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

static void neighbours_read(const struct neighbours *neighbours, const struct profile_thread *ledger, double threads,
                            double sums[PROFILE_NEIGHBOURS_SUMS])
{
    double own =
        ledger->work + ledger->overhead + ledger->no_core + ledger->blocked + ledger->mpi_wait + neighbours->lock_wait;
    sums[PROFILE_NEIGHBOURS_WORK] = ledger->work;
    sums[PROFILE_NEIGHBOURS_OVERHEAD] = ledger->overhead;
    sums[PROFILE_NEIGHBOURS_LOCK_WAIT] = neighbours->lock_wait;
    sums[PROFILE_NEIGHBOURS_LOCK_WAIT_HERE] = ledger->lock_wait;
    sums[PROFILE_NEIGHBOURS_MPI_WAIT] = ledger->mpi_wait;
    sums[PROFILE_NEIGHBOURS_SHARED_IDLENESS] = neighbours->shared_idle;
    sums[PROFILE_NEIGHBOURS_THREAD_IDLENESS] = threads * neighbours->inverse_busy - own;
}

void neighbours_compare(struct neighbours *neighbours, struct tree *tree, const struct profile_thread *ledger,
                        double threads)
{
    double sums[PROFILE_NEIGHBOURS_SUMS];
    uint64_t count = ledger->delivered - neighbours->periods;
    struct profile_neighbours *record = neighbours_record(neighbours, tree);
    if (!count || !record)
        return;
    neighbours_read(neighbours, ledger, threads, sums);
    bool late = count > 1; /* Errors of its moments come together. */
    for (uint32_t i = 0; i < PROFILE_NEIGHBOURS_SUMS; i++) {
        double x = sums[i] - neighbours->until[i];
        double a = (double)neighbours->last[0][i], b = (double)neighbours->last[1][i];
        neighbours->last[0][i] = late ? 0 : (float)x;
        neighbours->last[1][i] = late ? 0 : (float)a;
        if (x == 0)
            continue;
        double variance = x * (x - 5.0 / 3 * a + 2.0 / 3 * b);
        if (late)
            variance = x * x / (double)count;
        record->variance[i] += variance;
        neighbours->until[i] = sums[i];
    }
    neighbours->periods = ledger->delivered;
}
