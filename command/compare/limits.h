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
    LIMIT_WITHIN_NOISE, /* the medians exceed the limit, but chance may explain it */
    LIMIT_TOO_SMALL,    /* exceeded by less than the least share of the effort */
    LIMIT_EXCEEDED,
    LIMIT_NO_CONTEXT, /* no context has a matching name, so nothing was compared */
};

struct limit {
    const char *text; /* as the user gave it */
    bool wall;        /* limits the wall time instead of a metric */
    enum metric metric;
    bool selects; /* limits only contexts that match `regex` */
    regex_t regex;
    double percent;
    enum limit_verdict verdict;
    struct compare_change change;
    uint32_t culprit[LIMIT_CULPRITS]; /* contexts with the largest increases */
    double increase[LIMIT_CULPRITS];
    size_t culprit_count;
};

/* Parses a limit. Returns false with one line, without newline, in error[]. */
bool limit_read(struct limit *limit, const char *text, char *error, size_t error_bytes);
void limit_free(struct limit *limit);

/* Judges a comparison of row trees. Flat views do not work, because a function would count again in its
 * callers. least_percent: see comparison_least(); does not apply to the wall time. */
void limit_judge(struct limit *limit, const struct comparison *comparison, double least_percent);

/* Returns what is limited: "idleness of slow". The caller frees it. */
char *limit_subject(const struct limit *limit);

#endif
