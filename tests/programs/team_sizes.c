/* Regions of other sizes after each other, so that teams are made and unmade all the time, with tasks in them
 * that are begun at once: team_sizes final|if|lock|nested|teams [ROUNDS]. It prints a sum that is known. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long sum;
static omp_lock_t lock;

static void add(long value)
{
#pragma omp atomic
    sum += value;
}

/* A final task runs at once, and so do those that it creates. */
static void final_task(int threads)
{
#pragma omp task final(1)
    {
        add(1);
#pragma omp task
        add(threads);
#pragma omp taskwait
    }
}

static void if_tasks(int threads)
{
#pragma omp task if (0)
    {
        add(1);
#pragma omp task if (1)
        add(threads - 1);
    }
#pragma omp task if (1)
    {
#pragma omp task if (0)
        add(1);
    }
#pragma omp taskwait
}

static void locked_task(int threads)
{
    (void)threads;
#pragma omp task
    {
        omp_set_lock(&lock);
        sum += threads + 1;
        omp_unset_lock(&lock);
#pragma omp task untied
        add(0);
    }
}

static void nested_region(int threads)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        final_task(threads);
    }
}

/* Teams of many threads at once, each of which gives its memory away before its end is told. */
static void teams_in_teams(int threads)
{
    for (int round = 0; round < 256 / threads; round++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp parallel num_threads(2 + threads % 5)
            add(1);
        }
    }
}

static const struct {
    const char *name;
    void (*body)(int threads);
} ways[] = {{"final", final_task},
            {"if", if_tasks},
            {"lock", locked_task},
            {"nested", nested_region},
            {"teams", teams_in_teams}};

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 1, way = 0;
    while (way < 4 && argc > 1 && strcmp(argv[1], ways[way].name) != 0)
        way++;
    omp_set_max_active_levels(3);
    omp_init_lock(&lock);
    for (int round = 0; round < rounds; round++)
        for (int threads = 4; threads <= (way == 4 ? 8 : 64); threads *= 2) {
#pragma omp parallel num_threads(threads)
            ways[way].body(threads);
        }
    omp_destroy_lock(&lock);
    printf("%ld\n", sum);
    return 0;
}
