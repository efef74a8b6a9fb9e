/* Limits on how much worse a program may become: METRIC=PERCENT, METRIC@REGEX=PERCENT. */
#ifndef BLAME_COMMAND_COMPARE_LIMITS_H
#define BLAME_COMMAND_COMPARE_LIMITS_H

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

#include "command/compare/compare.h"

#define LIMIT_CULPRITS 3

enum limit_verdict {
    LIMIT_KEPT,
    LIMIT_WITHIN_NOISE, /* the medians are above, but so might chance put them */
    LIMIT_TOO_SMALL,    /* above, but less than the least share of the whole effort */
    LIMIT_EXCEEDED,
    LIMIT_NO_CONTEXT, /* no context has such a name: nothing was compared */
};

struct limit {
    const char *text; /* as the user gave it */
    bool wall;        /* of the wall time, not of a metric */
    enum metric metric;
    bool selects; /* only contexts that match */
    regex_t regex;
    double percent;
    enum limit_verdict verdict;
    struct compare_change change;
    uint32_t culprit[LIMIT_CULPRITS]; /* contexts with the greatest increase */
    double increase[LIMIT_CULPRITS];
    size_t culprit_count;
};

/* Reads text. false after one line, without newline, in error[]. */
bool limit_read(struct limit *limit, const char *text, char *error, size_t error_bytes);
void limit_free(struct limit *limit);

/* Judges the comparison, which is of row trees, not of flat views: there a function is in its callers, too.
 * least_percent: see comparison_least(); not for the wall time. */
void limit_judge(struct limit *limit, const struct comparison *comparison, double least_percent);

/* "idleness of slow". malloc'ed. */
char *limit_subject(const struct limit *limit);

#endif
