/* What the readers state of a figure: apart from the oracle, whose metrics have the same names. */
#include "tests/simulator/stated.h"

#include <math.h>
#include <string.h>

#include "command/rows/error.h"

double stated_error(const struct profile *profile, const char *name, double seconds, double own, double idle_beside)
{
    if (strcmp(name, "rank wait") == 0)
        return INFINITY; /* nothing is stated */
    struct error_terms terms = error_terms_of(profile);
    enum metric metric = METRIC_WORK; /* idle and parked time of threads weighs as much */
    for (enum metric named = 0; named < METRIC_NAMED; named++)
        if (strcmp(name, metric_title(named)) == 0)
            metric = named;
    if (strcmp(name, "thread idleness") == 0)
        metric = METRIC_THREAD_IDLENESS;
    return error_of(&terms, metric, seconds, (struct error_basis){own, idle_beside});
}
