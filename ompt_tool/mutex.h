/* Handles OMPT's events of locks and of critical, ordered and atomic regions: creation and destruction,
 * waiting, acquisition and release. */
#ifndef BLAME_OMPT_TOOL_MUTEX_H
#define BLAME_OMPT_TOOL_MUTEX_H

#include <stdint.h>

#include <omp-tools.h>

#include "cct/profile_tree.h"

/* Returns the number that stands for a lock in the measurement: its address, and its kind in the upper bits.
 * [handler] */
static inline uint64_t lock_key(ompt_mutex_t kind, ompt_wait_id_t wait_id)
{
    static const uint64_t kinds[16] = {
        [ompt_mutex_lock] = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0),
        [ompt_mutex_test_lock] = PROFILE_LOCK_KEY(PROFILE_LOCK_LOCK, 0),
        [ompt_mutex_nest_lock] = PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0),
        [ompt_mutex_test_nest_lock] = PROFILE_LOCK_KEY(PROFILE_LOCK_NEST_LOCK, 0),
        [ompt_mutex_critical] = PROFILE_LOCK_KEY(PROFILE_LOCK_CRITICAL, 0),
        [ompt_mutex_atomic] = PROFILE_LOCK_KEY(PROFILE_LOCK_ATOMIC, 0),
        [ompt_mutex_ordered] = PROFILE_LOCK_KEY(PROFILE_LOCK_ORDERED, 0),
    };
    return kinds[kind % 16u] | wait_id; /* wait_id is an address below 2^56 */
}

/* Handle the events mutex_acquire, mutex_acquired, mutex_released and nest_lock. [owner] */
void mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                   const void *codeptr);
void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr);
void mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr);
void mutex_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait_id, const void *codeptr);

/* Handle the events lock_init and lock_destroy. [any] */
void mutex_init(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id, const void *codeptr);
void mutex_destroy(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr);

#endif
