/* What the readers state of a figure: apart from the oracle, whose metrics have the same names. */
#include "tests/simulator/stated.h"

#include <math.h>
#include <string.h>

#include "command/rows/error.h"

double stated_error(const struct profile *profile, const char *name, double seconds, const struct profile_sums *sums)
{
    struct error_terms terms = error_terms_of(profile);
    enum metric metric = 0;
    while (metric < METRIC_NAMED && strcmp(name, metric_title(metric)) != 0)
        metric++;
    if (strcmp(name, "thread idleness") == 0)
        metric = METRIC_THREAD_IDLENESS;
    else if (metric == METRIC_NAMED)
        return INFINITY; /* Reports state no error of this number. */
    return error_of(&terms, metric, seconds, error_basis_of(sums));
}
