/* Everything that the tool takes part in, again and again, and the program's own allocations between: for
 * tool_memory.so, which is told what the program is doing. */
#include <dlfcn.h>
#include <pthread.h>

#include "analytic.h"

static omp_lock_t lock;
static double sums[64];
static void (*tell)(const char *);

NAMED static void do_work(int deep)
{
    if (deep > 0)
        do_work(deep - 1);
    spin_until(clock_s() + 2e-6);
}

/* A region with a loop, tasks, both kinds of sections, and a region in it. */
NAMED static void do_all(int threads)
{
    double *array = malloc(200000 * sizeof(double));
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
        for (int i = 0; i < 200000; i++)
            array[i] = i;
#pragma omp single
        for (int i = 0; i < 20; i++)
#pragma omp task firstprivate(i)
        {
            do_work(i);
#pragma omp taskwait
        }
#pragma omp critical
        do_work(3);
        omp_set_lock(&lock);
        do_work(3);
        omp_unset_lock(&lock);
        if (omp_get_thread_num() == 0)
#pragma omp parallel num_threads(2)
            do_work(10);
    }
    sums[0] += array[199999];
    free(array);
}

static void repeat(const char *what, int threads, double seconds)
{
    double end = clock_s() + seconds;
    tell(what);
    while (clock_s() < end)
        do_all(threads);
}

/* libomp 19.1.7 crashes, without any tool, when such threads create tasks after nested regions. */
static void *other_thread(void *argument)
{
    (void)argument;
#pragma omp parallel num_threads(2)
    do_work(10);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    tell = (void (*)(const char *))dlsym(RTLD_DEFAULT, "tool_memory_phase");
    if (!tell || !library) {
        fputs("usage: LD_PRELOAD=tool_memory.so allocations LIBRARY\n", stderr);
        return 2;
    }
    omp_init_lock(&lock);
    omp_set_max_active_levels(2);
    do_all(2);
    repeat("running", 2, 0.5);
    tell("more threads");
    do_all(4);
    repeat("running with more", 4, 0.5);
    tell("another initial thread");
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, other_thread, NULL);
        pthread_join(thread, NULL);
    }
    dlclose(library);
    library = dlopen(argv[1], RTLD_NOW);
    repeat("running with another library", 4, 1.2); /* the load map is read again each second */
    tell("end");
    puts("done");
    return library ? 0 : 1;
}
