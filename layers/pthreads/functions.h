/* libc's functions that the wrappers call, and the tool that they report to. */
#ifndef BLAME_LAYERS_PTHREADS_FUNCTIONS_H
#define BLAME_LAYERS_PTHREADS_FUNCTIONS_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* F(type, name, parameters, arguments) */
#define PTHREADS_FUNCTIONS(F)                                                                                          \
    F(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))                                                     \
    F(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))                                                  \
    F(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *limit), (mutex, limit))           \
    F(int, pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *limit),          \
      (mutex, clock, limit))                                                                                           \
    F(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))                                                   \
    F(int, mtx_lock, (mtx_t * mutex), (mutex))                                                                         \
    F(int, mtx_trylock, (mtx_t * mutex), (mutex))                                                                      \
    F(int, mtx_timedlock, (mtx_t * mutex, const struct timespec *limit), (mutex, limit))                               \
    F(int, mtx_unlock, (mtx_t * mutex), (mutex))                                                                       \
    F(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))                                                   \
    F(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))                                                \
    F(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *limit), (lock, limit))         \
    F(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *limit),       \
      (lock, clock, limit))                                                                                            \
    F(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))                                                   \
    F(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))                                                \
    F(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *limit), (lock, limit))         \
    F(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *limit),       \
      (lock, clock, limit))                                                                                            \
    F(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))                                                   \
    F(int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))                                                     \
    F(int, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))                                                  \
    F(int, pthread_spin_unlock, (pthread_spinlock_t * lock), (lock))                                                   \
    F(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t * mutex), (condition, mutex))               \
    F(int, pthread_cond_timedwait,                                                                                     \
      (pthread_cond_t * condition, pthread_mutex_t * mutex, const struct timespec *limit), (condition, mutex, limit))  \
    F(int, pthread_cond_clockwait,                                                                                     \
      (pthread_cond_t * condition, pthread_mutex_t * mutex, clockid_t clock, const struct timespec *limit),            \
      (condition, mutex, clock, limit))                                                                                \
    F(int, pthread_cond_signal, (pthread_cond_t * condition), (condition))                                             \
    F(int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition))                                          \
    F(int, sem_wait, (sem_t * semaphore), (semaphore))                                                                 \
    F(int, sem_timedwait, (sem_t * semaphore, const struct timespec *limit), (semaphore, limit))                       \
    F(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *limit),                          \
      (semaphore, clock, limit))                                                                                       \
    F(int, sem_post, (sem_t * semaphore), (semaphore))                                                                 \
    F(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))                                             \
    F(int, pthread_join, (pthread_t thread, void **result), (thread, result))                                          \
    F(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *limit),                      \
      (thread, result, limit))                                                                                         \
    F(int, pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *limit),     \
      (thread, result, clock, limit))                                                                                  \
    F(int, thrd_join, (thrd_t thread, int *result), (thread, result))                                                  \
    F(int, pthread_once, (pthread_once_t * control, void (*initialise)(void)), (control, initialise))                  \
    F(void, call_once, (once_flag * flag, void (*initialise)(void)), (flag, initialise))                               \
    F(int, pthread_create,                                                                                             \
      (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),                  \
      (thread, attributes, start, argument))                                                                           \
    F(int, sigwait, (const sigset_t *signals, int *signal), (signals, signal))                                         \
    F(int, sigwaitinfo, (const sigset_t *signals, siginfo_t *info), (signals, info))                                   \
    F(int, sigtimedwait, (const sigset_t *signals, siginfo_t *info, const struct timespec *limit),                     \
      (signals, info, limit))                                                                                          \
    F(int, thrd_create, (thrd_t * thread, thrd_start_t start, void *argument), (thread, start, argument))              \
    F(int, cnd_wait, (cnd_t * condition, mtx_t * mutex), (condition, mutex))                                           \
    F(int, cnd_timedwait, (cnd_t * condition, mtx_t * mutex, const struct timespec *limit), (condition, mutex, limit)) \
    F(int, cnd_signal, (cnd_t * condition), (condition))                                                               \
    F(int, cnd_broadcast, (cnd_t * condition), (condition))                                                            \
    F(int, prctl, (int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth),  \
      (option, second, third, fourth, fifth))                                                                          \
    F(long, syscall, (long number, long first, long second, long third, long fourth, long fifth, long sixth),          \
      (number, first, second, third, fourth, fifth, sixth))

#define PTHREADS_POINTER(type, name, parameters, arguments) type(*name) parameters;
/* Until they have been looked up, each entry is a function that does so. */
extern struct pthreads_real {
    PTHREADS_FUNCTIONS(PTHREADS_POINTER)
} pthreads_real __attribute__((visibility("hidden")));

struct pthreads_tool;

/* The tool; NULL until one is attached. */
extern const struct pthreads_tool *pthreads_attached __attribute__((visibility("hidden")));

/* What the tool keeps above 0 while there is something to report. */
extern struct pthreads_words pthreads_words __attribute__((visibility("hidden")));
extern const char syscalls_behind[] __attribute__((visibility("hidden"))); /* syscalls.c */

#endif
