/* A region's context that is known only when a worker has worked in it: a sample of the first thread would tell it, and these are kept
 * back until then. The worker waits, and the program is killed. */
#include "analytic.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

static int worked, known, worker;

static void block_samples(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        sigaddset(&set, signal);
    pthread_sigmask(how, &set, NULL);
}

/* Has a core for so long, however many others want it. */
HELPER void run(double seconds)
{
    double end_s = seconds_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < end_s)
        ;
}

HELPER void await(const int *event)
{
    while (!__atomic_load_n(event, __ATOMIC_ACQUIRE))
        sched_yield();
}

NAMED static void before_it_is_known(void)
{
    run(0.5);
    __atomic_store_n(&worked, 1, __ATOMIC_RELEASE);
    await(&known);
}

NAMED static void make_it_known(void)
{
    await(&worked);
    block_samples(SIG_UNBLOCK); /* one is pending */
    run(0.1);
    __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
}

NAMED static void await_sleep(int thread)
{
    char path[64], text[256], state = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        const char *name_end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
        state = name_end ? name_end[2] : 0;
        if (file)
            fclose(file);
    }
}

NAMED static void encounter(void)
{
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            worker = (int)syscall(SYS_gettid);
            before_it_is_known();
        } else {
            make_it_known();
            await_sleep(worker);
            raise(SIGKILL);
        }
#pragma omp barrier
    }
}

int main(void)
{
#pragma omp parallel num_threads(2) /* the worker begins with no signal blocked */
    __asm__ volatile("");
    block_samples(SIG_BLOCK);
    encounter();
}
