/* A thread that is cancelled and comes to no cancellation point: it waits for a critical section whose variable nobody has asked for yet,
 * and goes on behind it; "fork": it forks. */
#include "analytic.h"
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int held, asks, cancelled, went_on;

static void *hold(void *unused)
{
#pragma omp critical(cancelled)
    {
        __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE))
            usleep(1000);
        usleep(200000);
    }
    return unused;
}

static void *wait_for_it(void *unused)
{
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        ;
    __atomic_store_n(&asks, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE))
        ;
#pragma omp critical(cancelled)
    held = 0;
    went_on = 1;
    pthread_testcancel();
    return unused;
}

static void *fork_child(void *status)
{
#pragma omp parallel num_threads(1)
    held = 1;
    __atomic_store_n(&asks, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE))
        ;
    pid_t child = fork();
    if (child == 0)
        _exit(6);
    while (syscall(SYS_wait4, child, status, 0, NULL) < 0)
        ;
    went_on = 1;
    pthread_testcancel();
    return status;
}

int main(int argc, char **argv)
{
    bool forks = argc > 1 && strcmp(argv[1], "fork") == 0;
    int status = 0;
    pthread_t holder, waiter;
    void *result;
#pragma omp parallel num_threads(2) /* the first thread starts the runtime */
    spin_until(clock_s() + 1e-3);
    pthread_create(&holder, NULL, hold, NULL);
    pthread_create(&waiter, NULL, forks ? fork_child : wait_for_it, &status);
    while (!__atomic_load_n(&asks, __ATOMIC_ACQUIRE))
        usleep(1000);
    pthread_cancel(waiter);
    __atomic_store_n(&cancelled, 1, __ATOMIC_RELEASE);
    pthread_join(waiter, &result);
    pthread_join(holder, NULL);
    printf("went on %d, cancelled %d, child's status %#x\n", went_on, result == PTHREAD_CANCELED, (unsigned)status);
    return 0;
}
