/* Draws the random moment within each sampling period at which a thread is due to be sampled. The moment is a
 * hash of the period's start, the run's seed and the thread's number. So a trace need not store times; its
 * readers compute them (command/profile/trace_tail.c). A period is divided into 2^bits parts, and each part
 * contains the moment of one of 2^bits threads. In each period, threads are assigned to parts anew, and a
 * thread's moment is at a random position in its part. */
#ifndef BLAME_CCT_TIMELINE_MOMENT_H
#define BLAME_CCT_TIMELINE_MOMENT_H

#include <stdint.h>

/* Returns a hash of the word, with 64 bits that look random. [handler] */
uint64_t moment_hash(uint64_t word);

/* Returns the number that moment_place() mixes into its hashes. start_ns is the start of the process's first
 * period. [handler] */
uint64_t moment_salt(uint64_t seed, uint64_t start_ns);

/* Returns the smallest number of bits with which thread numbers up to this one get different parts of a
 * period; 0 for thread 0. [handler] */
uint32_t moment_bits(uint32_t thread);

/* Returns the position of the thread's moment in the period that begins at begin_ns, in units of 2^-64 of the
 * period's length. [handler] */
uint64_t moment_place(uint64_t begin_ns, uint64_t salt, uint32_t thread, uint32_t bits);

/* Returns the time of the moment at this position in the period, in ns. [handler] */
static inline uint64_t moment_at(uint64_t begin_ns, uint64_t length_ns, uint64_t place)
{
    return begin_ns + (uint64_t)(((unsigned __int128)place * length_ns) >> 64);
}

#endif
