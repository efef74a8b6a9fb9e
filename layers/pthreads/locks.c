/* Mutexes, read-write locks and spin locks of POSIX threads, and C11's mutexes.
 *
 * A function that acquires a lock first tries to. Only if the lock is busy does it report a wait and call libc's
 * function, which then decides everything: order, deadlocks, dead owners, time limits. So an acquisition without a wait
 * costs a few instructions and stores nothing, and every result is libc's.
 *
 * A function that releases a lock reads one word, which is 0 unless a waiter has left something at any lock. If it is
 * not 0, the tool takes what was left at this lock. That is done before the release, because afterwards the next
 * owner's waiters may leave something of their own. It is booked after the release, so that nobody waits longer.
 *
 * The program may lock from anywhere, so nothing here allocates memory or changes errno. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layers/pthreads/reports.h"

#define RULES  0x70       /* in the kind of a mutex: robust, priority inheritance, priority protection */
#define HOLDER 0x3fffffff /* in the word of such a mutex: the thread that holds it */

const struct pthreads_tool *pthreads_attached;

#ifdef __x86_64__
struct pthreads_words pthreads_words = {.behind_syscall = syscalls_behind};
#else
struct pthreads_words pthreads_words;
#endif

EXPORT pthreads_layer_attach blame_pthreads_attach;
uint32_t *blame_pthreads_attach(const struct pthreads_tool *tool)
{
    store_release(&pthreads_attached, tool);
    return &pthreads_words.left;
}

/* Returns the tool if the end of the wait must be reported to it. */
static inline const struct pthreads_tool *lock_wait_begins(uint32_t kind, const void *object, const uintptr_t *frame)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    return tool && tool->wait_begins(kind, object, frame) ? tool : NULL;
}

static inline int lock_wait_ends(const struct pthreads_tool *tool, int status)
{
    if (tool)
        tool->wait_ends();
    return status;
}

/* DEFINE_WAIT: the part of a function that waits. It has a frame, by which a sample finds out whether a jump has left
 * the wait. */
#define DEFINE_WAIT(name, kind, object, parameters, arguments)                                                         \
    static NOINLINE int wait_in_##name parameters                                                                      \
    {                                                                                                                  \
        const struct pthreads_tool *tool = lock_wait_begins(kind, object, __builtin_frame_address(0));                 \
        return lock_wait_ends(tool, REAL(name) arguments);                                                             \
    }

/* DEFINE_ACQUIRE: a function that tries first, and then waits. */
#define DEFINE_ACQUIRE(name, try, busy, kind, object, parameters, arguments)                                           \
    DEFINE_WAIT(name, kind, object, parameters, arguments)                                                             \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        int status = REAL(try)(object);                                                                                \
        if (likely(status != (busy)))                                                                                  \
            return status;                                                                                             \
        return wait_in_##name arguments;                                                                               \
    }

/* DEFINE_ACQUIRE_LIMITED: libc checks some parameters before it tries, so the function tries only if they are valid. */
#define DEFINE_ACQUIRE_LIMITED(name, try, kind, object, valid, parameters, arguments)                                  \
    DEFINE_WAIT(name, (kind) | PTHREADS_LIMITED, object, parameters, arguments)                                        \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        int status = (valid) ? REAL(try)(object) : EBUSY;                                                              \
        if (likely(status != EBUSY))                                                                                   \
            return status;                                                                                             \
        return wait_in_##name arguments;                                                                               \
    }

/* DEFINE_RELEASE: `frees` is false if the thread will still hold the lock. */
#define DEFINE_RELEASE(name, kind, type, frees)                                                                        \
    static NOINLINE int look_in_##name(type *object)                                                                   \
    {                                                                                                                  \
        const struct pthreads_tool *tool = load_acquire(&pthreads_attached);                                           \
        struct pthreads_left left;                                                                                     \
        bool taken = (frees) && tool->take(kind, (const void *)object, &left);                                         \
        int status = REAL(name)(object);                                                                               \
        if (taken)                                                                                                     \
            tool->book(kind, (const void *)object, &left, status == 0);                                                \
        return status;                                                                                                 \
    }                                                                                                                  \
    EXPORT int name(type *object)                                                                                      \
    {                                                                                                                  \
        if (something_is_left())                                                                                       \
            return look_in_##name(object);                                                                             \
        return REAL(name)(object);                                                                                     \
    }

/* ---- mutexes ---- */

