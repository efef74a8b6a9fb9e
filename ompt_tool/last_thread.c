#include "ompt_tool/last_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/launched.h"
#include "base/os.h"
#include "base/os_thread.h"
#include "ompt_tool/session/thread.h"

#define FIRST_PAUSE_NS 1000000
#define LAST_PAUSE_NS  32000000

/* Workers that have not ended. */
static uint32_t workers(void)
{
    uint32_t count = 0;
    for (const struct thread *thread = thread_all(); thread; thread = thread->next_all)
        count += thread->active && thread->ledger->kind == PROFILE_THREAD_WORKER &&
                 syscall(SYS_tgkill, getpid(), (pid_t)thread->ledger->tid, 0) == 0;
    return count;
}

/* Beside the workers there are the first thread, which stays in the list of threads when it has ended, and this one. Workers that
 * come meanwhile are another thread's. */
static bool only_workers_are_left(void)
{
    if (os_thread_state(getpid()) != 'Z')
        return false;
    uint32_t before = workers(), threads = os_threads();
    return threads == before + 2 && workers() == before;
}

static void *wait_for_the_last(void *unused)
{
    long pause_ns = FIRST_PAUSE_NS;
    while (!only_workers_are_left()) {
        syscall(SYS_nanosleep, &(struct timespec){0, pause_ns}, NULL);
        pause_ns = pause_ns < LAST_PAUSE_NS ? 2 * pause_ns : pause_ns;
    }
    exit(0);
    return unused;
}

/* The program's signals are for its own threads. */
static void on_exit_of_the_first(void *unused)
{
    pthread_t waits;
    sigset_t all, before;
    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&waits, NULL, wait_for_the_last, NULL) == 0)
        pthread_detach(waits);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void last_thread_init(void)
{
    pthread_key_t key;
    if (blame_launched.moved && os_tid() == getpid() && pthread_key_create(&key, on_exit_of_the_first) == 0)
        pthread_setspecific(key, &blame_launched);
}
