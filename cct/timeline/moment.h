/* The random moment within a period at which a thread is sampled: a hash of the period's begin, the run's
 * seed and the thread's number. A trace therefore stores no times, and its readers compute them
 * (command/profile/trace_tail.c). A period has 2^bits parts, and each contains the moment of one of 2^bits
 * threads. Each period assigns the threads to the parts anew, and places each moment at random within its
 * part. */
#ifndef BLAME_CCT_TIMELINE_MOMENT_H
#define BLAME_CCT_TIMELINE_MOMENT_H

#include <stdint.h>

/* Returns 64 bits that look random. [handler] */
uint64_t moment_hash(uint64_t word);

/* Returns the salt of a process's draws; its periods begin at start_ns. [handler] */
uint64_t moment_salt(uint64_t seed, uint64_t start_ns);

/* Returns the smallest number of bits that gives each thread up to this number a part of its own; 0 for
 * thread 0. [handler] */
uint32_t moment_bits(uint32_t thread);

/* Returns the moment's position in the period that begins then, in units of 2^-64 of the period. [handler] */
uint64_t moment_place(uint64_t begin_ns, uint64_t salt, uint32_t thread, uint32_t bits);

/* Returns the time of the moment in ns. [handler] */
static inline uint64_t moment_at(uint64_t begin_ns, uint64_t length_ns, uint64_t place)
{
    return begin_ns + (uint64_t)(((unsigned __int128)place * length_ns) >> 64);
}

#endif
