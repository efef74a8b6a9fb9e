/* Locks, critical sections, ordered sections and atomic updates.
 *
 * No state is kept: an acquisition is told before and after libgomp's function. libgomp alone knows whether the thread
 * had to wait. The id of a lock is the address by which the program names it; of a named critical section that is
 * the address of the variable .gomp_critical_user_NAME. */
#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

enum { NO_HINT = 0 };

static inline __attribute__((always_inline)) void mutex_acquire(struct thread *thread, ompt_mutex_t kind, uint64_t id,
                                                                int state, const void *code)
{
    TELL(mutex_acquire, kind, NO_HINT, MUTEX_FUTEX, id, code);
    thread->wait_id = id;
    signal_fence();
    store_relaxed(&thread->mutex_state, state);
}

static inline __attribute__((always_inline)) void mutex_acquired(struct thread *thread, ompt_mutex_t kind, uint64_t id,
                                                                 const void *code)
{
    store_relaxed(&thread->mutex_state, 0);
    TELL(mutex_acquired, kind, id, code);
}

/* DEFINE_MUTEX: a pair of functions that acquire and release. */
#define DEFINE_MUTEX(acquire, release, parameters, arguments, kind, wait_state, id)                                    \
    EXPORT void acquire parameters                                                                                     \
    {                                                                                                                  \
        struct thread *thread = provider_enter();                                                                      \
        if (!thread) {                                                                                                 \
            real.acquire arguments;                                                                                    \
            return;                                                                                                    \
        }                                                                                                              \
        mutex_acquire(thread, kind, id, wait_state, CODE);                                                             \
        real.acquire arguments;                                                                                        \
        mutex_acquired(thread, kind, id, CODE);                                                                        \
    }                                                                                                                  \
    EXPORT void release parameters                                                                                     \
    {                                                                                                                  \
        struct thread *thread = provider_enter();                                                                      \
        real.release arguments;                                                                                        \
        if (thread)                                                                                                    \
            TELL(mutex_released, kind, id, CODE);                                                                      \
    }

/* Their addresses stand for libgomp's own locks. */
static char gomp_critical_unnamed, gomp_atomic;

DEFINE_MUTEX(GOMP_critical_start, GOMP_critical_end, (void), (), ompt_mutex_critical, ompt_state_wait_critical,
             (uintptr_t)&gomp_critical_unnamed)
DEFINE_MUTEX(GOMP_critical_name_start, GOMP_critical_name_end, (void **lock), (lock), ompt_mutex_critical,
             ompt_state_wait_critical, (uintptr_t)lock)
DEFINE_MUTEX(GOMP_atomic_start, GOMP_atomic_end, (void), (), ompt_mutex_atomic, ompt_state_wait_atomic,
             (uintptr_t)&gomp_atomic)
DEFINE_MUTEX(GOMP_ordered_start, GOMP_ordered_end, (void), (), ompt_mutex_ordered, ompt_state_wait_ordered,
             (uintptr_t)thread->task->region)

/* Returns how often the calling thread, which holds it, has acquired a nest lock. Both versions have the number
 * behind their first word. Fortran's variable of the newer version is a pointer to the lock. */
static inline int nest_depth(const void *lock)
{
    return ((const int *)lock)[1];
}

static inline void nest_acquired(struct thread *thread, ompt_mutex_t kind, void *lock, int depth, const void *code)
{
    if (depth == 1) {
        mutex_acquired(thread, kind, (uintptr_t)lock, code);
        return;
    }
    store_relaxed(&thread->mutex_state, 0);
    TELL(nest_lock, ompt_scope_begin, (uintptr_t)lock, code);
}

static inline void nest_released(struct thread *thread, void *lock, int depth, const void *code)
{
    if (!thread)
        return;
    if (depth == 1)
        TELL(mutex_released, ompt_mutex_nest_lock, (uintptr_t)lock, code);
    else
        TELL(nest_lock, ompt_scope_end, (uintptr_t)lock, code);
}

#define TEXT(name)    #name
#define TEXT_OF(name) TEXT(name)

#define TWIN(name)    name##_10
#define VERSION(name) #name "@OMP_1.0"
#define MEMORY(lock)  (lock)
#include "layers/gomp/lock_functions.h"

#define TWIN(name)    name##_30
#define VERSION(name) #name "@@OMP_3.0"
#define MEMORY(lock)  (lock)
#include "layers/gomp/lock_functions.h"

#define TWIN(name)    name##_fortran_10
#define VERSION(name) #name "_@OMP_1.0"
#define MEMORY(lock)  (lock)
#include "layers/gomp/lock_functions.h"

#define TWIN(name)    name##_fortran_30
#define VERSION(name) #name "_@@OMP_3.0"
#define MEMORY(lock)  (*(void *const *)(lock))
#include "layers/gomp/lock_functions.h"
