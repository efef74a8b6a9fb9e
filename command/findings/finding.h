/* A finding: what the numbers of a run say. */
#ifndef BLAME_COMMAND_FINDINGS_FINDING_H
#define BLAME_COMMAND_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/rows/error.h"

struct finding {
    const char *rule;         /* a stable word: "serial", "imbalance", ...: docs/findings.md has them all */
    uint32_t row;             /* the context with the most of it, ROW_NONE: the whole program */
    enum metric metric;       /* what `seconds` are of */
    double seconds;           /* thread-seconds of the metric, in all contexts that the finding is about */
    bool sampled;             /* they are a sum over samples */
    struct error_basis basis; /* then: of the same code, as far as it is known */
    double error;             /* and how far the seconds can be off, 95 % */
    double share;             /* the seconds in percent of findings.whole_s */
    double gain_s;            /* wall seconds that the run would be shorter at most; 0: no bound is known */
    char *title;              /* one line: "serial code keeps 7 of 8 threads idle" */
    char *evidence;           /* the numbers and the rule that they met */
    char *advice;             /* what to look at or to try */
    char *place;              /* "solve  solve.c:40  < main", "" for the whole program */
};

struct findings {
    struct finding *finding; /* the greatest share first */
    size_t count;
    double whole_s; /* what shares, and per cent in all their texts, are of: the program's effort */
};

#endif
