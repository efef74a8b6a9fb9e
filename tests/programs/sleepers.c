/* sleepers.c HOW THREADS MS TIMES: the threads of a team sleep, TIMES times for MS ms, in a read, a nanosleep or a condition wait.
 * Prints how often they have gone to sleep, by the kernel's count, and the CPU time of the process. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void __attribute__((noinline)) pause_for(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void __attribute__((noinline)) wait_in_read(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
}

static void __attribute__((noinline)) wait_for_condition(int until)
{
    pthread_mutex_lock(&mutex);
    while (turn < until)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void wake_all(int threads)
{
    char bytes[4096] = {0};
    if (write(ends[1], bytes, (size_t)threads - 1) != threads - 1)
        abort();
    pthread_mutex_lock(&mutex);
    turn++;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    if (argc != 5 || pipe(ends) != 0)
        return 2;
    const char *how = argv[1];
    int threads = atoi(argv[2]), times = atoi(argv[4]);
    long ms = atol(argv[3]), switches = 0;
#pragma omp parallel num_threads(threads) reduction(+ : switches)
    {
        struct rusage begun, ended;
        getrusage(RUSAGE_THREAD, &begun);
        for (int i = 0; i < times; i++) {
#pragma omp barrier
            if (strcmp(how, "nanosleep") == 0 || omp_get_thread_num() == 0) {
                pause_for(ms);
                if (omp_get_thread_num() == 0)
                    wake_all(threads);
            } else if (strcmp(how, "read") == 0) {
                wait_in_read();
            } else {
                wait_for_condition(i + 1);
            }
        }
        getrusage(RUSAGE_THREAD, &ended);
        switches += ended.ru_nvcsw - begun.ru_nvcsw;
    }
    struct rusage all;
    getrusage(RUSAGE_SELF, &all);
    printf("slept %ld times, CPU %.3f s\n", switches,
           (double)(all.ru_utime.tv_sec + all.ru_stime.tv_sec) +
               1e-6 * (double)(all.ru_utime.tv_usec + all.ru_stime.tv_usec));
    return 0;
}
