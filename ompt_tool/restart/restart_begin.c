/* Handler code: system calls by kernel_call. */
#include "restart_begin.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/kernel.h"

static uint64_t used_us(const struct rusage *usage)
{
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
           (uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec;
}

uint64_t restart_begin_of_call_ns(const struct restart_state *state, uint64_t now_ns)
{
    struct rusage usage;
    if (!state->base_valid)
        return now_ns;
    memset(&usage, 0, sizeof usage);
    kernel_call(SYS_getrusage, RUSAGE_THREAD, (uint64_t)&usage, 0, 0, 0, 0);
    if (usage.ru_nvcsw - state->base_usage.ru_nvcsw != 1 || usage.ru_nivcsw != state->base_usage.ru_nivcsw)
        return now_ns;
    uint64_t base_ns = (uint64_t)state->base_time.tv_sec * 1000000000u + (uint64_t)state->base_time.tv_nsec;
    uint64_t rounding_us = 2; /* utime and stime are each rounded down, at both ends */
    uint64_t margin_ns = (now_ns > base_ns ? now_ns - base_ns : 0) / 64;
    uint64_t begin_ns =
        base_ns + margin_ns + (used_us(&usage) - used_us(&state->base_usage) + rounding_us) * 1000u;
    return begin_ns < now_ns ? begin_ns : now_ns;
}
