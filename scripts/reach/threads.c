/* One thread computes under a mutex, and another one waits for it from the beginning, whatever else the machine does. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t locked;
static long total;

static __attribute__((noinline)) long slow(long turn)
{
    volatile long sum = 0;
    for (long i = 0; i < 300000; i++)
        sum += i ^ turn;
    return sum;
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&locked);
    for (long turn = 0; turn < 200; turn++)
        total += slow(turn);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *work(void *unused)
{
    pthread_barrier_wait(&locked);
    pthread_mutex_lock(&lock);
    total += slow(0);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&locked, NULL, 2);
    pthread_create(&threads[0], NULL, hold, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", total);
    return 0;
}
