#include "ompt_tool/first_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/launched.h"
#include "base/log.h"
#include "base/os.h"
#include "blame/state.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/session/thread.h"

#define WITHOUT_LOCKS "waiting for locks counts as <untold wait>, as LLVM's runtime would crash in a critical section"

#define PASSED_NS   200000u  /* the end of a critical section takes a thousandth of it */
#define PAUSE_NS    50000    /* between two looks */
#define PATIENCE_NS NS_PER_S /* a thread that gets no core for that long may be anywhere */

static bool locks_are_told;
static uint32_t passing;

bool first_thread_stays(void)
{
    locks_are_told = os_tid() == getpid();
    if (!locks_are_told)
        log_line("the OpenMP runtime was started by a thread that may end before the program does: " WITHOUT_LOCKS
                 " behind its end; blame run starts it before main",
                 NULL);
    return locks_are_told;
}

static void on_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                       const void *codeptr)
{
    (void)kind, (void)hint, (void)implementation, (void)wait_id, (void)codeptr;
}

/* A wait that was told of is over. */
static void on_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)wait_id, (void)codeptr;
    if (thread_self)
        state_end_lockwait(thread_self->line);
}

/* The runtime has looked for the return address, and whom to call; when it comes by again it is not to look. */
static void on_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)wait_id, (void)codeptr;
    uint64_t until_ns = clock_now_ns() + 2 * PATIENCE_NS; /* a forked child is not told when to go on */
    while (load_acquire(&passing) && clock_now_ns() < until_ns)
        sched_yield();
}

/* Every thread that may have read that releases are told gets a core to go on for long enough: one that has none may stand right
 * behind the reading, as often as not because this thread took its core. */
static void let_pass(void)
{
    uint64_t until_ns = clock_now_ns() + PATIENCE_NS;
    for (const struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        if (!thread->active || thread == thread_self)
            continue;
        pid_t tid = thread->ledger->tid;
        uint64_t ran_ns = clock_cpu_ns_of(tid);
        while (os_thread_state(tid) == 'R' && clock_cpu_ns_of(tid) - ran_ns < PASSED_NS && clock_now_ns() < until_ns)
            syscall(SYS_nanosleep, &(struct timespec){0, PAUSE_NS}, NULL); /* no cancellation point */
    }
}

/* The runtime takes a callback back in two steps, whom to call before whether to: one function in place of another has no moment in
 * between. So who releases much stands in on_released() when that is taken back. */
void first_thread_ends(void)
{
    if (!load_relaxed(&locks_are_told) || os_tid() != getpid())
        return;
    store_relaxed(&locks_are_told, false);
    store_release(&passing, 1);
    runtime.set_callback(ompt_callback_mutex_acquire, (ompt_callback_t)on_acquire);
    runtime.set_callback(ompt_callback_mutex_acquired, (ompt_callback_t)on_acquired);
    runtime.set_callback(ompt_callback_mutex_released, (ompt_callback_t)on_released);
    let_pass();
    runtime.set_callback(ompt_callback_mutex_released, NULL);
    store_release(&passing, 0);
    log_line("the OpenMP runtime has forgotten the program's first thread (pthread_exit, "
             "omp_pause_resource_all): from now on " WITHOUT_LOCKS,
             NULL);
}

void first_thread_exits(void)
{
    store_relaxed(&locks_are_told, false); /* nothing is left to be forgotten */
}

/* ---- no thread is left but workers ---- */

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

void first_thread_init(void)
{
    pthread_key_t key;
    if (blame_launched.moved && os_tid() == getpid() && pthread_key_create(&key, on_exit_of_the_first) == 0)
        pthread_setspecific(key, &blame_launched);
}
