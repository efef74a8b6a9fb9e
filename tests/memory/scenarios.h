/* All of them, each in a file that says what it tests. */
#ifndef BLAME_TESTS_MEMORY_SCENARIOS_H
#define BLAME_TESTS_MEMORY_SCENARIOS_H

#include "tests/memory/model.h"

#define EACH_SCENARIO(of)                                                                                              \
    of(waits_ring) of(waits) of(holders) of(releases_ring) of(blame) of(untold) of(sums) of(stopping) of(regions)      \
        of(ends_ring) of(ranks) of(ranks_ring) of(ranks_lives) of(ranks_stop) of(ranks_lines) of(lock_names)           \
            of(lock_rows) of(arena) of(ranges) of(snapshot)

#define DECLARE(name) extern const struct scenario scenario_##name;
EACH_SCENARIO(DECLARE)

#endif
