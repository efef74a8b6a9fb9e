/* POSIX threads beside the teams of a program that uses OpenMP from its start.
 *
 *     beside works MS      threads work, sleep and wait for a mutex, before and after a region of two threads
 *     beside killed MS     the same, and then the program is killed
 *     beside joins MS      a thread works, and then begins a region of its own
 *     beside waits MS      two threads have teams, and the first one only waits for their ends
 *     beside late MS       a team waits for a task that a thread completes, which sleeps before it uses OpenMP
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

NAMED static void *has_teams(void *argument)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        compute(1);
    return argument;
}

NAMED static void sleeps_first(void)
{
    struct timespec time = {.tv_nsec = (long)(ms * 5e6)};
    nanosleep(&time, NULL);
    sink += 7;
}

NAMED static void *joins_late(void *event)
{
    omp_lock_t lock;
    sleeps_first();
    omp_init_lock(&lock);
    sleeps(NULL);
    omp_fulfill_event((omp_event_handle_t)event);
    return NULL;
}

static pthread_t made(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0)
        exit(3);
    return thread;
}

static pthread_t team_waits(void)
{
    pthread_t thread;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task detach(event) depend(out : thread) shared(thread)
        thread = made(joins_late, (void *)event);
#pragma omp task depend(in : thread) /* without it, no thread of libgomp 12 wakes */
        sink += 8;
    }
    return thread;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    ms = atof(argv[2]);
    bool two = strcmp(argv[1], "waits") == 0;
    pthread_t second = two ? made(has_teams, NULL) : 0;
    pthread_t first = made(two ? has_teams : strcmp(argv[1], "joins") == 0 ? begins_region : works, NULL);
    if (strcmp(argv[1], "late") == 0)
        pthread_join(team_waits(), NULL);
    bool killed = strcmp(argv[1], "killed") == 0;
    if (killed || strcmp(argv[1], "works") == 0) {
        holds();
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0)
            team_works();
        pthread_join(made(works_later, NULL), NULL);
        pthread_join(made(sleeps, NULL), NULL);
        if (killed)
            raise(SIGKILL);
    }
    pthread_join(first, NULL);
    if (two)
        pthread_join(second, NULL);
    puts("done");
    return 0;
}
