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

/* Coefficients of x x, x a and x b, for a sample that adds x to a sum, to which the sample before it added a, and the one
 * before that b. */
struct neighbours_terms {
    double x, a, b;
};

/* A sample of n periods counts as n samples that have each added x. All but two of them add nothing to the variance: their
 * neighbours on both sides are as large as they are. */
static inline struct neighbours_terms neighbours_terms(bool late)
{
    return late ? (struct neighbours_terms){1.0 / 3, -1, 2.0 / 3} : (struct neighbours_terms){1, -5.0 / 3, 2.0 / 3};
}

static inline double neighbours_both(const struct neighbours *neighbours, const double *sums, double part,
                                     struct neighbours_terms terms)
{
    const uint32_t i = PROFILE_NEIGHBOURS_INVERSE_BUSY, o = PROFILE_NEIGHBOURS_OWN;
    const double *a = neighbours->last[0], *b = neighbours->last[1];
    double inverse_busy = (sums[i] - neighbours->until[i]) * part, own = (sums[o] - neighbours->until[o]) * part;
    return inverse_busy * (terms.x * own + terms.a * a[o] + terms.b * b[o]) +
           own * (terms.x * inverse_busy + terms.a * a[i] + terms.b * b[i]);
}

/* Returns where the last sample's context is compared with itself; NULL: there is no memory. */
static inline double *neighbours_stay(struct neighbours *neighbours, struct tree *tree, uint32_t number)
{
    if (unlikely(neighbours->stay_idx != neighbours->node_idx))
        neighbours->stay[0] = neighbours->stay[1] = NULL;
    neighbours->stay_idx = neighbours->node_idx;
    if (unlikely(!neighbours->stay[number]))
        neighbours->stay[number] = (struct profile_neighbours *)attribute_at(
            tree, tree_child(tree, neighbours->node_idx, PROFILE_NODE_NEIGHBOURS, number));
    return likely(neighbours->stay[number] != NULL) ? neighbours->stay[number]->variance : NULL;
}

/* Each sum has its own line of the arrays, so the compiler takes several at once. */
static inline void neighbours_compare_sums(const double *restrict sums, double part, bool late, double *restrict until,
                                           double *restrict last, double *restrict before, double *restrict variance,
                                           struct neighbours_terms stay, double *restrict of_stay)
{
    const struct neighbours_terms terms = neighbours_terms(late);
    for (uint32_t i = 0; i < PROFILE_NEIGHBOURS_EACH; i++) {
        double x = (sums[i] - until[i]) * part, a = last[i], b = before[i];
        variance[i] += x * (terms.x * x + terms.a * a + terms.b * b);
        of_stay[i] += x * (stay.x * x + stay.a * a + stay.b * b);
        before[i] = late ? x : a;
        last[i] = x;
        until[i] = sums[i];
    }
}

/* Compares the sums of a record, of the whole tree and of the last sample's context (`stay`), for the errors of rows. What an
 * independent sample adds to a context's variance is left out: it follows from the context's sums. */
static inline __attribute__((always_inline)) void neighbours_compare_record(struct neighbours *neighbours,
                                                                            struct tree *tree, uint32_t number,
                                                                            const double *sums, double part, bool late,
                                                                            bool stays, struct neighbours_terms stay)
{
    struct profile_neighbours *record = neighbours_record(neighbours, tree, number);
    double *of_stay = stays ? neighbours_stay(neighbours, tree, number) : NULL;
    uint32_t first = number * PROFILE_NEIGHBOURS_EACH;
    if (unlikely(!record))
        return;
    if (!of_stay)
        of_stay = neighbours->unused;
    if (number == 0) {
        record->variance[PROFILE_NEIGHBOURS_BOTH] += neighbours_both(neighbours, sums, part, neighbours_terms(late));
        of_stay[PROFILE_NEIGHBOURS_BOTH] += neighbours_both(neighbours, sums, part, stay);
    }
    neighbours_compare_sums(sums, part, late, neighbours->until + first, neighbours->last[0] + first,
                            neighbours->last[1] + first, record->variance, stay, of_stay);
}

/* The second record's sums are 0 in most programs, and it is made when one is not. They may cancel each other: core
 * idleness is negative where threads lack cores. */
static inline __attribute__((always_inline)) void
neighbours_compare_all(struct neighbours *neighbours, struct tree *tree, const double *sums, double count, bool late)
{
    const uint32_t node_idx = neighbours->node_idx;
    const struct neighbours_terms terms = neighbours_terms(late);
    if (unlikely(neighbours->grafts != tree->grafts)) { /* a node's number may be another one's now */
        neighbours->at[0] = neighbours->at[1] = neighbours->stay_idx = 0;
        neighbours->grafts = tree->grafts;
    }
    bool same = neighbours->at[0] == node_idx, same_before = neighbours->at[1] == node_idx;
    bool stays = (same || same_before || late) && node_idx && node_idx != NEIGHBOURS_MIXED && node_idx != tree->root;
    struct neighbours_terms stay = {late ? terms.x - count : 0, same ? terms.a : 0, same_before ? terms.b : 0};
    double added = 0, part = late ? 1 / count : 1;
    for (uint32_t i = PROFILE_NEIGHBOURS_EACH; i < PROFILE_NEIGHBOURS_SUMS; i++)
        added += fabs(sums[i]);
    neighbours_compare_record(neighbours, tree, 0, sums, part, late, stays, stay);
    if (unlikely(added > 0))
        neighbours_compare_record(neighbours, tree, 1, sums + PROFILE_NEIGHBOURS_EACH, part, late, stays, stay);
    neighbours->at[1] = late ? node_idx : neighbours->at[0];
    neighbours->at[0] = node_idx;
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
    bool still = neighbours_are_still(neighbours, sums);
    if (!still && likely(count == 1))
        neighbours_compare_all(neighbours, tree, sums, 1, false);
    else if (!still)
        neighbours_compare_all(neighbours, tree, sums, (double)count, true);
    neighbours->node_idx = 0;
}
