/* Who was woken by whom: seconds of waits by the contexts of the waiting thread and of the thread that ended the wait. */
#ifndef BLAME_TESTS_SIMULATOR_WAKES_H
#define BLAME_TESTS_SIMULATOR_WAKES_H

#include <stdint.h>

#include "tests/simulator/oracle.h"

struct sim_wake {
    uint32_t waiter, waker; /* contexts */
    struct exact exact;     /* METRIC_BLOCKED alone */
};

void wakes_add(uint32_t waiter, uint32_t waker, uint64_t ns);
const struct sim_wake *wakes_all(uint32_t *count);

#endif
