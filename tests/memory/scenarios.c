#include "tests/memory/scenarios.h"

const struct scenario *const scenarios[] = {
#define NAME(name) &scenario_##name,
    EACH_SCENARIO(NAME)};
const unsigned scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
