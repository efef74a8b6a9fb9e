/* What the wrappers of functions that wait or wake have in common. All [any]: the program may call sem_post() in its own
 * handlers of signals, and jump out of any of these functions. */
#ifndef BLAME_LAYERS_PTHREADS_REPORTS_H
#define BLAME_LAYERS_PTHREADS_REPORTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>
#include <time.h>

#include "base/atomics.h"
#include "base/pthreads_layer.h"
#include "layers/pthreads/functions.h"

#define NOINLINE   __attribute__((noinline))
#define NS_PER_S   1000000000l
#define KIND_BITS  3 /* in the kind of a mutex: normal, recursive, error-checking or adaptive */
#define REAL(name) load_relaxed(&pthreads_real.name)

/* Returns true if somebody may have left something at some lock. The tool raises the word only after it is attached. */
static inline bool something_is_left(void)
{
    return unlikely(load_relaxed(&pthreads_words.left));
}

/* Returns the tool if it knows of a thread that sleeps until another one wakes it, or else NULL. */
static inline const struct pthreads_tool *someone_is_awaited(void)
{
    return unlikely(load_relaxed(&pthreads_words.awaited)) ? load_acquire(&pthreads_attached) : NULL;
}

/* Must be called before the threads are woken: they look for the report when they run. */
static inline void report_wake(const void *object)
{
    const struct pthreads_tool *tool = someone_is_awaited();
    if (tool)
        tool->wakes(object);
}

/* Returns the tool if it is one that heeds waits for other threads' signals. */
static inline const struct pthreads_tool *report_sleep(enum pthreads_awaited awaited, const void *object)
{
    const struct pthreads_tool *tool = load_acquire(&pthreads_attached);
    if (!tool || tool->bytes <= offsetof(struct pthreads_tool, sleeps))
        return NULL;
    tool->sleeps(awaited, object);
    return tool;
}

/* A wait that is cancelled, or left by a jump, does not come here. The thread's next report ends it. */
static inline int report_slept(const struct pthreads_tool *tool, int status, bool woken)
{
    if (tool)
        tool->slept(woken);
    return status;
}

static inline bool clock_is_valid(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool limit_is_valid(const struct timespec *limit)
{
    return limit && limit->tv_nsec >= 0 && limit->tv_nsec < NS_PER_S;
}

/* Returns false for a recursive mutex that the thread has locked more than once. */
static inline bool mutex_is_freed(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & KIND_BITS) != PTHREAD_MUTEX_RECURSIVE_NP || mutex->__data.__count <= 1;
}

/* C11's mutexes are those of POSIX threads under another name. */
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t has the same fields");
static inline bool mtx_is_freed(const mtx_t *mutex)
{
    return mutex_is_freed((const pthread_mutex_t *)(const void *)mutex);
}

#endif
