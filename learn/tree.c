#include "learn/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/chance.h"
#include "learn/split.h"
#include "report/text/memory.h"

#define TINY  1e-9
#define SLACK 1e-3 /* below the mean gain */
#define PRUNE 0.1  /* errors that a subtree must save */

/* A node beside the last one: a leaf, with what came to it. */
static size_t add_leaf(struct decision *tree, const struct split_cases *cases, const struct decision_node *above)
{
    size_t classes = tree->table->classes.count, begin = tree->count * classes, best = 0;
    memory_grow(&tree->node, &tree->room, tree->count, sizeof *tree->node);
    for (size_t i = 0; i < classes; i++) {
        memory_grow(&tree->share, &tree->share_room, begin + i, sizeof *tree->share);
        tree->share[begin + i] = cases->of_class[i];
        best = cases->of_class[i] > cases->of_class[best] + TINY ? i : best;
    }
    bool empty = cases->weight < TINY && above;
    tree->node[tree->count] = (struct decision_node){.feature = DECISION_LEAF, .weight = cases->weight, .classes = begin};
    tree->node[tree->count].label = empty ? above->label : (int)best;
    tree->node[tree->count].errors = cases->weight - (cases->weight > 0 ? cases->of_class[best] : 0);
    return tree->count++;
}

/* Of the features whose gain is at least the mean one, that with the best ratio. LEARN_NONE: none gains. */
static int choose_feature(const struct split_cases *cases, struct decision_split *chosen)
{
    size_t count = cases->table->feature_count, useful = 0;
    struct decision_split *split = memory_array(count + 1, sizeof *split);
    double sum = 0, best = 0;
    int feature = LEARN_NONE;
    for (size_t i = 0; i < count; i++) {
        split[i] = split_best(cases, i);
        if (split[i].possible && split[i].gain > TINY && split[i].information > TINY) {
            sum += split[i].gain;
            useful++;
        } else
            split[i].possible = false;
    }
    for (size_t i = 0; i < count; i++) {
        double ratio = split[i].possible ? split[i].gain / split[i].information : 0;
        if (split[i].possible && split[i].gain >= sum / (double)useful - SLACK && ratio > best + TINY) {
            best = ratio;
            feature = (int)i;
            *chosen = split[i];
        }
    }
    free(split);
    return feature;
}

/* Known weight of each branch; the last: all of it. */
static double *weigh_branches(const struct split_cases *cases, size_t feature, double threshold)
{
    size_t branches = split_branches(cases->table, feature);
    double *weight = memory_array(branches + 1, sizeof *weight);
    for (size_t i = 0; i < cases->count; i++) {
        int to = split_branch(cases->table, feature, threshold, learn_value(cases->table, cases->item[i].at, feature));
        if (to != LEARN_NONE) {
            weight[to] += cases->item[i].weight;
            weight[branches] += cases->item[i].weight;
        }
    }
    return weight;
}

/* Those of a branch, and of the unknown each as much as of the known is there. */
static void take_branch(const struct split_cases *cases, size_t feature, double threshold, int branch, double part, struct split_cases *taken)
{
    *taken = (struct split_cases){.table = cases->table};
    taken->item = memory_array(cases->count + 1, sizeof *taken->item);
    taken->of_class = memory_array(cases->table->classes.count, sizeof *taken->of_class);
    for (size_t i = 0; i < cases->count; i++) {
        int to = split_branch(cases->table, feature, threshold, learn_value(cases->table, cases->item[i].at, feature));
        double weight = to == branch ? cases->item[i].weight : to == LEARN_NONE ? part * cases->item[i].weight : 0;
        if (weight > TINY)
            taken->item[taken->count++] = (struct split_case){cases->item[i].at, weight};
    }
    split_count(taken);
}

