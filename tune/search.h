/* Which setting of a program is run next, and what the times of the runs say. Pure: it runs nothing and knows no clock; the same seed and the same
 * times give the same search. docs/tuning.md has the procedure, and how often it errs. */
#ifndef BLAME_TUNE_SEARCH_H
#define BLAME_TUNE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_DIMENSIONS 16
#define SEARCH_VALUES     32

/* Of each dimension value 0 is the default. */
struct search_dimension {
    size_t values;
    bool ordered; /* what lies between two values behaves between them */
};

struct search_plan {
    const struct search_dimension *dimension;
    const size_t *order; /* in which dimensions are tried: those of this list alone */
    size_t count, order_count;
    const size_t *guess; /* a setting to try first; NULL: none */
    size_t runs;         /* at most so many in all */
    size_t pairs;        /* of the default and the best, in which the gain is measured */
    double least;        /* a gain below it is not looked for: 0.01 is 1 % */
    uint64_t seed;
};

/* Numbers of values, by dimension. */
struct search_setting {
    size_t value[SEARCH_DIMENSIONS];
};

enum search_verdict {
    SEARCH_AS_IT_IS,    /* nothing was faster than the default */
    SEARCH_GAIN,        /* a setting is, beyond chance */
    SEARCH_NOT_SHOWN,   /* one seemed to be; the pairs do not show it */
    SEARCH_FAILS,       /* one seemed to be, and failed when it was run again */
    SEARCH_UNCONFIRMED, /* one seems to be; the pairs were not run to their end */
    SEARCH_FAILED,      /* the default did not run */
};

struct search_result {
    enum search_verdict verdict;
    struct search_setting best;
    double gain, low, high; /* part of the default's time: the mean of the pairs, and its 95 % interval; of pairs that there were */
    double default_s;       /* geometric mean of the pairs' default runs */
    size_t pairs, runs;
};

/* What became of a dimension. */
struct search_tried {
    size_t values;  /* of it that were run */
    size_t best;    /* of these the best */
    double change;  /* its time against that of the setting which it was held against: -0.1 is 10 % less */
    bool taken;
};

struct search;

/* plan is copied, what it points to is not. */
struct search *search_begin(const struct search_plan *plan);
void search_end(struct search *search);

/* The setting to run now; the same until its time is told. false: there is none. */
bool search_next(struct search *search, struct search_setting *setting);
/* Wall time of that run; NAN: it failed. */
void search_tell(struct search *search, double seconds);
/* Looks for nothing more: the best so far is held against the default. */
void search_hurry(struct search *search);
/* Whether it is in that last part. */
bool search_confirms(const struct search *search);

void search_judge(const struct search *search, struct search_result *result);
struct search_tried search_tried_of(const struct search *search, size_t dimension);

#endif
