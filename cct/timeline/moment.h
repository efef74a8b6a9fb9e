/* The random moment within a period at which a thread is sampled. It is a hash of the period's start, the
 * run's seed and the thread's number. So a trace need not store times; its readers compute them
 * (command/profile/trace_tail.c). A period is divided into 2^bits parts, each of which contains the moment of
 * one of 2^bits threads. Each period assigns threads to parts anew, and each moment is at a random position
 * in its part. */
#ifndef BLAME_CCT_TIMELINE_MOMENT_H
#define BLAME_CCT_TIMELINE_MOMENT_H

#include <stdint.h>

/* Returns a hash of the word, with 64 bits that look random. [handler] */
uint64_t moment_hash(uint64_t word);

/* Returns the number that moment_place() mixes into its draws. The process's first period begins at start_ns.
 * [handler] */
uint64_t moment_salt(uint64_t seed, uint64_t start_ns);

/* Returns the smallest number of bits with which all threads up to this number have different parts; 0 for
 * thread 0. [handler] */
uint32_t moment_bits(uint32_t thread);

/* Returns the position of the moment in the period that begins at begin_ns, in units of 2^-64 of the period.
 * [handler] */
uint64_t moment_place(uint64_t begin_ns, uint64_t salt, uint32_t thread, uint32_t bits);

/* Returns the time of the moment at this position, in ns. [handler] */
static inline uint64_t moment_at(uint64_t begin_ns, uint64_t length_ns, uint64_t place)
{
    return begin_ns + (uint64_t)(((unsigned __int128)place * length_ns) >> 64);
}

#endif
