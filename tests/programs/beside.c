/* POSIX threads beside the teams of a program that uses OpenMP from its start.
 *
 *     beside works MS      threads work, sleep and wait for a mutex, before and after a region of two threads
 *     beside killed MS     the same, and then the program is killed
 *     beside joins MS      a thread works, and then begins a region of its own
 *     beside alone MS      threads work, and there is no region */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu_work.h"

#define NAMED __attribute__((noinline))

static double ms;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int asks;

static inline __attribute__((always_inline)) void compute(double share)
{
    compute_ms(share * ms);
}

NAMED static void *works(void *argument)
{
    compute(1);
    sink += 1;
    return argument;
}

NAMED static void *works_later(void *argument)
{
    compute(1);
    sink += 2;
    return argument;
}

NAMED static void *sleeps(void *argument)
{
    struct timespec half = {.tv_nsec = (long)(ms * 5e5)};
    nanosleep(&half, NULL);
    sink += 3;
    return argument;
}

NAMED static void *waits(void *argument)
{
    asks = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sink += 4;
    return argument;
}

NAMED static void holds(void)
{
    pthread_mutex_lock(&mutex);
    pthread_t waiter;
    pthread_create(&waiter, NULL, waits, NULL);
    while (!asks)
        ;
    compute(1);
    pthread_mutex_unlock(&mutex);
    pthread_join(waiter, NULL);
    sink += 5;
}

NAMED static void team_works(void)
{
    compute(1);
    sink += 6;
}

NAMED static void *begins_region(void *argument)
{
    compute(0.5);
#pragma omp parallel num_threads(1)
    compute(0.5);
    return argument;
}

static pthread_t made(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        exit(3);
    return thread;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    ms = atof(argv[2]);
    pthread_t first = made(strcmp(argv[1], "joins") == 0 ? begins_region : works);
    bool killed = strcmp(argv[1], "killed") == 0;
    if (killed || strcmp(argv[1], "works") == 0) {
        holds();
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0)
            team_works();
        pthread_join(made(works_later), NULL);
        pthread_join(made(sleeps), NULL);
        if (killed)
            raise(SIGKILL);
    }
    pthread_join(first, NULL);
    puts("done");
    return 0;
}
