#include "learn/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/chance.h"
#include "report/text/memory.h"

#define TAIL        0.025 /* of a 95 % interval on each side */
#define LEAST_GROUPS 3

static bool is_feature(const char *name, enum model_use use)
{
    return use == MODEL_EARLY || strncmp(name, "share.", 6) != 0;
}

/* In the order of their names: the same cases give the same trees, in whatever order they were tried. */
static int compare_features(const void *left, const void *right)
{
    return strcmp(((const struct learn_feature *)left)->name, ((const struct learn_feature *)right)->name);
}

/* A feature is a number if it is one in all cases. */
static void gather_features(struct learn_table *table, const struct model *model, enum model_use use)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct learn_facts *facts = &model->cases->item[model->used[i]].facts;
        for (size_t j = 0; j < facts->count; j++) {
            struct learn_feature *feature = NULL;
            for (size_t k = 0; k < table->feature_count && !feature; k++)
                feature = strcmp(table->feature[k].name, facts->item[j].name) == 0 ? &table->feature[k] : NULL;
            if (!feature && is_feature(facts->item[j].name, use)) {
                memory_grow(&table->feature, &table->feature_room, table->feature_count, sizeof *table->feature);
                feature = &table->feature[table->feature_count++];
                *feature = (struct learn_feature){.name = memory_text("%s", facts->item[j].name), .numeric = true};
            }
            if (feature)
                feature->numeric &= isfinite(facts->item[j].number);
        }
    }
    if (table->feature_count)
        qsort(table->feature, table->feature_count, sizeof *table->feature, compare_features);
}

/* A word that is not known is not put there: NAN, as what is unknown. */
static double value_of(const struct learn_feature *feature, const struct learn_facts *facts)
{
    const struct learn_fact *fact = facts_find(facts, feature->name);
    if (!fact)
        return NAN;
    if (feature->numeric)
        return fact->number;
    int word = words_find(&feature->words, fact->text);
    return word == LEARN_NONE ? NAN : word;
}

static void fill_table(struct learn_table *table, const struct model *model, size_t dimension, enum model_use use)
{
    const struct words *values = &model->cases->dimension[dimension].values;
    gather_features(table, model, use);
    table->count = model->count;
    table->value = memory_array(model->count * table->feature_count + 1, sizeof *table->value);
    table->label = memory_array(model->count + 1, sizeof *table->label);
    for (size_t i = 0; i < values->count; i++)
        words_put(&table->classes, values->word[i]);
    for (size_t i = 0; i < model->count; i++) {
        const struct learn_case *of = &model->cases->item[model->used[i]];
        table->label[i] = of->best[dimension];
        for (size_t j = 0; j < table->feature_count; j++) {
            struct learn_feature *feature = &table->feature[j];
            const struct learn_fact *fact = facts_find(&of->facts, feature->name);
            if (fact && !feature->numeric)
                words_put(&feature->words, fact->text);
            table->value[i * table->feature_count + j] = value_of(feature, &of->facts);
        }
    }
}

/* ---- cases that trees have not seen ---- */

/* The group of each case: with several applications its application, otherwise its input. Returns how many there are. */
static size_t group_cases(const struct model *model, size_t *group, bool *by_application)
{
    struct words words = {0};
    for (size_t i = 0; i < model->count; i++)
        words_put(&words, model->cases->item[model->used[i]].application);
    *by_application = words.count > 1;
    words_free(&words);
    for (size_t i = 0; i < model->count; i++) {
        const struct learn_case *of = &model->cases->item[model->used[i]];
        char *text;
        FILE *out = memory_stream(&text);
        const struct learn_table *table = model->table;
        if (*by_application)
            fputs(of->application, out);
        for (size_t j = 0; !*by_application && j < table->feature_count; j++)
            if (strncmp(table->feature[j].name, "share.", 6) != 0)
                fprintf(out, "%.17g\n", learn_value(table, i, j));
        memory_stream_close(out);
        group[i] = (size_t)words_put(&words, text);
        free(text);
    }
    size_t count = words.count;
    words_free(&words);
    return count;
}

struct loss {
    double tree, usual, cases; /* of a group */
};

/* What the trees of the other cases would have cost in one. */
static void try_case(const struct model *model, size_t at, struct decision *const *tree, struct loss *loss, struct model_error *error)
{
    const struct learn_case *of = &model->cases->item[model->used[at]];
    size_t dimensions = model->cases->dimensions;
    int *value = memory_array(dimensions + 1, sizeof *value), *usual = memory_array(dimensions + 1, sizeof *usual);
    bool tried, usual_tried;
    for (size_t i = 0; i < dimensions; i++) {
        const struct learn_table *table = &model->table[i];
        value[i] = decision_classify(tree[i], &table->value[at * table->feature_count], NULL);
        error->wrong[i] += value[i] != of->best[i];
        error->usual_wrong[i] += of->best[i] != 0;
    }
    double best = of->setting[of->chosen].typical;
    loss->tree += 100 * (case_seconds(of, value, dimensions, &tried) / best - 1);
    loss->usual += 100 * (case_seconds(of, usual, dimensions, &usual_tried) / best - 1);
    loss->cases++;
    error->untried += !tried;
    free(value);
    free(usual);
}

