/* OpenMP from two pthreads at once: two primary threads with a team each, whose contexts must not mix. */
#include "analytic.h"
#include <pthread.h>

NAMED static void first_share(void)
{
    work_for("first_share", 0.1009);
}

NAMED static void second_share(void)
{
    work_for("second_share", 0.0707);
}

static void *first_driver(void *unused)
{
    for (int repetition = 0; repetition < 8; repetition++)
#pragma omp parallel num_threads(2)
        first_share();
    return unused;
}

static void *second_driver(void *unused)
{
    for (int repetition = 0; repetition < 8; repetition++)
#pragma omp parallel num_threads(2)
        second_share();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first_driver, NULL);
    pthread_create(&threads[1], NULL, second_driver, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    sweep(4);
    expect("work", "first_share", recorded_work("first_share"));
    expect("work", "second_share", recorded_work("second_share"));
    printf("below first_share first_driver\n");
    printf("below second_share second_driver\n");
    return 0;
}
