/* Atomic operations whose names state their memory order. All [handler]. */
#ifndef BLAME_BASE_ATOMICS_H
#define BLAME_BASE_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

#define load_relaxed(p)         __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)         __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define store_seq_cst(p, v)     __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define load_seq_cst(p)         __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define fetch_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define fetch_add_acq_rel(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)
#define fetch_sub_acq_rel(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)
#define fetch_or_acq_rel(p, v)  __atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL)
#define fetch_and_acq_rel(p, v) __atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL)
#define exchange_acq_rel(p, v)  __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define exchange_seq_cst(p, v)  __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
/* Sequentially consistent, even when the exchange fails, because some Dekker pairs need this (T2, B2, X2,
 * X3). A weaker order would not be faster. */
#define compare_exchange(p, e, v) __atomic_compare_exchange_n((p), (e), (v), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* Keeps the compiler from reordering accesses to memory that a signal handler of the same thread uses. The
 * processor needs no barrier for that. */
#define signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* A thread that sees a relaxed store made after this fence also sees all stores made before it. */
#define release_fence() __atomic_thread_fence(__ATOMIC_RELEASE)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Adds `value` to a double to which other threads also add. Returns true if the double was 0 before. The
 * number of threads that add at the same time bounds the loop. */
static inline bool atomic_add_double(uint64_t *bits, double value)
{
    uint64_t old = load_relaxed(bits), new;
    do {
        double sum;
        __builtin_memcpy(&sum, &old, sizeof(sum));
        sum += value;
        __builtin_memcpy(&new, &sum, sizeof(new));
    } while (!compare_exchange(bits, &old, new));
    return old == 0;
}

/* Returns the sum that atomic_add_double() has collected, and sets it to 0. */
static inline double atomic_take_double(uint64_t *bits)
{
    uint64_t old = exchange_acq_rel(bits, 0);
    double sum;
    __builtin_memcpy(&sum, &old, sizeof(sum));
    return sum;
}

#endif
