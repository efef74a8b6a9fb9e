/* The moment within a period at which a thread is sampled: a hash of the period's begin, the run's seed and the thread's number. So a trace keeps no times,
 * and its readers have them (command/profile/trace_tail.c). A period has 2^bits parts, each with the moment of one of 2^bits threads; which
 * thread's is in which part is drawn anew each time, and where in it. */
#ifndef BLAME_CCT_TIMELINE_MOMENT_H
#define BLAME_CCT_TIMELINE_MOMENT_H

#include <stdint.h>

/* 64 bits that look like chance. [handler] */
uint64_t moment_hash(uint64_t word);

/* The salt of a process's draws; periods begin at start_ns. [handler] */
uint64_t moment_salt(uint64_t seed, uint64_t start_ns);

/* The least bits with which threads up to that number have a part each; 0 of the thread 0. [handler] */
uint32_t moment_bits(uint32_t thread);

/* A place in the period that begins there, in 2^-64 of it. [handler] */
uint64_t moment_place(uint64_t begin_ns, uint64_t salt, uint32_t thread, uint32_t bits);

/* [handler] */
static inline uint64_t moment_at(uint64_t begin_ns, uint64_t length_ns, uint64_t place)
{
    return begin_ns + (uint64_t)(((unsigned __int128)place * length_ns) >> 64);
}

#endif
