/* Preloaded: the clock goes a thousand times slower than the machine's, and no timer expires. Under valgrind all is so slow that
 * tiny tasks would else be long ones. */
#define _GNU_SOURCE
#include <link.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOWER 1000
#define SECOND 1000000000ll

/* The tool then finds no list of libraries, and calls these functions by their names (docs/names.md). */
struct r_debug _r_debug;

int timer_settime(timer_t timer, int flags, const struct itimerspec *times, struct itimerspec *before)
{
    (void)timer, (void)flags, (void)times, (void)before;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static long long begin_ns;
    if (syscall(SYS_clock_gettime, clock, time) != 0)
        return -1;
    if (clock != CLOCK_MONOTONIC)
        return 0;
    long long now_ns = time->tv_sec * SECOND + time->tv_nsec;
    if (begin_ns == 0)
        begin_ns = now_ns;
    now_ns = begin_ns + (now_ns - begin_ns) / SLOWER;
    time->tv_sec = now_ns / SECOND;
    time->tv_nsec = now_ns % SECOND;
    return 0;
}
