/* The run in a few windows of time, each of some of the profile's bins: what is exact in each, and what the bins say. */
#ifndef BLAME_TESTS_SIMULATOR_WINDOWS_H
#define BLAME_TESTS_SIMULATOR_WINDOWS_H

#include "command/profile/profile.h"
#include "tests/simulator/oracle.h"

#define WINDOWS         5u
#define WINDOW_CONTEXTS 10u /* the first of them have figures */

/* The metrics that something adds to: few of them. */
struct weighed {
    int count, metric[METRIC_COUNT];
};

struct weighed windows_weighed(const double weight[METRIC_COUNT]);

/* Before the oracle integrates; of a profile without bins, or NULL: there are no windows. */
void windows_begin(const struct profile *profile);

/* An interval in which nothing changes: what a thread adds to a context. */
void windows_add(uint32_t context, const double *weight, const struct weighed *weighed, uint64_t begin_ns,
                 uint64_t end_ns);

uint32_t windows_count(void);
const struct exact *windows_exact(uint32_t context, uint32_t window);

/* The same as the bins have it, in nanoseconds: of the program the states of its lanes, of contexts the idleness blamed on them. With locks the
 * latter is not claimed: it is booked when the holder is sampled, or releases the lock. */
double windows_measured(const struct profile *profile, const uint32_t *contexts, uint32_t context, uint32_t window,
                        enum exact_metric metric);

/* The bins add up to the sums that are there, of threads and of contexts; "", or what does not. */
const char *windows_law(const struct profile *profile);

#endif
