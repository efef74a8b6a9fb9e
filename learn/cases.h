/* Searches for the best setting, as what is learned from: of each what was known of its input, what was tried, and what is best beyond chance. */
#ifndef BLAME_LEARN_CASES_H
#define BLAME_LEARN_CASES_H

#include "learn/table.h"

#define LEARN_DEFAULT "default" /* of a dimension: as the program, or its user, has it */
#define LEARN_LEVEL   0.05      /* of all settings of a case together: by chance one is called better than the default in one of 20 */

/* "input.size", "parameter.size", "machine.cores", "share.idleness" */
struct learn_fact {
    char *name, *text;
    double number; /* NAN: it is none */
    bool doubtful; /* a case's runs differ in it */
};

struct learn_facts {
    struct learn_fact *item;
    size_t count, room;
};

struct learn_setting {
    int *value; /* of each dimension the number of a word */
    double *seconds;
    size_t runs, room;
    bool profiled; /* all these runs were: it has no others */
    double typical; /* their median */
};

struct learn_case {
    char *key, *application;
    struct learn_facts facts;
    struct learn_setting *setting;
    size_t count, room;
    int *best;     /* a value for each dimension: of a setting that was tried; NULL: the default was not */
    size_t chosen; /* that setting */
    double spread; /* of the logarithms of a setting's seconds, all settings' together, with this freedom */
    size_t freedom;
};

/* A dimension's values: the first word is the default. */
struct learn_dimension {
    char *name;
    struct words values;
};

struct learn_cases {
    struct learn_dimension *dimension;
    size_t dimensions, dimension_room;
    struct learn_case *item;
    size_t count, room;
};

/* number: NAN for text. Said again with another value it is doubtful. */
void facts_say(struct learn_facts *facts, const char *name, const char *text, double number);
const struct learn_fact *facts_find(const struct learn_facts *facts, const char *name); /* NULL: unknown, or doubtful */
void facts_end(struct learn_facts *facts);

/* The case of that key, which is made if it is not there. */
struct learn_case *cases_put(struct learn_cases *cases, const char *key, const char *application);
size_t cases_dimension(struct learn_cases *cases, const char *name);

/* value: of each of all dimensions, which are known by then. What a profiled run took counts where the setting has no other. */
void case_add_run(struct learn_case *of, const int *value, size_t dimensions, double seconds, bool profiled);
/* Once all runs are there. */
void cases_judge(struct learn_cases *cases);
/* What a setting takes in a case; if it was not tried, *tried is false, and it is the slowest of those that are most like it. */
double case_seconds(const struct learn_case *of, const int *value, size_t dimensions, bool *tried);
void cases_free(struct learn_cases *cases);

#endif
