/* The random numbers of the NAS Parallel Benchmarks (report RNR-94-007, section 2.3): x[k+1] = 5^13 x[k] mod
 * 2^46. The report computes them in floating point. Integers give exactly the same numbers, because the
 * product of two 46-bit integers modulo 2^64 has the right low 46 bits. */
#ifndef BENCHMARKS_NPB_RANDOM_H
#define BENCHMARKS_NPB_RANDOM_H

#include <stdint.h>

#define NPB_RANDOM_MULTIPLIER UINT64_C(1220703125)
#define NPB_RANDOM_MASK       ((UINT64_C(1) << 46) - 1)

/* Advances the state, and returns it as a number between 0 and 1. */
static inline double npb_random_next(uint64_t *state)
{
    *state = (*state * NPB_RANDOM_MULTIPLIER) & NPB_RANDOM_MASK;
    return (double)(int64_t)*state * 0x1p-46;
}

/* Returns the state after `steps` numbers, so that a thread can start anywhere in the sequence. */
static inline uint64_t npb_random_skip(uint64_t seed, uint64_t steps)
{
    uint64_t power = NPB_RANDOM_MULTIPLIER;
    for (; steps != 0; steps >>= 1) {
        if (steps & 1)
            seed = (seed * power) & NPB_RANDOM_MASK;
        power = (power * power) & NPB_RANDOM_MASK;
    }
    return seed;
}

#endif
