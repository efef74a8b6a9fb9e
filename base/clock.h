/* The one clock of the profiler. */
#ifndef BLAME_BASE_CLOCK_H
#define BLAME_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_S 1000000000ull

/* CLOCK_MONOTONIC in nanoseconds; comparable across threads. Costs 25-40 ns where the vDSO serves it.
 * [handler] */
uint64_t clock_now_ns(void);

/* CPU time of the calling thread in nanoseconds; a system call. [handler] */
uint64_t clock_thread_cpu_ns(void);

/* CPU time of the process in nanoseconds. [any] */
uint64_t clock_process_cpu_ns(void);

/* Nanoseconds since the epoch. [any] */
int64_t clock_realtime_ns(void);

#endif
