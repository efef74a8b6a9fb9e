/* The one clock of the profiler. */
#ifndef BLAME_BASE_CLOCK_H
#define BLAME_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S 1000000000ull

/* CLOCK_MONOTONIC in nanoseconds; comparable across threads. Costs 25-40 ns where the vDSO serves it.
 * [handler] */
uint64_t clock_now_ns(void);

/* The processor's counter is the kernel's clock too: constant rate, the same on all cores. Written by clock_ticks_init(). */
extern bool clock_is_counter __attribute__((visibility("hidden")));

#if defined(__x86_64__)
static inline uint64_t clock_read_counter(void) /* [handler] */
{
    return __builtin_ia32_rdtsc();
}
#else
/* Read early, as the TSC may be: an isb would cost more than the reading, and what a stamp is compared with lies microseconds
 * away. It ticks at cntfrq_el0, 1 GHz from Armv8.6 on and some 25 to 100 MHz before: 10 to 40 ns a tick. [handler] */
static inline uint64_t clock_read_counter(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

/* A time stamp for hot paths: the processor's counter where the kernel trusts it (some 8 ns), else
 * nanoseconds. clock_ticks_init() decides; before it, nanoseconds. [handler] */
static inline uint64_t clock_ticks(void)
{
    return clock_is_counter ? clock_read_counter() : clock_now_ns();
}

/* Both clocks at one moment, and how long a tick was so far: good to a per mille after some milliseconds. */
struct clock_reading {
    uint64_t ns, ticks;
    double ns_per_tick;
};

struct clock_reading clock_read(void); /* [handler] */

/* A time stamp, also one of the future, as CLOCK_MONOTONIC nanoseconds; 0 for one before that clock's 0.
 * [handler] */
static inline uint64_t clock_ticks_ns(const struct clock_reading *reading, uint64_t ticks)
{
    int64_t ns = (int64_t)reading->ns + (int64_t)((double)(int64_t)(ticks - reading->ticks) * reading->ns_per_tick);
    return ns > 0 ? (uint64_t)ns : 0;
}

/* The other way, for a time not long ago; below 0 for one before that clock's 0. [handler] */
static inline int64_t clock_ns_ticks(const struct clock_reading *reading, uint64_t ns)
{
    return (int64_t)reading->ticks + (int64_t)((double)(int64_t)(ns - reading->ns) / reading->ns_per_tick);
}

/* Nanoseconds since a reading, by the time stamp alone. [handler] */
static inline uint64_t clock_passed_ns(const struct clock_reading *reading)
{
    int64_t passed = (int64_t)(clock_ticks() - reading->ticks);
    return passed > 0 ? (uint64_t)((double)passed * reading->ns_per_tick) : 0;
}

/* [init] */
void clock_ticks_init(void);

/* CPU time of the calling thread in nanoseconds; a system call. [handler] */
uint64_t clock_thread_cpu_ns(void);

/* The same of a thread of this process; 0 when there is none. [handler] */
uint64_t clock_cpu_ns_of(pid_t tid);

/* CPU time of the process in nanoseconds. [any] */
uint64_t clock_process_cpu_ns(void);

/* Nanoseconds since the epoch. [any] */
int64_t clock_realtime_ns(void);

/* What that clock of clock_gettime(2) says in nanoseconds. [handler] */
int64_t clock_ns_of(clockid_t clock);

#endif
