/* A census by the tests' clock. */
#ifndef BLAME_TESTS_UNIT_CENSUS_H
#define BLAME_TESTS_UNIT_CENSUS_H

#include "blame/state.h"

static inline struct census census_at(uint64_t time_ns, uint64_t wait_key, struct waiting_places *places)
{
    struct clock_reading clocks = clock_read();
    return state_census_at(&clocks, time_ns, NULL, wait_key, places);
}

static inline bool is_parked_now(const struct state_line *line)
{
    struct clock_reading clocks = clock_read();
    return state_was_parked(line, &clocks, clocks.ns);
}

#endif
