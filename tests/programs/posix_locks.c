/* A long hold of a lock of POSIX threads or C11, or of a library's own (futex), of the sort that the argument names: the
 * waiting belongs to long_holder(), which releases it. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "analytic.h"

static const char *sort;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11;
static int held, asks, word;

static bool is(const char *name)
{
    return strcmp(sort, name) == 0;
}

static struct timespec in_an_hour(clockid_t clock)
{
    struct timespec limit;
    clock_gettime(clock, &limit);
    limit.tv_sec += 3600;
    return limit;
}

/* Called by the named functions themselves, for whose frames the tool looks. */
HELPER int acquire_timed(bool first)
{
    struct timespec real = in_an_hour(CLOCK_REALTIME), monotonic = in_an_hour(CLOCK_MONOTONIC);
    if (is("timed"))
        return pthread_mutex_timedlock(&mutex, &real);
    if (is("clock"))
        return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &monotonic);
    if (is("c11_timed"))
        return mtx_timedlock(&c11, &real);
    if (is("write_timed"))
        return pthread_rwlock_timedwrlock(&rwlock, &real);
    return first ? pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &monotonic)
                 : pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &monotonic);
}

static void futex(int operation, int value)
{
    syscall(SYS_futex, &word, operation, value, NULL, NULL, 0);
}

/* As glib and Rust do it. */
HELPER int acquire_word(void)
{
    int none = 0;
    if (__atomic_compare_exchange_n(&word, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE))
        futex(FUTEX_WAIT_PRIVATE, 2);
    return 0;
}

HELPER int release_word(void)
{
    if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2)
        futex(FUTEX_WAKE_PRIVATE, 1);
    return 0;
}

/* What shows that the word is a lock: a wait that ends at once, and a wake of nobody. */
static void show_word(void)
{
#pragma omp parallel num_threads(1)
    {
        futex(FUTEX_WAIT_PRIVATE, 2);
        futex(FUTEX_WAKE_PRIVATE, 1);
    }
}

HELPER int acquire(bool first)
{
    if (is("futex"))
        return acquire_word();
    if (is("c11"))
        return mtx_lock(&c11);
    if (is("spin"))
        return pthread_spin_lock(&spin);
    if (is("write") || (is("read") && first) || (is("readers") && !first))
        return pthread_rwlock_wrlock(&rwlock);
    if (is("read") || is("readers"))
        return pthread_rwlock_rdlock(&rwlock);
    if (strstr(sort, "timed") || strstr(sort, "clock"))
        return acquire_timed(first);
    if (is("recursive"))
        return pthread_mutex_lock(&mutex) + pthread_mutex_lock(&mutex);
    return pthread_mutex_lock(&mutex);
}

HELPER int release(void)
{
    if (is("futex"))
        return release_word();
    if (is("c11") || is("c11_timed"))
        return mtx_unlock(&c11);
    if (is("spin"))
        return pthread_spin_unlock(&spin);
    if (strstr(sort, "read") || strstr(sort, "write"))
        return pthread_rwlock_unlock(&rwlock);
    if (is("recursive") && pthread_mutex_unlock(&mutex))
        return 1;
    return pthread_mutex_unlock(&mutex);
}

static void make(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, is("recursive")    ? PTHREAD_MUTEX_RECURSIVE
                                           : is("errorcheck") ? PTHREAD_MUTEX_ERRORCHECK
                                           : is("adaptive")   ? PTHREAD_MUTEX_ADAPTIVE_NP
                                                              : PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setrobust(&attributes, is("robust") ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_setprotocol(&attributes, is("inherit") ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&c11, mtx_timed);
}

HELPER void wait_until(const int *word)
{
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        ;
}

static void check(int status)
{
    if (status)
        abort();
}

NAMED static void long_holder(void)
{
    double asked_s = clock_s();
    check(acquire(true));
    double got_s = clock_s();
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    wait_until(&asks);
    spin_until(clock_s() + 0.1109);
    check(release());
    record_lock("long_holder", &mutex, asked_s, got_s, clock_s());
}

NAMED static void waiter(void)
{
    wait_until(&held);
    double asked_s = clock_s();
    __atomic_store_n(&asks, 1, __ATOMIC_RELEASE);
    check(acquire(false));
    double got_s = clock_s();
    spin_until(got_s + 0.0207);
    check(release());
    record_lock("waiter", &mutex, asked_s, got_s, clock_s());
}

int main(int argc, char **argv)
{
    sort = argc > 1 ? argv[1] : "normal";
    make();
    if (is("futex"))
        show_word();
    for (int repetition = 0; repetition < 8; repetition++) {
        held = asks = 0;
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1)
                long_holder();
            else
                waiter();
        }
    }
    print_expectations(2);
    return 0;
}
