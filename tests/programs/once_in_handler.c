/* A handler of signals calls pthread_once() while its thread waits in pthread_once() for another initialisation. That one's
 * thread ends within it, so that the waiting thread begins it again. Prints how often each has begun. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t control = PTHREAD_ONCE_INIT, handlers = PTHREAD_ONCE_INIT;
static sem_t is_begun, is_handled;
static atomic_int waiter, begun, begun_by_handler;

static void initialise(void)
{
    if (begun++ > 0)
        return;
    sem_post(&is_begun);
    sem_wait(&is_handled);
    pthread_exit(NULL);
}

static void initialise_by_handler(void)
{
    begun_by_handler++;
}

static void on_signal(int number)
{
    (void)number;
    pthread_once(&handlers, initialise_by_handler);
    sem_post(&is_handled);
}

static void *begins(void *unused)
{
    pthread_once(&control, initialise);
    return unused;
}

static void *waits(void *unused)
{
    waiter = gettid();
    pthread_once(&control, initialise);
    return unused;
}

static int sleeps(int tid)
{
    char path[64], state = ' ';
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        exit(1);
    fclose(file);
    return state == 'S';
}

int main(void)
{
    pthread_t first, second;
    sem_init(&is_begun, 0, 0);
    sem_init(&is_handled, 0, 0);
    signal(SIGUSR1, on_signal);
    if (pthread_create(&first, NULL, begins, NULL) != 0)
        return 1;
    sem_wait(&is_begun);
    if (pthread_create(&second, NULL, waits, NULL) != 0)
        return 1;
    while (!waiter || !sleeps(waiter))
        usleep(1000);
    pthread_kill(second, SIGUSR1);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%d %d\n", begun, begun_by_handler);
    return 0;
}
