#include "ompt_tool/crowd.h"

#include "base/clock.h"
#include "cct/arena.h"
#include "ompt_tool/session/session.h"

#define RATE_PER_CORE 4000 /* samples a second, of all threads; more only if no core has more than one thread */

uint64_t crowd_least_ns;

/* Every sample of a thread that waits for a core, or sleeps, costs a switch to it: with hundreds of threads a
 * core the program would not get on. One a second of each there is always. */
void crowd_grows(uint32_t threads)
{
    uint64_t rate = NS_PER_S / session.period_ns, cores = arena_header()->cores;
    uint64_t most = cores * (rate > RATE_PER_CORE ? rate : RATE_PER_CORE), period_ns = session.period_ns;
    while (rate > 1 && threads * rate > most) {
        rate = (rate + 1) / 2;
        period_ns *= 2;
    }
    uint64_t least_ns = load_relaxed(&crowd_least_ns);
    while (period_ns > least_ns && !compare_exchange(&crowd_least_ns, &least_ns, period_ns))
        ;
}

void crowd_forked(void)
{
    store_relaxed(&crowd_least_ns, 0);
}
