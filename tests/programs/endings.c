/* Every way to end a program, by argument, after half a second of work whose profile must still be readable.
 */
#include "analytic.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

NAMED static void before_the_end(void)
{
    spin_until(clock_s() + 0.5);
    __asm__ volatile("");
}

static void *exit_from_here(void *unused)
{
    (void)unused;
    exit(3);
}

static void exit_on_a_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_create(&thread, &attributes, exit_from_here, NULL);
    pthread_join(thread, NULL);
}

/* Its team's threads begin while the process ends. */
static void *begin_a_team(void *ready)
{
    pthread_barrier_wait(ready);
#pragma omp parallel num_threads(8)
    spin_until(clock_s() + 2);
    return NULL;
}

static void exit_beside_threads(void)
{
    enum { THREADS = 6 };
    static pthread_barrier_t ready;
    pthread_t thread;
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, begin_a_team, &ready);
    pthread_barrier_wait(&ready);
    exit(3);
}

static void end_by(const char *way)
{
    if (strcmp(way, "exit_beside") == 0)
        exit_beside_threads();
    if (strcmp(way, "exit_small_stack") == 0)
        exit_on_a_small_stack();
    if (strcmp(way, "pause_hard") == 0)
        omp_pause_resource_all(omp_pause_hard); /* ends the runtime, and the program goes on */
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "sigkill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "sigterm") == 0)
        raise(SIGTERM);
    if (strcmp(way, "segfault") == 0)
        raise(SIGSEGV);
    exit(3);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const char *way = argv[1];
    printf("before the end\n");
    fflush(stdout);
    int ending_thread = strcmp(way, "exit_primary") == 0 ? 0 : strcmp(way, "exit_worker") == 0 ? 1 : -1;
#pragma omp parallel num_threads(2)
    {
        before_the_end();
        if (omp_get_thread_num() == ending_thread)
            exit(3);
        if (ending_thread >= 0) /* a region that is still running when the process ends */
            spin_until(clock_s() + 2);
    }
    end_by(way);
}
