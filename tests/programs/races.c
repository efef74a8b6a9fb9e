/* Regions, barriers, tasks, critical sections and copies that ThreadSanitizer does not know. Without races, unless there
 * is an argument: then each thread writes one variable. */
#include <omp.h>
#include <stdio.h>

enum { N = 1000, THREADS = 4 };
int numbers[N], sum, raced, ring[THREADS];

static void region(int races)
{
#pragma omp parallel num_threads(THREADS)
    {
        int own = omp_get_thread_num(), copied;
#pragma omp for
        for (int i = 0; i < N; i++)
            numbers[i] += i;
#pragma omp for schedule(dynamic, 10)
        for (int i = 0; i < N; i++)
            numbers[N - 1 - i] += i;
#pragma omp critical
        sum += own;
        ring[own] = own;
        if (races)
            raced = own;
#pragma omp barrier
#pragma omp critical
        sum += ring[(own + 1) % THREADS];
#pragma omp single
        {
            for (int i = 0; i < 10; i++) {
#pragma omp task
                numbers[i * 10]++;
            }
#pragma omp taskwait
            numbers[0]--;
        }
#pragma omp single copyprivate(copied)
        copied = numbers[5];
#pragma omp critical
        sum += copied;
#pragma omp master
#pragma omp taskgroup
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(inout : ring[0])
            ring[0]++;
        }
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 3; i++)
        region(argc > 1);
    printf("%d\n", sum + numbers[3]);
    return 0;
}