static void try_fold(const struct model *model, size_t fold, const size_t *group, struct loss *loss, struct model_error *error)
{
    size_t dimensions = model->cases->dimensions, count = 0, *rest = memory_array(model->count + 1, sizeof *rest);
    struct decision **tree = memory_array(dimensions + 1, sizeof(struct decision *));
    for (size_t i = 0; i < model->count; i++)
        if (group[i] % error->folds != fold)
            rest[count++] = i;
    for (size_t i = 0; i < dimensions; i++)
        tree[i] = decision_grow(&model->table[i], rest, count);
    for (size_t i = 0; i < model->count; i++)
        if (group[i] % error->folds == fold)
            try_case(model, i, tree, &loss[group[i]], error);
    for (size_t i = 0; i < dimensions; i++)
        decision_free(tree[i]);
    free(tree);
    free(rest);
}

/* Cases of one group resemble each other: the mean and its interval are of the groups' means. */
static void sum_up(struct model_error *error, const struct loss *loss)
{
    double n = (double)error->groups, squares = 0;
    for (size_t i = 0; i < error->groups; i++) {
        error->lost += loss[i].tree / loss[i].cases / n;
        error->usual_lost += loss[i].usual / loss[i].cases / n;
    }
    error->gain = error->usual_lost - error->lost;
    for (size_t i = 0; i < error->groups; i++)
        squares += pow((loss[i].usual - loss[i].tree) / loss[i].cases - error->gain, 2);
    double half = error->groups > 1 ? chance_student(TAIL, n - 1) * sqrt(squares / (n - 1) / n) : INFINITY;
    error->low = error->gain - half;
    error->high = error->gain + half;
    error->better = error->groups >= LEAST_GROUPS && error->low > 0;
}

static void validate(struct model *model)
{
    struct model_error *error = &model->error;
    size_t *group = memory_array(model->count + 1, sizeof *group), dimensions = model->cases->dimensions;
    error->wrong = memory_array(dimensions + 1, sizeof *error->wrong);
    error->usual_wrong = memory_array(dimensions + 1, sizeof *error->usual_wrong);
    error->cases = model->count;
    error->groups = dimensions ? group_cases(model, group, &error->by_application) : 0;
    error->folds = error->by_application || error->groups < MODEL_FOLDS ? error->groups : MODEL_FOLDS;
    if (error->groups > 1) {
        struct loss *loss = memory_array(error->groups, sizeof *loss);
        for (size_t i = 0; i < error->folds; i++)
            try_fold(model, i, group, loss, error);
        sum_up(error, loss);
        free(loss);
    }
    free(group);
}

struct model *model_learn(const struct learn_cases *cases, enum model_use use)
{
    struct model *model = memory_array(1, sizeof *model);
    model->cases = cases;
    model->used = memory_array(cases->count + 1, sizeof *model->used);
    for (size_t i = 0; i < cases->count; i++)
        if (cases->item[i].best)
            model->used[model->count++] = i;
    model->table = memory_array(cases->dimensions + 1, sizeof *model->table);
    model->tree = memory_array(cases->dimensions + 1, sizeof(struct decision *));
    for (size_t i = 0; i < cases->dimensions; i++) {
        fill_table(&model->table[i], model, i, use);
        model->tree[i] = decision_grow(&model->table[i], NULL, 0);
    }
    validate(model);
    return model;
}

void model_guess(const struct model *model, const struct learn_facts *facts, struct guess *guess)
{
    for (size_t i = 0; i < model->cases->dimensions; i++) {
        const struct learn_table *table = &model->table[i];
        double *value = memory_array(table->feature_count + 1, sizeof *value);
        for (size_t j = 0; j < table->feature_count; j++)
            value[j] = value_of(&table->feature[j], facts);
        guess[i].dimension = model->cases->dimension[i].name;
        guess[i].value = table->classes.word[decision_classify(model->tree[i], value, &guess[i].confidence)];
        free(value);
    }
}

void model_free(struct model *model)
{
    for (size_t i = 0; i < model->cases->dimensions; i++) {
        decision_free(model->tree[i]);
        learn_table_free(&model->table[i]);
    }
    free(model->error.wrong);
    free(model->error.usual_wrong);
    free(model->tree);
    free(model->table);
    free(model->used);
    free(model);
}
