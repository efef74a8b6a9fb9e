/* A finding: one conclusion from the numbers of a run. */
#ifndef BLAME_COMMAND_FINDINGS_FINDING_H
#define BLAME_COMMAND_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/rows/error.h"

struct finding {
    /* name of the rule, for scripts: "serial", "imbalance", ... (docs/findings.md lists them) */
    const char *rule;
    /* the context with the largest part of `seconds`; ROW_NONE: the whole program */
    uint32_t row;
    enum metric metric;       /* the metric that `seconds` measures */
    double seconds;           /* thread-seconds of the metric, in all contexts that the finding covers */
    bool sampled;             /* `seconds` is a sum over samples */
    struct error_basis basis; /* the same code's other times, as far as known; used only if `sampled` */
    double error;             /* half-width of the 95 % interval of `seconds`; set only if `sampled` */
    double share;             /* `seconds` in percent of findings.whole_s */
    /* upper bound on the wall-clock seconds that can be saved; 0: no bound is known */
    double gain_s;
    char *title;    /* one line: "serial code keeps 7 of 8 threads idle" */
    char *evidence; /* the numbers, and the threshold that they exceed */
    char *advice;   /* what to look at or to try */
    char *place;    /* "solve  solve.c:40  < main"; "" for the whole program */
};

struct findings {
    struct finding *finding; /* sorted by share, largest first */
    size_t count;
    double whole_s; /* the program's effort in thread-seconds: the whole of all shares and percentages */
};

#endif