/* Returns true for a mutex without further rules (robust, priority inheritance, priority protection). To try a robust
 * mutex that is not recoverable would leave it locked (glibc 2.36). */
static inline bool mutex_is_simple(const pthread_mutex_t *mutex)
{
    return likely(!(mutex->__data.__kind & RULES));
}

/* Returns true if nobody holds a mutex that is not simple; its word is then 0, but for flags. */
static inline bool mutex_seems_free(const pthread_mutex_t *mutex)
{
    return !(load_relaxed(&mutex->__data.__lock) & HOLDER);
}

/* DEFINE_ACQUIRE_MUTEX: like DEFINE_ACQUIRE_LIMITED, but looks at a mutex that is not simple instead of trying it. */
#define DEFINE_ACQUIRE_MUTEX(name, limited, valid, parameters, arguments)                                              \
    DEFINE_WAIT(name, PTHREADS_MUTEX | (limited), mutex, parameters, arguments)                                        \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        int status = EBUSY;                                                                                            \
        if (mutex_is_simple(mutex))                                                                                    \
            status = (valid) ? REAL(pthread_mutex_trylock)(mutex) : EBUSY;                                             \
        else if (mutex_seems_free(mutex))                                                                              \
            return REAL(name) arguments;                                                                               \
        if (likely(status != EBUSY))                                                                                   \
            return status;                                                                                             \
        return wait_in_##name arguments;                                                                               \
    }

DEFINE_ACQUIRE_MUTEX(pthread_mutex_lock, 0, true, (pthread_mutex_t * mutex), (mutex))
DEFINE_ACQUIRE_MUTEX(pthread_mutex_timedlock, PTHREADS_LIMITED, true,
                     (pthread_mutex_t * mutex, const struct timespec *limit), (mutex, limit))
DEFINE_ACQUIRE_MUTEX(pthread_mutex_clocklock, PTHREADS_LIMITED, clock_is_valid(clock),
                     (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *limit), (mutex, clock, limit))
DEFINE_RELEASE(pthread_mutex_unlock, PTHREADS_MUTEX, pthread_mutex_t, mutex_is_freed(object))

DEFINE_ACQUIRE(mtx_lock, mtx_trylock, thrd_busy, PTHREADS_MUTEX, mutex, (mtx_t * mutex), (mutex))
DEFINE_ACQUIRE(mtx_timedlock, mtx_trylock, thrd_busy, PTHREADS_MUTEX | PTHREADS_LIMITED, mutex,
               (mtx_t *restrict mutex, const struct timespec *restrict limit), (mutex, limit))
DEFINE_RELEASE(mtx_unlock, PTHREADS_MUTEX, mtx_t, mtx_is_freed(object))

/* ---- read-write locks ---- */

/* Each reader takes what has been left until its own release. */
DEFINE_ACQUIRE(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, PTHREADS_RWLOCK | PTHREADS_READS, lock,
               (pthread_rwlock_t * lock), (lock))
DEFINE_ACQUIRE(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, PTHREADS_RWLOCK, lock, (pthread_rwlock_t * lock),
               (lock))
DEFINE_ACQUIRE_LIMITED(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, PTHREADS_RWLOCK | PTHREADS_READS, lock,
                       limit_is_valid(limit), (pthread_rwlock_t * lock, const struct timespec *limit), (lock, limit))
DEFINE_ACQUIRE_LIMITED(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, PTHREADS_RWLOCK, lock,
                       limit_is_valid(limit), (pthread_rwlock_t * lock, const struct timespec *limit), (lock, limit))
DEFINE_ACQUIRE_LIMITED(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, PTHREADS_RWLOCK | PTHREADS_READS, lock,
                       limit_is_valid(limit) && clock_is_valid(clock),
                       (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *limit), (lock, clock, limit))
DEFINE_ACQUIRE_LIMITED(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, PTHREADS_RWLOCK, lock,
                       limit_is_valid(limit) && clock_is_valid(clock),
                       (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *limit), (lock, clock, limit))
DEFINE_RELEASE(pthread_rwlock_unlock, PTHREADS_RWLOCK, pthread_rwlock_t, true)

/* ---- spin locks ---- */

DEFINE_ACQUIRE(pthread_spin_lock, pthread_spin_trylock, EBUSY, PTHREADS_SPIN, (void *)lock, (pthread_spinlock_t * lock),
               (lock))
DEFINE_RELEASE(pthread_spin_unlock, PTHREADS_SPIN, pthread_spinlock_t, true)
