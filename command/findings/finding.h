/* A finding: one conclusion from the numbers of a run. */
#ifndef BLAME_COMMAND_FINDINGS_FINDING_H
#define BLAME_COMMAND_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/rows/error.h"
#include "command/rows/label.h"

/* Where a finding stands in the list. */
enum finding_rank {
    FINDING_FIRST = -1, /* it makes the other findings doubtful */
    FINDING_OWN = 0,    /* about the program */
    FINDING_TIME = 1,   /* about when the run loses time, or without a place; another finding may say why */
    FINDING_LAST = 2,   /* about missing cores */
};

struct finding {
    /* name of the rule, for scripts: "serial", "imbalance", ... (docs/findings.md lists them) */
    const char *rule;
    /* the context with the largest part of `seconds`, or ROW_NONE for the whole program */
    uint32_t row;
    uint32_t call; /* the foreign row that the finding is about, called from `row`; 0: none */
    enum finding_rank rank;
    enum metric metric; /* the metric that `seconds` measures */
    double seconds;     /* thread-seconds of the metric, in all contexts that the finding covers */
    bool sampled;       /* whether `seconds` is a sum over samples */
    /* other times of the same code, from which the error is computed; used only if `sampled` */
    struct error_basis basis;
    double error; /* half-width of the 95 % interval of `seconds`; set only if `sampled` */
    double share; /* `seconds` as a percentage of findings.whole_s */
    /* upper bound on the seconds of run time that can be saved; 0: no bound is known */
    double gain_s;
    char *title;    /* one line: "serial code keeps 7 of 8 threads idle" */
    char *evidence; /* the numbers, and the threshold that they exceed */
    char *advice;   /* what to look at or to try */
    char *place;    /* the code, as "solve  solve.c:40  < main"; "" for the whole program */
};

struct findings {
    struct finding *finding; /* sorted by rank, then by share, largest first */
    size_t count;
    double whole_s; /* the program's effort in thread-seconds, of which all shares are percentages */
    double core_s;  /* the part of whole_s that had a core; a finding needs 5 % of it */
};

/* Returns the place of a finding whose row is not ROW_NONE, with as many callers as fit. The caller frees the text. */
static inline char *finding_place(const struct rows *rows, const struct finding *finding, size_t columns, bool utf8)
{
    return finding->call ? row_call_label(rows, finding->call, finding->metric, columns, utf8)
                         : row_own_label(rows, finding->row, finding->metric, columns, utf8);
}

#endif
