/* What is no wait for a lock, or not all of it, as the argument names it:
 *
 *     polls      a loop of pthread_mutex_trylock: poller() works
 *     gives_up   a wait with a time limit that ends before the mutex is free: it waited for long_holder() nevertheless
 *     wakes      a condition wait: from the signal on, the thread waits for the mutex, which signaller() holds
 *     leaves     a signal handler jumps out of a wait for a mutex: what follows is work */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>

#include "analytic.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int held, stands;
static sigjmp_buf out;
static pthread_t jumper;

static void wait_until(const int *word)
{
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
        ;
}

static void set(int *word, int value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

NAMED static void long_holder(bool until_given_up)
{
    double asked_s = clock_s();
    pthread_mutex_lock(&mutex);
    double got_s = clock_s();
    set(&held, 1);
    if (until_given_up)
        wait_until(&stands);
    spin_until(clock_s() + 0.02);
    pthread_mutex_unlock(&mutex);
    record_lock("long_holder", &mutex, asked_s, got_s, clock_s());
}

NAMED static void poller(void)
{
    wait_until(&held);
    double begin_s = clock_s();
    while (pthread_mutex_trylock(&mutex) == EBUSY)
        ;
    pthread_mutex_unlock(&mutex);
    record_interval(INTERVAL_WORK, "poller", NULL, begin_s, clock_s());
}

NAMED static void impatient(void)
{
    struct timespec limit;
    wait_until(&held);
    double asked_s = clock_s();
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += (long)(0.06e9 / pace);
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&mutex, &limit) != ETIMEDOUT)
        abort();
    set(&stands, 1);
    record_interval(INTERVAL_WAIT, "impatient", &mutex, asked_s, clock_s());
}

NAMED static void sleeper(void)
{
    pthread_mutex_lock(&mutex);
    set(&stands, 1);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    set(&stands, 0);
}

NAMED static void signaller(void)
{
    wait_until(&stands);
    pthread_mutex_lock(&mutex);
    work_for("signaller", 0.02);
    pthread_cond_signal(&condition);
    double signalled_s = clock_s();
    spin_until(signalled_s + 0.1109);
    double released_s = clock_s();
    pthread_mutex_unlock(&mutex);
    record_interval(INTERVAL_WORK, "signaller", NULL, signalled_s, released_s);
}

static void jump(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

NAMED static void works_after_all(void)
{
    work_for("works_after_all", 0.1);
    record_interval(INTERVAL_WORK, "works_after_all", NULL, clock_s(), clock_s());
}

NAMED static void leaver(void)
{
    wait_until(&held);
    jumper = pthread_self();
    if (sigsetjmp(out, 1) == 0) {
        set(&stands, 1);
        pthread_mutex_lock(&mutex);
        abort();
    }
    works_after_all();
    wait_until(&stands);
}

NAMED static void interrupting_holder(void)
{
    pthread_mutex_lock(&mutex);
    set(&held, 1);
    wait_until(&stands);
    spin_until(clock_s() + 0.05);
    pthread_kill(jumper, SIGUSR1);
    spin_until(clock_s() + 0.05);
    pthread_mutex_unlock(&mutex);
    record_interval(INTERVAL_WORK, "interrupting_holder", NULL, clock_s(), clock_s());
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "polls";
    bool polls = strcmp(what, "polls") == 0, gives_up = strcmp(what, "gives_up") == 0;
    bool wakes = strcmp(what, "wakes") == 0;
    signal(SIGUSR1, jump);
    for (int repetition = 0; repetition < 8; repetition++) {
        held = stands = 0;
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1)
                polls || gives_up ? long_holder(gives_up) : wakes ? signaller() : interrupting_holder();
            else
                polls ? poller() : gives_up ? impatient() : wakes ? sleeper() : leaver();
        }
    }
    print_expectations(2);
    return 0;
}
