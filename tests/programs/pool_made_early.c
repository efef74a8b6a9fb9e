/* A library whose constructor makes two threads, before any code of the program runs: one works, one waits until the
 * program wakes it and then works. With OpenMP, the library's constructor begins a region, and the program makes the threads.
 * A main with OpenMP works alone and then begins a region itself. */
#include <pthread.h>
#include <stdlib.h>

int join_pool(void);

#ifdef LIBRARY

#include "cpu_work.h"

static pthread_t threads[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_called;

static __attribute__((noinline)) void *works_at_once(void *unused)
{
    compute_ms(100);
    return unused;
}

static __attribute__((noinline)) void *works_when_called(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (!is_called)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    compute_ms(50);
    return unused;
}

static void make_pool(void)
{
    if (pthread_create(&threads[0], NULL, works_at_once, NULL) ||
        pthread_create(&threads[1], NULL, works_when_called, NULL))
        abort();
}

__attribute__((constructor)) static void begin_early(void)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
    compute_ms(1);
#else
    make_pool();
#endif
}

int join_pool(void)
{
#ifdef _OPENMP
    make_pool();
#endif
    pthread_join(threads[0], NULL);
    pthread_mutex_lock(&mutex);
    is_called = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[1], NULL);
    return 0;
}

#else

#include "cpu_work.h"

static __attribute__((noinline)) void works_alone(void)
{
    compute_ms(50);
}

int main(void)
{
#ifdef _OPENMP
    works_alone();
#pragma omp parallel num_threads(2)
    compute_ms(1);
#endif
    (void)works_alone;
    return join_pool();
}

#endif
