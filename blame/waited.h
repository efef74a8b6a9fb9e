/* The locks of POSIX threads for which threads wait. No state line says who holds such a lock: only the lock itself does,
 * and to read it safely costs a system call. So a sample reads a limited number of locks.
 *
 * Up to that number, a sample looks at all locks for which others wait. Where there are more, it looks at some of them,
 * drawn by chance: one in `one_in`. Each of these counts for so many, which makes the sums unbiased: every lock has the
 * same expected weight, 1, because the hash that draws does not depend on the lock's holder (Wegman's adaptive
 * sampling). */
#ifndef BLAME_BLAME_WAITED_H
#define BLAME_BLAME_WAITED_H

#include <stdint.h>

#include "blame/state.h"

#define WAITED_LOCKS 32u

struct waited {
    uint32_t count;  /* number of keys in key[] */
    uint32_t one_in; /* number of locks for which each key counts; a power of two */
    uint64_t key[WAITED_LOCKS];
};

/* Finds the locks for which threads other than that of the line wait, and their holders' samples count them. salt: a
 * number that differs from sample to sample. [handler] */
void waited_find(const struct state_line *own, uint64_t salt, struct waited *waited);

/* Counts the threads that had begun to wait by that time (in ticks) for each of these locks. [handler] */
void waited_count(const struct state_line *own, int64_t ticks, const struct waited *waited,
                  uint32_t waiters[WAITED_LOCKS]);

#endif
