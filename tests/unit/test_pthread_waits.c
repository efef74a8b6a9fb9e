/* Whether a read-write lock is on its way to a thread that waits for it, read from libc's own locks. */
#include "ompt_tool/locks/pthread_waits.h"

#include <pthread.h>

#include "cct/profile_tree.h"
#include "tests/unit/unit.h"

static pthread_rwlock_t lock;

static void lock_start(int kind)
{
    pthread_rwlockattr_t how;
    pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setkind_np(&how, kind);
    assert_int_equal(pthread_rwlock_init(&lock, &how), 0);
}

static bool is_passing(bool to_reader)
{
    struct thread waiter = {.pthread.reads = to_reader};
    return pthread_lock_is_passing(&waiter, PROFILE_LOCK_KEY(PROFILE_LOCK_RWLOCK, (uintptr_t)&lock));
}

UNIT_TEST(readers_wait_for_writers_only)
{
    lock_start(PTHREAD_RWLOCK_PREFER_READER_NP);
    assert_true(is_passing(true));
    assert_true(is_passing(false));
    pthread_rwlock_rdlock(&lock);
    assert_true(is_passing(true));
    assert_false(is_passing(false));
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    assert_false(is_passing(true));
    assert_false(is_passing(false));
    pthread_rwlock_unlock(&lock);
}

UNIT_TEST(readers_may_wait_for_readers_if_the_lock_prefers_writers)
{
    lock_start(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_rdlock(&lock);
    assert_false(is_passing(true));
    assert_false(is_passing(false));
    pthread_rwlock_unlock(&lock);
}

UNIT_MAIN(NULL, NULL)
