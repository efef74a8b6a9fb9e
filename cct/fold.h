/* Folding: what happens along one instance of a numbered phase, of all of them laid over one another. A sample's place in its instance is known
 * when that has ended, and its context when its region has: until then it waits, in a ring of its tree's. Then it goes to the bin that lies as far
 * in the phase, of its context without the number of the instance. Of an instance with more samples than the ring holds each that stays
 * stands for several: one of them by chance, in proportion to its weight, with the weight of all, so that no sum is off on average.
 *
 * Written by whoever may write the tree (guarantee T1). */
#ifndef BLAME_CCT_FOLD_H
#define BLAME_CCT_FOLD_H

#include "cct/fold_bins.h"
#include "cct/fold_phases.h"
#include "cct/tree.h"

#define FOLD_SAMPLES 512u  /* that wait, of a tree's in one phase */
#define FOLD_STEPS   1024u /* ends, samples and nodes that one sample looks at in one phase, or a few more */

struct fold_sample {
    uint64_t time_ns;
    uint32_t node_idx; /* 0: it is not here any more */
    uint32_t own;      /* the tree's thread had begun an instance itself */
    struct profile_time_value value;
};

struct fold_ring {
    uint32_t count;  /* places taken, in the order of time or nearly */
    uint32_t held;   /* samples in them */
    uint32_t stride; /* so many samples a place */
    uint32_t in_last;
    uint64_t seen;   /* ends that have been looked at */
    uint32_t next;   /* the place from which on the samples have not been compared with the next end */
    bool unresolved; /* before that place, some sample that may belong to the next end is in a region that was not known */
    uint64_t retry;  /* the first end that some sample may belong to whose region was not known */
    uint32_t grafts; /* the tree's, when the ends were looked at */
    struct fold_sample sample[FOLD_SAMPLES];
};

struct folds {
    struct fold_ring *ring[FOLD_PHASES];
    uint32_t own[FOLD_PHASES]; /* instances that the tree's thread has open */
    uint64_t chance;
    uint64_t steps; /* left to this sample, in this phase */
    struct fold_bins bins;
    uint32_t down[TREE_PATH_MAX];
};

/* The thread begins an instance, and has ended it. [owner] */
void fold_begin(struct tree *tree, uint32_t phase);
void fold_end(struct tree *tree, uint32_t phase, struct fold_instance *instance);

/* None of those that were open is any more: another thread has the tree. [owner] */
void fold_forget(struct tree *tree);

/* [handler] */
void fold_keep(struct tree *tree, uint32_t node_idx, uint64_t time_ns, struct profile_time_value value);

/* The node has so much at that moment. [handler] */
static inline void fold_note(struct tree *tree, uint32_t node_idx, uint64_t time_ns, struct profile_time_value value)
{
    if (unlikely(load_relaxed(&fold_phase_count)))
        fold_keep(tree, node_idx, time_ns, value);
}

/* What waits, and of which everything is known by now, goes to its bins, at most FOLD_STEPS of work in each phase: the next call goes on.
 * Ends that come faster than that are overtaken. [handler] */
void fold_deposit(struct tree *tree);

/* At the end of the measurement: what still waits is lost. fold_phases_finish() comes first. [init] */
void fold_finish(struct tree *tree);

/* As tree->moved. [owner] */
void fold_moved(struct tree *tree, uint32_t from, uint32_t into);

#endif
