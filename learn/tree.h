/* A decision tree, grown and pruned as J. R. Quinlan's C4.5 does (C4.5: Programs for Machine Learning, 1993; for numbers: Improved Use of Continuous
 * Attributes in C4.5, 1996). docs/learning.md has the procedure. Pure: the same table gives the same tree. */
#ifndef BLAME_LEARN_TREE_H
#define BLAME_LEARN_TREE_H

#include "learn/table.h"

#define DECISION_CF   0.25 /* confidence of the estimate by which a tree is pruned */
#define DECISION_LEAF (-1)

struct decision_node {
    int feature;      /* DECISION_LEAF: it is one */
    double threshold; /* of a number: the first branch has what is at most this, the second what is more */
    size_t child;     /* the first of `branches` nodes beside each other; of a word's feature, one for each word */
    size_t branches;
    int label;                    /* most cases' class */
    double weight, errors;        /* cases, and those of another class, that came here; fractions where a value was unknown */
    double part;                  /* of the cases above whose value is known: what goes this way of one whose value is not */
    size_t classes;               /* where its distribution begins in `share` */
};

struct decision {
    const struct learn_table *table; /* must stay */
    struct decision_node *node;          /* the first is the root */
    size_t count, room;
    double *share; /* each node's cases, by class: table->classes.count of them from decision_node.classes on */
    size_t share_room;
};

/* cases: those that it is grown of; NULL: all of the table, and count says how many of it. */
struct decision *decision_grow(const struct learn_table *table, const size_t *cases, size_t count);
void decision_free(struct decision *tree);

/* The class of a case by its values, one for each feature (NAN: unknown; a word's number that the table has not, too). confidence: 1 less the
 * pessimistic share of errors where it ends; NULL: not wanted. */
int decision_classify(const struct decision *tree, const double *value, double *confidence);

#endif
