/* One step of growing a tree: how well a feature tells the classes of some cases apart. */
#ifndef BLAME_LEARN_SPLIT_H
#define BLAME_LEARN_SPLIT_H

#include "learn/table.h"

#define SPLIT_LEAST 2 /* cases that at least two branches must have */

struct decision_split {
    bool possible;
    double gain, information, threshold; /* in bits; the gain, and what it is divided by: that of the split itself */
};

struct split_case {
    size_t at;
    double weight; /* less than 1 where a value above was unknown */
};

/* A node's cases. */
struct split_cases {
    const struct learn_table *table;
    struct split_case *item;
    size_t count;
    double *of_class; /* weights, by class */
    double weight;
};

void split_count(struct split_cases *cases);
/* In bits, of what lies in classes: the entropy times the weight. */
double split_entropy(const double *of_class, size_t classes);
size_t split_branches(const struct learn_table *table, size_t feature);
/* The branch of a value; LEARN_NONE: it is unknown. */
int split_branch(const struct learn_table *table, size_t feature, double threshold, double value);
struct decision_split split_best(const struct split_cases *cases, size_t feature);
/* That of all of a table's cases. */
struct decision_split split_of_table(const struct learn_table *table, size_t feature);

#endif
