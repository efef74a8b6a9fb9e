/* State lines from none on, and a census by the tests' clock. */
#ifndef BLAME_TESTS_UNIT_CENSUS_H
#define BLAME_TESTS_UNIT_CENSUS_H

#include "blame/state.h"
#include "tests/unit/unit.h"

static inline int no_lines(void **unused)
{
    (void)unused;
    state_reset();
    return 0;
}

static inline struct state_line *working(void)
{
    struct state_line *acquired = state_line_acquire();
    assert_non_null(acquired);
    state_set_work(acquired);
    return acquired;
}

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
