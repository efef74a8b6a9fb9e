/* Who wakes whom, known by construction: wakes TIMES WAY ... A consumer waits TIMES times each for two producers, which sleep
 * before they wake it: slow() for 30 ms, quick() for 10 ms. Prints for how long it waited for each. The ways:
 *
 *     condition, broadcast, c11    in a condition variable
 *     semaphore                    in a semaphore
 *     barrier                      in a barrier, where they come last
 *     end                          in pthread_join, for threads whose functions they are
 *     once, once_c11               in pthread_once and call_once, for threads that initialise
 *     futex                        on a word, by system calls
 *     times_out                    in a condition variable and a semaphore, until a time limit: nobody wakes it */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NAMED __attribute__((noinline, noclone, noipa))

enum producer { NOBODY, SLOW, QUICK, PRODUCERS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static sem_t semaphore, wanted;
static pthread_barrier_t barrier;
static volatile int item; /* who has made it */
static int times;
static double waited_s[PRODUCERS];

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_ms(long ms)
{
    const struct timespec length = {.tv_nsec = ms * 1000000};
    nanosleep(&length, NULL);
}

/* A program that does less leaves no profile. */
NAMED static void work_enough(void)
{
    while (clock() < CLOCKS_PER_SEC / 25)
        ;
}

/* ---- condition variables ---- */

NAMED static void wake_by_condition(enum producer producer)
{
    pthread_mutex_lock(&mutex);
    item = producer;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

NAMED static void wake_by_broadcast(enum producer producer)
{
    pthread_mutex_lock(&mutex);
    item = producer;
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&condition);
}

NAMED static void wait_for_condition(void)
{
    pthread_mutex_lock(&mutex);
    while (item == NOBODY)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

NAMED static void wake_by_c11(enum producer producer)
{
    mtx_lock(&c11_mutex);
    item = producer;
    mtx_unlock(&c11_mutex);
    cnd_signal(&c11_condition);
}

NAMED static void wait_for_c11(void)
{
    mtx_lock(&c11_mutex);
    while (item == NOBODY)
        cnd_wait(&c11_condition, &c11_mutex);
    mtx_unlock(&c11_mutex);
}

/* ---- semaphores ---- */

NAMED static void wake_by_semaphore(enum producer producer)
{
    item = producer;
    sem_post(&semaphore);
}

NAMED static void wait_for_semaphore(void)
{
    while (sem_wait(&semaphore) != 0)
        ;
}

/* ---- barriers, ends of threads, system calls ---- */

NAMED static void wake_by_barrier(enum producer producer)
{
    item = producer;
    pthread_barrier_wait(&barrier);
}

NAMED static void wait_in_barrier(void)
{
    pthread_barrier_wait(&barrier);
    __asm__ volatile(""); /* so that it is no jump */
}

NAMED static void wake_by_futex(enum producer producer)
{
    item = producer;
    syscall(SYS_futex, &item, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

NAMED static void wait_on_word(void)
{
    while (item == NOBODY)
        syscall(SYS_futex, &item, FUTEX_WAIT_PRIVATE, NOBODY, NULL, NULL, 0);
}

NAMED static void *slow_thread(void *unused)
{
    sleep_ms(30);
    item = SLOW;
    return unused;
}

NAMED static void *quick_thread(void *unused)
{
    sleep_ms(10);
    item = QUICK;
    return unused;
}

NAMED static void wait_for_ends(void)
{
    static unsigned turn;
    pthread_t thread;
    if (pthread_create(&thread, NULL, turn++ % 2 ? quick_thread : slow_thread, NULL) != 0)
        exit(1);
    pthread_join(thread, NULL);
}

/* ---- initialisations ---- */

static sem_t is_begun;
static pthread_once_t control;
static once_flag flag;

static void slow_initialisation(void)
{
    sem_post(&is_begun);
    sleep_ms(30);
    item = SLOW;
}

static void quick_initialisation(void)
{
    sem_post(&is_begun);
    sleep_ms(10);
    item = QUICK;
}

static bool is_c11;

static void initialise_by(void (*initialise)(void))
{
    if (is_c11)
        call_once(&flag, initialise);
    else
        pthread_once(&control, initialise);
}

NAMED static void *slow_once(void *unused)
{
    initialise_by(slow_initialisation);
    return unused;
}

NAMED static void *quick_once(void *unused)
{
    initialise_by(quick_initialisation);
    return unused;
}

NAMED static void wait_for_initialisation(void)
{
    static unsigned turn;
    pthread_t thread;
    control = (pthread_once_t)PTHREAD_ONCE_INIT;
    flag = (once_flag)ONCE_FLAG_INIT;
    if (pthread_create(&thread, NULL, turn++ % 2 ? quick_once : slow_once, NULL) != 0)
        exit(1);
    while (sem_wait(&is_begun) != 0)
        ;
    initialise_by(abort);
    pthread_join(thread, NULL);
}

NAMED static void wait_for_c11_initialisation(void)
{
    is_c11 = true;
    wait_for_initialisation();
    is_c11 = false;
}

/* ---- time limits ---- */

static struct timespec soon(void)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 30000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    return limit;
}

NAMED static void wait_in_vain(void)
{
    struct timespec limit = soon();
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &limit) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&mutex);
    limit = soon();
    if (sem_timedwait(&semaphore, &limit) != -1 || errno != ETIMEDOUT)
        printf("not in vain: %s\n", strerror(errno));
}

/* ---- all of them ---- */

static const struct way {
    const char *name;
    void (*wake)(enum producer producer);
    void (*wait)(void);
} ways[] = {{"condition", wake_by_condition, wait_for_condition},
            {"broadcast", wake_by_broadcast, wait_for_condition},
            {"c11", wake_by_c11, wait_for_c11},
            {"semaphore", wake_by_semaphore, wait_for_semaphore},
            {"barrier", wake_by_barrier, wait_in_barrier},
            {"futex", wake_by_futex, wait_on_word},
            {"end", NULL, wait_for_ends},
            {"once", NULL, wait_for_initialisation},
            {"once_c11", NULL, wait_for_c11_initialisation},
            {"times_out", NULL, wait_in_vain}};
static const struct way *way;

NAMED static void slow(void)
{
    sleep_ms(30);
    way->wake(SLOW);
    __asm__ volatile("");
}

NAMED static void quick(void)
{
    sleep_ms(10);
    way->wake(QUICK);
    __asm__ volatile("");
}

static void *produce(void *make)
{
    for (int i = 0; i < times; i++) {
        sem_wait(&wanted);
        ((void (*)(void))make)();
    }
    return NULL;
}

NAMED static void consume(void)
{
    double begin_s = clock_s();
    way->wait();
    waited_s[item] += clock_s() - begin_s;
    item = NOBODY;
}

static void go_all_the_way(void)
{
    static void (*const makes[])(void) = {slow, quick};
    for (int i = 0; way->wake && i < 2; i++) {
        pthread_t thread;
        sem_init(&wanted, 0, 0);
        if (pthread_create(&thread, NULL, produce, (void *)makes[i]) != 0)
            exit(1);
        for (int n = 0; n < times; n++) {
            sem_post(&wanted);
            consume();
        }
        pthread_join(thread, NULL);
    }
    for (int n = 0; !way->wake && n < times; n++)
        consume();
}

int main(int argc, char **argv)
{
    times = argc > 1 ? atoi(argv[1]) : 1;
    work_enough();
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    sem_init(&semaphore, 0, 0);
    sem_init(&is_begun, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 2; i < argc; i++) {
        way = NULL;
        for (size_t number = 0; number < sizeof ways / sizeof *ways; number++)
            if (strcmp(ways[number].name, argv[i]) == 0)
                way = &ways[number];
        if (!way)
            return 2;
        memset(waited_s, 0, sizeof waited_s);
        go_all_the_way();
        printf("%s %.6f %.6f\n", argv[i], waited_s[SLOW], waited_s[QUICK]);
    }
    return 0;
}
