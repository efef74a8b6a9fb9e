#include "tests/simulator/wakes.h"

#include <stdlib.h>

#define MOST_WAKES 64u

static struct sim_wake wakes[MOST_WAKES];
static uint32_t count;

/* The variance is that of a moment drawn for each period: what whole periods spare is left out, so it is a bound. */
void wakes_add(uint32_t waiter, uint32_t waker, uint64_t ns)
{
    uint32_t number = 0;
    while (number < count && (wakes[number].waiter != waiter || wakes[number].waker != waker))
        number++;
    if (number == MOST_WAKES)
        abort();
    count = number == count ? number + 1 : count;
    wakes[number].waiter = waiter;
    wakes[number].waker = waker;
    wakes[number].exact.value[METRIC_BLOCKED] += (double)ns;
    wakes[number].exact.squares[METRIC_BLOCKED] += (double)ns;
    wakes[number].exact.heaviest[METRIC_BLOCKED] = 1;
}

const struct sim_wake *wakes_all(uint32_t *number)
{
    *number = count;
    return wakes;
}