static void grow(struct decision *tree, size_t at, const struct split_cases *cases)
{
    struct decision_split split;
    if (tree->node[at].errors < TINY || cases->weight < 2 * SPLIT_LEAST - TINY)
        return;
    int feature = choose_feature(cases, &split);
    if (feature == LEARN_NONE)
        return;
    size_t branches = split_branches(tree->table, (size_t)feature), first = tree->count;
    double *weight = weigh_branches(cases, (size_t)feature, split.threshold);
    struct split_cases *part = memory_array(branches, sizeof *part);
    struct decision_node above = tree->node[at];
    for (size_t i = 0; i < branches; i++) {
        take_branch(cases, (size_t)feature, split.threshold, (int)i, weight[i] / weight[branches], &part[i]);
        tree->node[add_leaf(tree, &part[i], &above)].part = weight[i] / weight[branches];
    }
    tree->node[at].feature = feature;
    tree->node[at].threshold = split.threshold;
    tree->node[at].child = first;
    tree->node[at].branches = branches;
    for (size_t i = 0; i < branches; i++) {
        grow(tree, first + i, &part[i]);
        free(part[i].item);
        free(part[i].of_class);
    }
    free(part);
    free(weight);
}

static double pessimistic(const struct decision_node *node)
{
    return node->weight > TINY ? node->weight * chance_upper(node->errors, node->weight, DECISION_CF) : 0;
}

/* A subtree that is not expected to err less than a leaf in its place becomes one. Returns the errors expected. */
static double prune(struct decision *tree, size_t at)
{
    struct decision_node *node = &tree->node[at];
    double leaf = pessimistic(node), below = 0;
    if (node->feature == DECISION_LEAF)
        return leaf;
    for (size_t i = 0; i < node->branches; i++)
        below += prune(tree, node->child + i);
    if (leaf > below + PRUNE)
        return below;
    node->feature = DECISION_LEAF;
    node->branches = 0;
    return leaf;
}

struct decision *decision_grow(const struct learn_table *table, const size_t *cases, size_t count)
{
    struct decision *tree = memory_array(1, sizeof *tree);
    struct split_cases all = {.table = table, .count = cases ? count : table->count};
    tree->table = table;
    all.item = memory_array(all.count + 1, sizeof *all.item);
    all.of_class = memory_array(table->classes.count + 1, sizeof *all.of_class);
    for (size_t i = 0; i < all.count; i++)
        all.item[i] = (struct split_case){cases ? cases[i] : i, 1};
    split_count(&all);
    grow(tree, add_leaf(tree, &all, NULL), &all);
    prune(tree, 0);
    free(all.item);
    free(all.of_class);
    return tree;
}

void decision_free(struct decision *tree)
{
    if (!tree)
        return;
    free(tree->node);
    free(tree->share);
    free(tree);
}

/* Of a case whose value is unknown each branch gets its part. */
static void descend(const struct decision *tree, size_t at, const double *value, double part, double *of_class, double *errors)
{
    const struct decision_node *node = &tree->node[at];
    if (node->feature != DECISION_LEAF) {
        int branch = split_branch(tree->table, (size_t)node->feature, node->threshold, value[node->feature]);
        for (size_t i = 0; i < node->branches; i++)
            if (branch == LEARN_NONE ? tree->node[node->child + i].part > 0 : (int)i == branch)
                descend(tree, node->child + i, value, branch == LEARN_NONE ? part * tree->node[node->child + i].part : part, of_class, errors);
        return;
    }
    if (node->weight < TINY)
        of_class[node->label] += part;
    for (size_t i = 0; node->weight >= TINY && i < tree->table->classes.count; i++)
        of_class[i] += part * tree->share[node->classes + i] / node->weight;
    *errors += part * (node->weight < TINY ? 1 : chance_upper(node->errors, node->weight, DECISION_CF));
}

int decision_classify(const struct decision *tree, const double *value, double *confidence)
{
    double *of_class = memory_array(tree->table->classes.count + 1, sizeof *of_class), errors = 0;
    size_t best = 0;
    descend(tree, 0, value, 1, of_class, &errors);
    for (size_t i = 1; i < tree->table->classes.count; i++)
        best = of_class[i] > of_class[best] + TINY ? i : best;
    free(of_class);
    if (confidence)
        *confidence = 1 - errors;
    return (int)best;
}
