/* Limits on how much worse a program may become, given as METRIC=PERCENT or METRIC@REGEX=PERCENT. */
#ifndef BLAME_COMMAND_COMPARE_LIMITS_H
#define BLAME_COMMAND_COMPARE_LIMITS_H

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

#include "command/compare/compare.h"

#define LIMIT_CULPRITS 3

enum limit_verdict {
    LIMIT_KEPT,
    LIMIT_WITHIN_NOISE, /* the medians exceed the limit, but chance may be the reason */
    /* the limit is exceeded, but by a change that is too small to count (comparison_least()) */
    LIMIT_TOO_SMALL,
    LIMIT_EXCEEDED,
    LIMIT_NO_CONTEXT, /* no context has a matching name, so nothing could be compared */
};

struct limit {
    const char *text; /* text of the limit as the user gave it */
    bool wall;        /* whether the limit is on the wall time instead of a metric */
    enum metric metric;
    bool selects; /* whether the limit is on contexts that match `regex` instead of the whole program */
    regex_t regex;
    double percent;
    enum limit_verdict verdict;
    struct compare_change change;
    uint32_t culprit[LIMIT_CULPRITS]; /* contexts with the largest increases */
    double increase[LIMIT_CULPRITS];
    size_t culprit_count;
};

/* Reads a limit from its text. On failure, returns false and writes one line, without a newline, to error[]. */
bool limit_read(struct limit *limit, const char *text, char *error, size_t error_bytes);
void limit_free(struct limit *limit);

/* Judges whether a limit holds in a comparison. The comparison must be of trees of rows: in flat views, a
 * function would also count in its callers. least_percent: as for comparison_least(); not used for the wall
 * time. */
void limit_judge(struct limit *limit, const struct comparison *comparison, double least_percent);

/* Returns what the limit applies to, such as "idleness of slow". The caller frees the text. */
char *limit_subject(const struct limit *limit);

#endif
