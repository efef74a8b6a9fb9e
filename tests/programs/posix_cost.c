/* Counts the instructions of a lock and its release, by traps: in a process with one thread, and with two. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "../unit/instructions.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11;

static void use_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void use_rwlock(void)
{
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
}

static void use_spin(void)
{
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
}

static void use_c11(void)
{
    mtx_lock(&c11);
    mtx_unlock(&c11);
}

static void *sleeps(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void count(const char *name, void (*use)(void))
{
    use(); /* binds the names */
    printf("%s %ld\n", name, instructions_of(use, 10000));
}

int main(void)
{
    pthread_t thread;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&c11, mtx_plain);
    count("mutex", use_mutex);
    count("rwlock", use_rwlock);
    count("spin", use_spin);
    count("c11", use_c11);
    if (pthread_create(&thread, NULL, sleeps, NULL) != 0)
        return 1;
    count("mutex_of_two", use_mutex);
    count("c11_of_two", use_c11);
    return 0;
}
