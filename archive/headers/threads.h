/* The part of <threads.h> that libblame-pthreads.so needs to stand before glibc's functions of that name, where the program has them
 * (glibc 2.28 and newer). The headers of glibc 2.17 have none. */
#ifndef BLAME_ARCHIVE_THREADS_H
#define BLAME_ARCHIVE_THREADS_H

#include <pthread.h>
#include <time.h>
#if __has_include(<bits/types/once_flag.h>)
#include <bits/types/once_flag.h>
#else
typedef __once_flag once_flag; /* scripts/check-old-glibc.py uses the system's headers */
#endif

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };

typedef pthread_t thrd_t;
typedef int (*thrd_start_t)(void *);
typedef union {
    char size[sizeof(pthread_mutex_t)];
    long align;
} mtx_t;
typedef union {
    char size[sizeof(pthread_cond_t)];
    long long align;
} cnd_t;

int thrd_create(thrd_t *thread, thrd_start_t start, void *argument);
int mtx_lock(mtx_t *mutex);
int mtx_trylock(mtx_t *mutex);
int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict limit);
int mtx_unlock(mtx_t *mutex);
int cnd_wait(cnd_t *condition, mtx_t *mutex);
void call_once(once_flag *flag, void (*initialise)(void));
int thrd_join(thrd_t thread, int *result);
int cnd_signal(cnd_t *condition);
int cnd_broadcast(cnd_t *condition);
int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict limit);

#endif
