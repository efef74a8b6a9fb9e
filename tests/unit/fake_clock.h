/* A clock that stands still until a test moves it: linked instead of base/clock.c. */
#ifndef BLAME_TESTS_UNIT_FAKE_CLOCK_H
#define BLAME_TESTS_UNIT_FAKE_CLOCK_H

#include <stdint.h>

extern uint64_t fake_now_ns;
extern uint64_t fake_cpu_ns;

#endif
