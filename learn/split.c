#include "learn/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

#define TINY         1e-9
#define PART_LEAST   0.1 /* of the mean class: least of a side of a threshold, between SPLIT_LEAST and MOST_LEAST */
#define MOST_LEAST   25

double split_entropy(const double *of_class, size_t classes)
{
    double weight = 0, sum = 0;
    for (size_t i = 0; i < classes; i++) {
        weight += of_class[i];
        sum -= of_class[i] > 0 ? of_class[i] * log2(of_class[i]) : 0;
    }
    return weight > 0 ? sum + weight * log2(weight) : 0;
}

void split_count(struct split_cases *cases)
{
    memset(cases->of_class, 0, cases->table->classes.count * sizeof *cases->of_class);
    cases->weight = 0;
    for (size_t i = 0; i < cases->count; i++) {
        cases->of_class[cases->table->label[cases->item[i].at]] += cases->item[i].weight;
        cases->weight += cases->item[i].weight;
    }
}

size_t split_branches(const struct learn_table *table, size_t feature)
{
    return table->feature[feature].numeric ? 2 : table->feature[feature].words.count;
}

int split_branch(const struct learn_table *table, size_t feature, double threshold, double value)
{
    if (!isfinite(value))
        return LEARN_NONE;
    if (table->feature[feature].numeric)
        return value > threshold;
    return value >= 0 && value < (double)table->feature[feature].words.count ? (int)value : LEARN_NONE;
}

/* What branches, and the unknown as one more, tell by themselves. */
static double information_of(const double *weight, size_t count, double all)
{
    return split_entropy(weight, count) / all;
}

/* ---- words ---- */

static struct decision_split split_words(const struct split_cases *cases, size_t feature)
{
    const struct learn_table *table = cases->table;
    size_t words = table->feature[feature].words.count, classes = table->classes.count, filled = 0;
    double *in_branch = memory_array((words + 1) * classes, sizeof *in_branch), *weight = memory_array(words + 1, sizeof *weight);
    double *known = memory_array(classes, sizeof *known);
    for (size_t i = 0; i < cases->count; i++) {
        int branch = split_branch(table, feature, 0, learn_value(table, cases->item[i].at, feature));
        size_t to = branch == LEARN_NONE ? words : (size_t)branch;
        in_branch[to * classes + (size_t)table->label[cases->item[i].at]] += cases->item[i].weight;
        weight[to] += cases->item[i].weight;
    }
    double left = 0, all_known = cases->weight - weight[words];
    for (size_t i = 0; i < words; i++) {
        filled += weight[i] >= SPLIT_LEAST - TINY;
        left += split_entropy(in_branch + i * classes, classes);
        for (size_t j = 0; j < classes; j++)
            known[j] += in_branch[i * classes + j];
    }
    struct decision_split split = {.possible = filled >= 2};
    split.gain = all_known > 0 ? (split_entropy(known, classes) - left) / cases->weight : 0;
    split.information = information_of(weight, words + 1, cases->weight);
    free(in_branch);
    free(weight);
    free(known);
    return split;
}

/* ---- numbers ---- */

struct number {
    double value, weight;
    size_t label;
};

static int compare_numbers(const void *left, const void *right)
{
    const struct number *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

struct scan {
    struct number *number;
    size_t count, classes;
    double *below, *above; /* weights by class */
    double known, below_weight;
};

static void scan_begin(struct scan *scan, const struct split_cases *cases, size_t feature)
{
    const struct learn_table *table = cases->table;
    scan->classes = table->classes.count;
    scan->number = memory_array(cases->count + 1, sizeof *scan->number);
    scan->below = memory_array(scan->classes, sizeof *scan->below);
    scan->above = memory_array(scan->classes, sizeof *scan->above);
    for (size_t i = 0; i < cases->count; i++) {
        double value = learn_value(table, cases->item[i].at, feature);
        if (!isfinite(value))
            continue;
        size_t label = (size_t)table->label[cases->item[i].at];
        scan->number[scan->count++] = (struct number){value, cases->item[i].weight, label};
        scan->above[label] += cases->item[i].weight;
        scan->known += cases->item[i].weight;
    }
    qsort(scan->number, scan->count, sizeof *scan->number, compare_numbers);
}

static void scan_end(struct scan *scan)
{
    free(scan->number);
    free(scan->below);
    free(scan->above);
}

/* Thresholds lie in the middle between values that follow each other. What may choose among many gains by chance: as much as the choice tells is
 * taken off (Quinlan 1996). */
static struct decision_split split_numbers(const struct split_cases *cases, size_t feature)
{
    struct scan scan = {0};
    struct decision_split best = {0};
    size_t tries = 0;
    scan_begin(&scan, cases, feature);
    double least = fmin(fmax(PART_LEAST * scan.known / (double)scan.classes, SPLIT_LEAST), MOST_LEAST) - TINY;
    double before = split_entropy(scan.above, scan.classes), least_left = INFINITY, low_weight = 0;
    for (size_t i = 0; i + 1 < scan.count; i++) {
        const struct number *number = &scan.number[i];
        scan.below[number->label] += number->weight;
        scan.above[number->label] -= number->weight;
        scan.below_weight += number->weight;
        if (!(number->value < number[1].value) || scan.below_weight < least || scan.known - scan.below_weight < least)
            continue;
        double left = split_entropy(scan.below, scan.classes) + split_entropy(scan.above, scan.classes);
        tries++;
        if (left < least_left - TINY) {
            least_left = left;
            low_weight = scan.below_weight;
            best.threshold = number->value + 0.5 * (number[1].value - number->value);
        }
    }
    best.possible = tries > 0;
    if (tries) {
        best.gain = (before - least_left - log2((double)tries)) / cases->weight;
        best.information = information_of((const double[]){low_weight, scan.known - low_weight, cases->weight - scan.known}, 3, cases->weight);
    }
    scan_end(&scan);
    return best;
}

struct decision_split split_best(const struct split_cases *cases, size_t feature)
{
    return cases->table->feature[feature].numeric ? split_numbers(cases, feature) : split_words(cases, feature);
}

struct decision_split split_of_table(const struct learn_table *table, size_t feature)
{
    struct split_cases cases = {.table = table, .count = table->count};
    cases.item = memory_array(table->count + 1, sizeof *cases.item);
    cases.of_class = memory_array(table->classes.count + 1, sizeof *cases.of_class);
    for (size_t i = 0; i < table->count; i++)
        cases.item[i] = (struct split_case){i, 1};
    split_count(&cases);
    struct decision_split split = split_best(&cases, feature);
    free(cases.item);
    free(cases.of_class);
    return split;
}
