/* The clocks of the profiler: CLOCK_MONOTONIC, time stamps for hot paths, and CPU time. */
#ifndef BLAME_BASE_CLOCK_H
#define BLAME_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S 1000000000ull

/* Returns the time on CLOCK_MONOTONIC in ns. Times of different threads can be compared. Costs 25 to 40 ns if
 * the vDSO provides the clock. [handler] */
uint64_t clock_now_ns(void);

/* true if time stamps are values of the processor's counter, which then has a constant rate and is the same
 * on all cores; set by clock_ticks_init() */
extern bool clock_is_counter __attribute__((visibility("hidden")));

#if defined(__x86_64__)
static inline uint64_t clock_read_counter(void) /* [handler] */
{
    return __builtin_ia32_rdtsc();
}
#else
/* Returns the counter. The processor may read it too early, as it may read the TSC. An isb instruction would
 * prevent this, but costs more than the reading itself, and time stamps are compared with times that are
 * microseconds away. A tick is 1 ns since Armv8.6, and 10 to 40 ns before. [handler] */
static inline uint64_t clock_read_counter(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

/* Returns a time stamp for hot paths: the processor's counter if the kernel uses it as its clock (about 8
 * ns), otherwise the time in ns. Before clock_ticks_init() it is the time in ns. [handler] */
static inline uint64_t clock_ticks(void)
{
    return clock_is_counter ? clock_read_counter() : clock_now_ns();
}

/* The values of both clocks at one time, and the length of a tick in ns. After a few ms the length is
 * accurate to 0.1 %. */
struct clock_reading {
    uint64_t ns, ticks;
    double ns_per_tick;
};

struct clock_reading clock_read(void); /* [handler] */

/* Converts a time stamp to ns on CLOCK_MONOTONIC; the result is at least 0. [handler] */
static inline uint64_t clock_ticks_ns(const struct clock_reading *reading, uint64_t ticks)
{
    int64_t ns = (int64_t)reading->ns + (int64_t)((double)(int64_t)(ticks - reading->ticks) * reading->ns_per_tick);
    return ns > 0 ? (uint64_t)ns : 0;
}

/* Converts a recent time in ns to a time stamp; the result is negative if the counter started later.
 * [handler] */
static inline int64_t clock_ns_ticks(const struct clock_reading *reading, uint64_t ns)
{
    return (int64_t)reading->ticks + (int64_t)((double)(int64_t)(ns - reading->ns) / reading->ns_per_tick);
}

/* Returns how many ns have passed since a reading, according to time stamps. [handler] */
static inline uint64_t clock_passed_ns(const struct clock_reading *reading)
{
    int64_t passed = (int64_t)(clock_ticks() - reading->ticks);
    return passed > 0 ? (uint64_t)((double)passed * reading->ns_per_tick) : 0;
}

/* [init] */
void clock_ticks_init(void);

/* Returns the CPU time of the calling thread in ns. Makes a system call. [handler] */
uint64_t clock_thread_cpu_ns(void);

/* Returns the CPU time of a thread of this process in ns; 0 if there is no such thread. [handler] */
uint64_t clock_cpu_ns_of(pid_t tid);

/* Returns the CPU time of the process in ns. [any] */
uint64_t clock_process_cpu_ns(void);

/* Returns the current time in ns since the epoch. [any] */
int64_t clock_realtime_ns(void);

/* Returns the time of any clock that clock_gettime(2) accepts, in ns. [handler] */
int64_t clock_ns_of(clockid_t clock);

#endif
