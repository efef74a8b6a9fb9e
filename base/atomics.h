/* Atomic operations, named after their ordering. Bare volatile is never used. All [handler]. */
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
/* Sequentially consistent, also on failure, as one side of Dekker pairs (T2, B2, X2, X3). A weaker order
 * would cost the same. */
#define compare_exchange(p, e, v) __atomic_compare_exchange_n((p), (e), (v), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* Keeps the compiler from reordering a thread's accesses, for its own signal handler. The processor needs no
 * barrier for that. */
#define signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Orders earlier stores before later ones, for plain and relaxed stores: a thread that sees the later ones
 * sees the earlier ones. */
#define release_fence() __atomic_thread_fence(__ATOMIC_RELEASE)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Adds to a double that several threads add to. In practice the number of adding threads bounds the loop.
 * Returns true if the double was 0 before. */
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

/* Takes the sum collected by atomic_add_double() and leaves zero. */
static inline double atomic_take_double(uint64_t *bits)
{
    uint64_t old = exchange_acq_rel(bits, 0);
    double sum;
    __builtin_memcpy(&sum, &old, sizeof(sum));
    return sum;
}

#endif
