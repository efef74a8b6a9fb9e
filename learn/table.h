/* What is learned from: cases with features, of which some may be unknown, and a class each. */
#ifndef BLAME_LEARN_TABLE_H
#define BLAME_LEARN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define LEARN_NONE (-1) /* no such word, no class */

struct words {
    char **word;
    size_t count, room;
};

/* The number of a word, which is put behind the others if it is not there. */
int words_put(struct words *words, const char *word);
int words_find(const struct words *words, const char *word); /* LEARN_NONE: it is not there */
void words_free(struct words *words);

struct learn_feature {
    char *name;
    bool numeric;
    struct words words; /* of one that is not: a case's value is the number of a word */
};

struct learn_table {
    struct learn_feature *feature;
    size_t feature_count, feature_room;
    double *value; /* case by case, a value for each feature; NAN: unknown */
    int *label;    /* each case's class */
    size_t count;  /* of cases */
    struct words classes;
};

double learn_value(const struct learn_table *table, size_t at, size_t feature);
void learn_table_free(struct learn_table *table);

#endif
