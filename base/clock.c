#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_read_kernel(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return clock_read_kernel(CLOCK_MONOTONIC);
}

bool clock_is_counter;

static struct {
    uint64_t begin_ticks, begin_ns;
} ticks;

/* name of the kernel's clock source that reads the processor's counter */
#if defined(__x86_64__)
static const char counter_source[] = "tsc";
#else
static const char counter_source[] = "arch_sys_counter";
#endif

struct clock_reading clock_read(void)
{
    struct clock_reading reading = {.ns = clock_now_ns(), .ticks = clock_ticks(), .ns_per_tick = 1};
    if (clock_is_counter) /* ratio of the times that the two clocks have measured since the start */
        reading.ns_per_tick = (double)(reading.ns - ticks.begin_ns) / (double)(reading.ticks - ticks.begin_ticks + 1);
    return reading;
}

void clock_ticks_init(void)
{
    char source[sizeof(counter_source)] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd >= 0 ? read(fd, source, sizeof(source) - 1) : -1;
    if (fd >= 0)
        close(fd);
    clock_is_counter = bytes >= (ssize_t)sizeof(source) - 1 && strcmp(source, counter_source) == 0;
    ticks.begin_ns = clock_now_ns();
    ticks.begin_ticks = clock_ticks();
}

uint64_t clock_thread_cpu_ns(void)
{
    return clock_read_kernel(CLOCK_THREAD_CPUTIME_ID);
}

/* Computes the clock's number in the same way as the kernel. pthread_getcpuclockid() computes the same
 * number, but only for threads that libc knows. */
uint64_t clock_cpu_ns_of(pid_t tid)
{
    struct timespec time = {0};
    clock_gettime(~(clockid_t)tid << 3 | 6, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t clock_process_cpu_ns(void)
{
    return clock_read_kernel(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_realtime_ns(void)
{
    return clock_ns_of(CLOCK_REALTIME);
}

int64_t clock_ns_of(clockid_t clock)
{
    return (int64_t)clock_read_kernel(clock);
}
