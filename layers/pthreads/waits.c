/* Waits that another thread ends: for condition variables, semaphores, barriers, initialisations and the ends of threads.
 *
 * The waits are libc's from beginning to end: order, time limits, cancellation. They are reported before and after. A
 * function that wakes threads reads one word, which is 0 unless a sample has found a thread in such a wait. If it is not
 * 0, the tool notes who wakes, before libc's function does it.
 *
 * The rules at the head of locks.c hold. A handler of the program may call sem_post(). */
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/pthreads/reports.h"

/* ---- condition variables: a wait releases a mutex and acquires it again ---- */

static NOINLINE void book_before_wait(const struct pthreads_tool *tool, const void *mutex)
{
    struct pthreads_left left;
    /* The release is inside the wait, and after the wait the thread holds the mutex again: so it is booked now. */
    if (tool->take(PTHREADS_MUTEX, mutex, &left))
        tool->book(PTHREADS_MUTEX, mutex, &left, true);
}

static inline const struct pthreads_tool *condition_wait_begins(const void *condition, const void *mutex, bool freed)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if (!tool)
        return NULL;
    if (something_is_left() && freed)
        book_before_wait(tool, mutex);
    tool->reacquires(mutex);
    report_sleep(PTHREADS_CONDITION, condition);
    return tool;
}

/* A cancelled wait does not come here. Until its next condition wait the thread counts as one that will acquire this
 * mutex, which matters only if it is found in a futex wait for this very mutex. */
static inline int condition_wait_ends(const struct pthreads_tool *tool, int status)
{
    if (!tool)
        return status;
    tool->reacquires(NULL);
    return report_slept(tool, status, status == 0);
}

#define DEFINE_CONDITION_WAIT(name, freed, parameters, arguments)                                                      \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        const struct pthreads_tool *tool = condition_wait_begins(condition, mutex, freed);                             \
        return condition_wait_ends(tool, REAL(name) arguments);                                                        \
    }

/* DEFINE_WAKE: a function that wakes threads that wait for the object. */
#define DEFINE_WAKE(name, type)                                                                                        \
    EXPORT int name(type *object)                                                                                      \
    {                                                                                                                  \
        report_wake(object);                                                                                           \
        return REAL(name)(object);                                                                                     \
    }

DEFINE_CONDITION_WAIT(pthread_cond_wait, mutex_is_freed(mutex), (pthread_cond_t * condition, pthread_mutex_t *mutex),
                      (condition, mutex))
DEFINE_CONDITION_WAIT(pthread_cond_timedwait, mutex_is_freed(mutex),
                      (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *limit),
                      (condition, mutex, limit))
DEFINE_CONDITION_WAIT(pthread_cond_clockwait, mutex_is_freed(mutex),
                      (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
                       const struct timespec *limit),
                      (condition, mutex, clock, limit))
DEFINE_CONDITION_WAIT(cnd_wait, mtx_is_freed(mutex), (cnd_t * condition, mtx_t *mutex), (condition, mutex))
DEFINE_CONDITION_WAIT(cnd_timedwait, mtx_is_freed(mutex),
                      (cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict limit),
                      (condition, mutex, limit))
DEFINE_WAKE(pthread_cond_signal, pthread_cond_t)
DEFINE_WAKE(pthread_cond_broadcast, pthread_cond_t)
DEFINE_WAKE(cnd_signal, cnd_t)
DEFINE_WAKE(cnd_broadcast, cnd_t)

/* ---- semaphores ---- */

/* Returns true if a wait for the semaphore would sleep. Its first word is its value, which is only looked at: libc
 * acts upon a cancellation even if it need not wait. */
static inline bool semaphore_is_empty(const sem_t *semaphore)
{
    return load_relaxed((const uint32_t *)(const void *)semaphore) == 0;
}

#define DEFINE_SEMAPHORE_WAIT(name, parameters, arguments)                                                             \
    static NOINLINE int sleep_in_##name parameters                                                                     \
    {                                                                                                                  \
        const struct pthreads_tool *tool = report_sleep(PTHREADS_SEMAPHORE, semaphore);                                \
        int status = REAL(name) arguments;                                                                             \
        return report_slept(tool, status, status == 0);                                                                \
    }                                                                                                                  \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        if (semaphore_is_empty(semaphore))                                                                             \
            return sleep_in_##name arguments;                                                                          \
        return REAL(name) arguments;                                                                                   \
    }

