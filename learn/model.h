/* Trees that foretell the best setting of a case from what is known of it: one for each dimension; and how well they do on cases that they have not
 * seen. */
#ifndef BLAME_LEARN_MODEL_H
#define BLAME_LEARN_MODEL_H

#include "learn/cases.h"
#include "learn/tree.h"

#define MODEL_FOLDS 10

/* Which facts are features. */
enum model_use {
    MODEL_BEFORE, /* known before a run: of the input, of the program's parameters, of the machine */
    MODEL_EARLY,  /* and the shares that a profile of the default has */
};

/* Over cases left out in turn. Lost: seconds above those of the best setting that was tried, in per cent of these. */
struct model_error {
    size_t cases, groups, folds;
    bool by_application;         /* a group is an application; otherwise an input */
    size_t *wrong, *usual_wrong; /* of each dimension: cases of which the tree, or the default, is not the best */
    double lost, usual_lost;
    double gain, low, high;      /* what the default loses more, and its 95 % interval over groups */
    size_t untried;              /* settings foretold that were not tried in their case */
    bool better;                 /* the interval lies above 0 */
};

struct model {
    const struct learn_cases *cases;
    size_t *used; /* cases: those in which the default was tried */
    size_t count;
    struct learn_table *table; /* of each dimension; features are the same in all */
    struct decision **tree;
    struct model_error error;
};

struct model *model_learn(const struct learn_cases *cases, enum model_use use);
void model_free(struct model *model);

/* What a model says of a new case. */
struct guess {
    const char *dimension, *value; /* until the cases are freed */
    double confidence;             /* that it is the best one of its dimension: pessimistic, of 1 */
};

/* Each dimension's value for what is known of a case; room for cases->dimensions. facts: of which none need be there. */
void model_guess(const struct model *model, const struct learn_facts *facts, struct guess *guess);

#endif
