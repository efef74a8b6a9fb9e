/* How a quantity grows with the number of threads (or of whatever else runs differ in): f(p) = a + b p^i log2(p)^j, the normal form of one
 * term of Calotoiu, Hoefler, Poke and Wolf (SC 2013), which Extra-P searches. Which (i, j) the data allow is said, not only which fits best. */
#ifndef BLAME_COMPARE_SCALING_FIT_H
#define BLAME_COMPARE_SCALING_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define SCALING_FORMS 30 /* the constant and 29 others */

/* At which p there are values, one for each run; what of it does not depend on the values. */
struct scaling_design {
    size_t count;    /* of values */
    size_t distinct; /* of different p */
    double *term[SCALING_FORMS]; /* p^i log2(p)^j by value; none of the constant */
    double chance; /* what part of the squares the best form explains in one of twenty quantities that do not grow */
};

struct scaling_fit {
    size_t form;         /* 0: constant, or the data do not show that it is not */
    double a, b;         /* of that form */
    double explained;    /* part of the squares of the values around their mean, by the best form */
    size_t allowed;      /* so many forms are not told apart from the best */
    double at;           /* the value at the p asked for, */
    double low, high;    /* and between which limits the allowed forms have it: each one's 95 % interval of the mean */
};

/* false: fewer than three different p. */
bool scaling_design_begin(struct scaling_design *design, const double *p, size_t count);
void scaling_design_end(struct scaling_design *design);

/* Of design->count values; what it will be at another p. */
struct scaling_fit scaling_fit_of(const struct scaling_design *design, const double *value, double at_p);

/* "0.21 + 0.003 p^1.5 log p", "0.21"; malloc'ed. */
char *scaling_fit_text(const struct scaling_fit *fit, const char *p);

#endif
