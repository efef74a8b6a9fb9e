/* Critical sections when the thread that was OpenMP's first has ended: "pthread" starts the runtime in a thread of its own, "main" leaves
 * main by pthread_exit() and lets another thread go on, "last" does so and that thread ends as well (of clang's forms the process then stays), "many" while threads go through critical sections of their own as fast as they can, "waits" while
 * one waits for a section, behind which it works. */
#include "analytic.h"
#include <pthread.h>
#include <unistd.h>

NAMED static int team(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 200; i++)
#pragma omp critical(first_thread)
    {
        spin_until(clock_s() + 1e-4);
        sum++;
    }
    return sum;
}

static void *go_on(void *last)
{
    char path[64], state = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
    while (state != 'Z') { /* as the first thread is called when it has ended */
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 'Z';
        if (file)
            fclose(file);
        usleep(1000);
    }
    printf("sum %d\n", team());
    if (!last)
        exit(0);
    return last;
}

/* Two names, as no thread is to wait. */
static void *go_through(void *second)
{
    long passed = 0;
    for (double end_s = clock_s() + 0.06; clock_s() < end_s;)
        for (int i = 0; i < 10000; i++)
            if (second) {
#pragma omp critical(second)
                passed++;
            } else {
#pragma omp critical(first)
                passed++;
            }
    return passed ? NULL : second;
}

static void *go_through_both(void *unused)
{
    pthread_t other;
    pthread_create(&other, NULL, go_through, NULL);
    go_through(&other);
    pthread_join(other, NULL);
    printf("passed\n");
    exit(0);
    return unused;
}

static int held;

static void *hold(void *unused)
{
#pragma omp critical(first_thread)
    {
        __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
        usleep(300000);
    }
    return unused;
}

NAMED static void work_behind(void)
{
    spin_until(clock_s() + 0.6);
}

static void *wait_and_work(void *unused)
{
    pthread_t holder;
    pthread_create(&holder, NULL, hold, NULL);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        usleep(100);
#pragma omp critical(first_thread)
    held = 0;
    work_behind();
    printf("held %d\n", held);
    exit(0);
    return unused;
}

static void *start(void *sum)
{
    *(int *)sum = team();
    return NULL;
}

int main(int argc, char **argv)
{
    int sum = 0;
    pthread_t thread;
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "pthread") != 0) {
        int many = strcmp(argv[1], "many") == 0, waits = strcmp(argv[1], "waits") == 0;
        team();
        pthread_create(&thread, NULL,
                       many    ? go_through_both
                       : waits ? wait_and_work
                               : go_on,
                       strcmp(argv[1], "last") == 0 ? &thread : NULL);
        usleep(many ? 20000 : waits ? 150000 : 0);
        pthread_exit(NULL);
    }
    pthread_create(&thread, NULL, start, &sum);
    pthread_join(thread, NULL);
    printf("sum %d\n", sum);
    printf("sum %d\n", team());
    return 0;
}
