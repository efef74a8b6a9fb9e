/* Two threads that take turns under a mutex. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static __attribute__((noinline)) long slow(long turn)
{
    volatile long sum = 0;
    for (long i = 0; i < 300000; i++)
        sum += i ^ turn;
    return sum;
}

static void *work(void *unused)
{
    for (long turn = 0; turn < 200; turn++) {
        pthread_mutex_lock(&lock);
        total += slow(turn);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", total);
    return 0;
}
