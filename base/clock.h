/* The one clock of the profiler. */
#ifndef BLAME_BASE_CLOCK_H
#define BLAME_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S 1000000000ull

/* Returns CLOCK_MONOTONIC in ns, which is comparable across threads. Costs 25 to 40 ns where the vDSO serves
 * it. [handler] */
uint64_t clock_now_ns(void);

/* True if the kernel's clock is the processor's counter, with a constant rate and the same on all cores. Set
 * by clock_ticks_init(). */
extern bool clock_is_counter __attribute__((visibility("hidden")));

#if defined(__x86_64__)
static inline uint64_t clock_read_counter(void) /* [handler] */
{
    return __builtin_ia32_rdtsc();
}
#else
/* Like the TSC, the counter may be read early. An isb would cost more than the reading, and stamps are
 * compared with times microseconds away. A tick is 1 ns from Armv8.6 on (cntfrq_el0), and 10 to 40 ns before.
 * [handler] */
static inline uint64_t clock_read_counter(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

/* Returns a time stamp for hot paths: the processor's counter if the kernel trusts it (some 8 ns), otherwise
 * ns. Before clock_ticks_init(), which decides, it is ns. [handler] */
static inline uint64_t clock_ticks(void)
{
    return clock_is_counter ? clock_read_counter() : clock_now_ns();
}

/* Both clocks at one time, and the length of a tick, which is accurate to one per mille after some ms. */
struct clock_reading {
    uint64_t ns, ticks;
    double ns_per_tick;
};

struct clock_reading clock_read(void); /* [handler] */

/* Converts a time stamp, past or future, to CLOCK_MONOTONIC in ns; 0 if it is before that clock's 0.
 * [handler] */
static inline uint64_t clock_ticks_ns(const struct clock_reading *reading, uint64_t ticks)
{
    int64_t ns = (int64_t)reading->ns + (int64_t)((double)(int64_t)(ticks - reading->ticks) * reading->ns_per_tick);
    return ns > 0 ? (uint64_t)ns : 0;
}

/* Converts a recent time in ns to a time stamp; below 0 if it is before that clock's 0. [handler] */
static inline int64_t clock_ns_ticks(const struct clock_reading *reading, uint64_t ns)
{
    return (int64_t)reading->ticks + (int64_t)((double)(int64_t)(ns - reading->ns) / reading->ns_per_tick);
}

/* Returns the ns since a reading, from the time stamp alone. [handler] */
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

/* Returns the ns since the epoch. [any] */
int64_t clock_realtime_ns(void);

/* Returns the time of a clock of clock_gettime(2) in ns. [handler] */
int64_t clock_ns_of(clockid_t clock);

#endif
