/* Programs whose slow construct is known, whatever else runs on the machine: constructs CASE. The title of the
 * finding that is right for each is in tests/behaviour/test_findings.py. */
#include "analytic.h"
#include <pthread.h>

static int flag;

static void *spin_beside(void *unused)
{
    spin_until(clock_s() + 0.5);
    return unused;
}

/* Two threads that OpenMP does not know work while the initial thread waits for them. */
NAMED static void beside_openmp(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, spin_beside, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static pthread_barrier_t meeting;

NAMED static void work_before_meeting(void)
{
    spin_until(clock_s() + 0.4);
    pthread_barrier_wait(&meeting);
}

/* The second thread waits for the first, and the third for the end of both. */
NAMED static void meet_in_region(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 0)
            work_before_meeting();
        if (omp_get_thread_num() == 1)
            pthread_barrier_wait(&meeting);
    }
}

NAMED static void make_locks(void)
{
    long count = 1000 * 1000;
    omp_lock_t *locks = malloc((size_t)count * sizeof *locks);
    for (long i = 0; locks && i < count; i++)
        omp_init_lock(&locks[i]);
    for (long i = 0; locks && i < count; i++)
        omp_destroy_lock(&locks[i]);
    free(locks);
}

NAMED static void await_flag(int expected)
{
    int seen;
    do {
#pragma omp atomic read seq_cst
        seen = flag;
    } while (seen < expected);
}

/* One thread works while the other reads a flag. */
NAMED static void spin_for_flag(void)
{
#pragma omp parallel num_threads(2)
    for (int turn = 1; turn <= 5; turn++) {
        if (omp_get_thread_num() == 0) {
            spin_until(clock_s() + 0.1);
#pragma omp atomic write seq_cst
            flag = turn;
        } else
            await_flag(turn);
    }
}

NAMED static long fibonacci(int number)
{
    long left, right;
    if (number < 2)
        return number;
#pragma omp task shared(left)
    left = fibonacci(number - 1);
#pragma omp task shared(right)
    right = fibonacci(number - 2);
#pragma omp taskwait
    return left + right;
}

NAMED static void fine_tasks(void)
{
    long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    sum = fibonacci(26);
    printf("%ld\n", sum);
}

NAMED static void sleep_together(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 50; i++)
        usleep(10000);
}

/* One thread at a time sleeps in the section, and the other waits for it. */
NAMED static void sleep_in_turn(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 25; i++) {
#pragma omp critical(input)
        usleep(10000);
    }
}

/* The same with a mutex. */
NAMED static void sleep_with_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 25; i++) {
        pthread_mutex_lock(&mutex);
        usleep(10000);
        pthread_mutex_unlock(&mutex);
    }
}

NAMED static void long_section(void)
{
    spin_until(clock_s() + 0.3);
}

NAMED static void unequal_sections(void)
{
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        long_section();
#pragma omp section
        spin_until(clock_s() + 0.03);
    }
}

NAMED static void begin_openmp(void)
{
#pragma omp parallel num_threads(1)
    spin_until(clock_s() + 0.001);
}

#define BINS 200000

static double bins[BINS];
static long updated;

NAMED static void update_atomically(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 20 * 1000 * 1000; i++) {
#pragma omp atomic
        updated += i;
    }
}

/* Each thread has a copy of all bins and uses few of them. */
NAMED static void reduce_array(void)
{
    for (int step = 0; step < 200; step++) {
#pragma omp parallel for num_threads(2) reduction(+ : bins[ : BINS])
        for (int i = 0; i < 40000; i++)
            bins[i * 7919 % BINS] += i / (1.0 + bins[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"beside", beside_openmp},     {"locks", make_locks},       {"flag", spin_for_flag},
                 {"tasks", fine_tasks},         {"asleep", sleep_together},  {"sections", unequal_sections},
                 {"turns", sleep_in_turn},      {"mutex", sleep_with_mutex}, {"meeting", meet_in_region},
                 {"atomic", update_atomically}, {"reduction", reduce_array}};
    begin_openmp();
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 0;
}
