/* What a lock is called in a measurement. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_KEY_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_KEY_H

#include <stdint.h>

#include <omp-tools.h>

#include "cct/profile_format.h"

static inline uint64_t lock_key(ompt_mutex_t kind, ompt_wait_id_t wait_id) /* [handler] */
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
    return kinds[kind % 16u] | wait_id; /* an address: below 2^56 */
}

#endif