DEFINE_SEMAPHORE_WAIT(sem_wait, (sem_t * semaphore), (semaphore))
DEFINE_SEMAPHORE_WAIT(sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict limit),
                      (semaphore, limit))
DEFINE_SEMAPHORE_WAIT(sem_clockwait,
                      (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict limit),
                      (semaphore, clock, limit))
DEFINE_WAKE(sem_post, sem_t)

/* ---- barriers ---- */

/* The first words of a barrier since glibc 2.25. */
struct barrier {
    uint32_t arrived; /* number of arrivals, modulo a multiple of `count` */
    uint32_t passed;  /* number of those whose round is over */
    uint32_t count;   /* number of arrivals in a round */
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "these are its first words");

/* Returns true if the calling thread is the last that the barrier waits for. If two threads arrive at the same time,
 * that may be unknown. */
static inline bool barrier_ends_round(const struct barrier *barrier)
{
    return load_relaxed(&barrier->passed) + barrier->count <= load_relaxed(&barrier->arrived) + 1;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    if (barrier_ends_round((const void *)barrier))
        report_wake(barrier);
    const struct pthreads_tool *tool = report_sleep(PTHREADS_BARRIER, barrier);
    int status = REAL(pthread_barrier_wait)(barrier);
    return report_slept(tool, status, true);
}

/* ---- initialisations: libc calls a function of ours in place of the program's ---- */

#define ONCE_IS_DONE 2 /* in the first word, since glibc 2.17 at the latest */

/* What the thread's next call of once_initialise() is for. What it was before is put back: a handler of signals may have
 * interrupted a wait. */
static __thread struct once {
    void (*initialise)(void);
    const void *control;
    const struct pthreads_tool *tool; /* if the thread has waited for others before; else NULL */
} once;

/* An initialisation may begin others. If it ends by an exception, nobody has woken the threads that wait, and one of
 * them begins it again. */
static void once_initialise(void)
{
    const struct once own = once;
    report_slept(own.tool, 0, false);
    own.initialise();
    report_wake(own.control);
}

/* Returns true if the thread need not wait, nor initialise anything. */
static inline bool once_is_done(const void *control)
{
    return load_acquire((const int *)control) & ONCE_IS_DONE;
}

static const struct pthreads_tool *once_begins(const void *control, void (*initialise)(void))
{
    const struct pthreads_tool *tool = load_relaxed((const int *)control) ? report_sleep(PTHREADS_ONCE, control) : NULL;
    once = (struct once){initialise, control, tool};
    return tool;
}

static NOINLINE int once_waits(pthread_once_t *control, void (*initialise)(void))
{
    const struct once before = once;
    const struct pthreads_tool *tool = once_begins(control, initialise);
    int status = REAL(pthread_once)(control, once_initialise);
    once = before;
    return report_slept(tool, status, status == 0);
}

static NOINLINE void once_waits_c11(once_flag *flag, void (*initialise)(void))
{
    const struct once before = once;
    const struct pthreads_tool *tool = once_begins(flag, initialise);
    REAL(call_once)(flag, once_initialise);
    once = before;
    report_slept(tool, 0, true);
}

EXPORT int pthread_once(pthread_once_t *control, void (*initialise)(void))
{
    return once_is_done(control) ? 0 : once_waits(control, initialise);
}

EXPORT void call_once(once_flag *flag, void (*initialise)(void))
{
    if (!once_is_done(flag))
        once_waits_c11(flag, initialise);
}

/* ---- ends of threads: the tool is told of them in any case (threads.c) ---- */

#define DEFINE_JOIN(name, parameters, arguments)                                                                       \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        const struct pthreads_tool *tool = report_sleep(PTHREADS_END, (const void *)thread);                           \
        int status = REAL(name) arguments;                                                                             \
        return report_slept(tool, status, status == 0);                                                                \
    }

DEFINE_JOIN(pthread_join, (pthread_t thread, void **result), (thread, result))
DEFINE_JOIN(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *limit),
            (thread, result, limit))
DEFINE_JOIN(pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *limit),
            (thread, result, clock, limit))
DEFINE_JOIN(thrd_join, (thrd_t thread, int *result), (thread, result))
