#include "tests/unit/fake_clock.h"

#include "base/clock.h"

uint64_t fake_now_ns = 1000000000;
uint64_t fake_cpu_ns;
bool clock_is_counter; /* never: time stamps are nanoseconds */

uint64_t clock_now_ns(void)
{
    return fake_now_ns;
}

struct clock_reading clock_read(void)
{
    return (struct clock_reading){fake_now_ns, fake_now_ns, 1};
}

void clock_ticks_init(void)
{
}

uint64_t clock_thread_cpu_ns(void)
{
    return fake_cpu_ns;
}

uint64_t clock_cpu_ns_of(pid_t tid)
{
    (void)tid;
    return fake_cpu_ns;
}

uint64_t clock_process_cpu_ns(void)
{
    return fake_cpu_ns;
}

int64_t clock_realtime_ns(void)
{
    return (int64_t)fake_now_ns;
}

int64_t clock_ns_of(clockid_t clock)
{
    (void)clock;
    return (int64_t)fake_now_ns;
}
