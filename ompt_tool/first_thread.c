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

#define WITHOUT_LOCKS                                                                                                  \
    "waiting for locks appears in the row <untold wait>, because with lock events LLVM's runtime would crash in a "    \
    "critical section"

/* CPU time in ns after which a thread has certainly left the end of a critical section, which takes a
 * thousandth of that */
#define PASSED_NS 200000u
#define PAUSE_NS  50000 /* ns between two checks of a thread */
/* longest wait for other threads in ns; a thread that has had no core for that long is not waited for */
#define PATIENCE_NS NS_PER_S

static bool locks_are_told;
static uint32_t passing;

bool first_thread_stays(void)
{
    locks_are_told = !runtime.set_llvm_callback || os_tid() == getpid();
    if (!locks_are_told)
        log_line("the OpenMP runtime was started by a thread that may end before the program does: " WITHOUT_LOCKS
                 " after that thread's end; blame run starts the runtime before main",
                 NULL);
    return locks_are_told;
}

static void first_thread_on_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t wait_id,
                                    const void *codeptr)
{
    (void)kind, (void)hint, (void)implementation, (void)wait_id, (void)codeptr;
}

/* Ends a lock wait whose start was reported before the lock events stopped. */
static void first_thread_on_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)wait_id, (void)codeptr;
    if (thread_self)
        state_end_lockwait(thread_self->line);
}

/* Holds each thread that releases a lock until the callback is unregistered. The runtime has already looked
 * up the callback and the thread's record, and must not look them up again after that. */
static void first_thread_on_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *codeptr)
{
    (void)kind, (void)wait_id, (void)codeptr;
    /* limited, because in a forked child nobody clears `passing` */
    uint64_t until_ns = clock_now_ns() + 2 * PATIENCE_NS;
    while (load_acquire(&passing) && clock_now_ns() < until_ns)
        sched_yield();
}

/* Waits until every thread that may have read the runtime's flag for this callback has reached
 * first_thread_on_released(). A thread may have lost its core just after reading the flag, often to the
 * calling thread. */
static void first_thread_let_pass(void)
{
    uint64_t until_ns = clock_now_ns() + PATIENCE_NS;
    for (const struct thread *thread = thread_all(); thread; thread = thread->record.next_all) {
        if (!thread->record.active || thread == thread_self)
            continue;
        pid_t tid = thread->ledger->tid;
        uint64_t ran_ns = clock_cpu_ns_of(tid);
        while (os_thread_state(tid) == 'R' && clock_cpu_ns_of(tid) - ran_ns < PASSED_NS && clock_now_ns() < until_ns)
            /* unlike nanosleep(), not a cancellation point */
            syscall(SYS_nanosleep, &(struct timespec){0, PAUSE_NS}, NULL);
    }
}

/* Stops the lock events. To unregister a callback, the runtime first clears the function pointer and then the
 * flag that says whether to call it, so another thread could call NULL. It replaces one function by another
 * in a single step. Therefore first_thread_on_released() is registered first, and holds the threads that
 * release locks until the callback is unregistered. */
void first_thread_ends(void)
{
    if (!runtime.set_llvm_callback || !load_relaxed(&locks_are_told) || os_tid() != getpid())
        return;
    store_relaxed(&locks_are_told, false);
    store_release(&passing, 1);
    runtime.set_llvm_callback(ompt_callback_mutex_acquire, (ompt_callback_t)first_thread_on_acquire);
    runtime.set_llvm_callback(ompt_callback_mutex_acquired, (ompt_callback_t)first_thread_on_acquired);
    runtime.set_llvm_callback(ompt_callback_mutex_released, (ompt_callback_t)first_thread_on_released);
    first_thread_let_pass();
    runtime.set_llvm_callback(ompt_callback_mutex_released, NULL);
    store_release(&passing, 0);
    log_line("the OpenMP runtime has forgotten the program's first thread (pthread_exit, omp_pause_resource_all): "
             "from now on, " WITHOUT_LOCKS,
             NULL);
}

void first_thread_exits(void)
{
    store_relaxed(&locks_are_told, false);
}

/* ---- the exit when only workers are left ---- */

#define FIRST_PAUSE_NS 1000000
#define LAST_PAUSE_NS  32000000

/* Returns the number of workers that still run. */
static uint32_t first_thread_count_workers(void)
{
    uint32_t count = 0;
    for (const struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        count += thread->record.active && thread->ledger->kind == PROFILE_THREAD_WORKER &&
                 syscall(SYS_tgkill, getpid(), (pid_t)thread->ledger->tid, 0) == 0;
    return count;
}

/* Returns true if only workers are left. os_threads() also counts the calling thread, and the first thread,
 * which the kernel lists even after its end. If a worker begins during the check, some thread of the program
 * must still exist that has started it. */
static bool first_thread_only_workers_left(void)
{
    if (os_thread_state(getpid()) != 'Z')
        return false;
    uint32_t before = first_thread_count_workers(), threads = os_threads();
    return threads == before + 2 && first_thread_count_workers() == before;
}

static void *first_thread_wait_for_workers(void *unused)
{
    long pause_ns = FIRST_PAUSE_NS;
    while (!first_thread_only_workers_left()) {
        syscall(SYS_nanosleep, &(struct timespec){0, pause_ns}, NULL);
        pause_ns = pause_ns < LAST_PAUSE_NS ? 2 * pause_ns : pause_ns;
    }
    exit(0);
    return unused;
}

/* Starts the thread that waits until only workers are left. It blocks all signals: they are meant for the
 * program's own threads. */
static void first_thread_on_exit(void *unused)
{
    pthread_t waits;
    sigset_t all, before;
    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&waits, NULL, first_thread_wait_for_workers, NULL) == 0)
        pthread_detach(waits);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void first_thread_init(void)
{
    pthread_key_t key;
    if (blame_launched.moved && os_tid() == getpid() && pthread_key_create(&key, first_thread_on_exit) == 0)
        pthread_setspecific(key, &blame_launched);
}
