/* Critical sections when the thread that was OpenMP's first has ended: "pthread" starts the runtime in a thread of its own, "main" leaves
 * main by pthread_exit() and lets another thread go on. */
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

static void *go_on(void *unused)
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
    if (strcmp(argv[1], "main") == 0) {
        team();
        pthread_create(&thread, NULL, go_on, NULL);
        pthread_exit(NULL);
    }
    pthread_create(&thread, NULL, start, &sum);
    pthread_join(thread, NULL);
    printf("sum %d\n", sum);
    printf("sum %d\n", team());
    return 0;
}
