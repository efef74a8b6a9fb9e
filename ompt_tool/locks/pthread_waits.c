/* The rules of sampler.c hold for the functions that the handler calls. */
#include "ompt_tool/locks/pthread_waits.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/pthreads_layer.h"
#include "base/registers.h"
#include "blame/contended.h"
#include "blame/state.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/session/session.h"

#define KIND_INHERITS       32 /* in the kind of a mutex: priority inheritance */
#define RWLOCK_READER_SHIFT 3  /* of the number of readers, in a read-write lock's first word */

/* Tells samples of a program without a team that the thread needs no core from now on. A sample may have found it asleep
 * before, in another call. */
static void pthread_wait_sleeps(struct state_line *line, uint64_t now_ticks)
{
    state_wake_up(line, now_ticks);
    state_fall_asleep(line, now_ticks);
}

static bool pthread_mutex_inherits(const pthread_mutex_t *mutex)
{
    return load_relaxed(&mutex->__data.__kind) & KIND_INHERITS;
}

/* Returns true if the lock, for which the thread waits, says in time who holds it. No signal reaches those who wait in
 * the kernel for a mutex with priority inheritance, so their samples may come when the holder is another one. */
static bool pthread_lock_names_holder(uint64_t key)
{
    const pthread_mutex_t *mutex = (const pthread_mutex_t *)(uintptr_t)PROFILE_LOCK_KEY_ID(key);
    return PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_RWLOCK ||
           (PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_MUTEX && !pthread_mutex_inherits(mutex));
}

bool pthread_wait_begin(struct thread *thread, uint64_t key, uint32_t how, const uintptr_t *frame)
{
    struct state_line *line = thread->line;
    /* The runtime waits by locks, too, and the tool's own callbacks may meet locks in the program's heap. */
    if (!state_is_in_code(line) || line->wait_key || thread->inside.tool)
        return false;
    thread->pthread.returns_to = frame[1];
    store_relaxed(&thread->pthread.frame, frame);
    uint64_t now_ticks = clock_ticks();
    if (unlikely(!load_relaxed(&contended_posix_waits)))
        store_relaxed(&contended_posix_waits, 1);
    store_relaxed(&thread->pthread.mutex, 0); /* a condition wait that was cancelled has not cleared it */
    thread->pthread.reads = how & PTHREADS_READS;
    store_relaxed(&line->wait_uncounted, (how & PTHREADS_LIMITED) || !pthread_lock_names_holder(key));
    state_set_lockwait_at(line, key, now_ticks);
    if (session.counts_cores)
        pthread_wait_sleeps(line, now_ticks);
    return true;
}

void pthread_wait_end(struct thread *thread)
{
    struct state_line *line = thread->line;
    if (!contended_is_posix(line->wait_key))
        return; /* a sample has found that the wait was left, or a region has begun since */
    store_relaxed(&line->acquisitions, line->acquisitions + 1);
    if (session.counts_cores)
        state_wake_up(line, clock_ticks());
    state_end_lockwait(line);
}

void pthread_wait_note_mutex(struct thread *thread, uintptr_t mutex)
{
    struct state_line *line = thread->line;
    if (session.counts_cores && !mutex) {
        int64_t woken_ticks = state_woken_ticks(line), now_ticks = (int64_t)clock_ticks();
        state_wake_up(line, (uint64_t)(woken_ticks < now_ticks ? woken_ticks : now_ticks));
    }
    store_relaxed(&thread->pthread.mutex, mutex); /* from then on samples leave the state to this function */
    signal_fence();
    if (session.counts_cores && mutex)
        pthread_wait_sleeps(line, clock_ticks());
    store_relaxed(&line->acquisitions, line->acquisitions + 1); /* each wait is counted once */
}

bool pthread_wait_is_left(struct thread *thread, const ucontext_t *context)
{
    const uintptr_t *function = load_relaxed(&thread->pthread.frame);
    uintptr_t frame = (uintptr_t)function, low = thread->unwinder.own_stack_low, high = thread->unwinder.own_stack_high;
    uintptr_t stack = registers_sp(context) - REGISTERS_FP_AT_SP;
    if (likely(!contended_is_posix(thread->line->wait_key)))
        return false;
    /* Of a frame on another stack (a fiber's) nothing can be said. */
    bool left =
        frame >= low && frame < high && (function[1] != thread->pthread.returns_to || (stack >= frame && stack < high));
    if (unlikely(left)) {
        state_end_lockwait(thread->line);
        state_wake_up(thread->line, clock_ticks());
    }
    return left;
}

/* Returns true if a read-write lock is on its way to a thread that waits for it. A reader waits for writers only, unless
 * the lock prefers writers to readers, who then wait for each other. */
static bool pthread_rwlock_is_passing(const struct thread *thread, const pthread_rwlock_t *lock)
{
    if (load_relaxed(&lock->__data.__cur_writer))
        return false;
    return thread->pthread.reads ? load_relaxed(&lock->__data.__flags) == PTHREAD_RWLOCK_PREFER_READER_NP
                                 : load_relaxed(&lock->__data.__readers) >> RWLOCK_READER_SHIFT == 0;
}

bool pthread_lock_is_passing(const struct thread *thread, uint64_t key)
{
    if (PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_RWLOCK)
        return pthread_rwlock_is_passing(thread, (const pthread_rwlock_t *)(uintptr_t)PROFILE_LOCK_KEY_ID(key));
    /* The memory is there: the thread has called a function that waits for this mutex. */
    const pthread_mutex_t *mutex = (const pthread_mutex_t *)(uintptr_t)PROFILE_LOCK_KEY_ID(key);
    if (PROFILE_LOCK_KEY_KIND(key) != PROFILE_LOCK_MUTEX)
        return false;
    /* The first word is 0 if nobody holds the mutex. The kernel hands one with priority inheritance to its next owner,
     * whose number the word then is. */
    int word = load_relaxed(&mutex->__data.__lock);
    return word == 0 || (pthread_mutex_inherits(mutex) && (word & FUTEX_TID_MASK) == thread->ledger->tid);
}

/* Returns the word in which the lock names the thread that holds it: 0 if nobody does. */
static const int *pthread_holder_word(uint64_t key)
{
    const void *lock = (const void *)(uintptr_t)PROFILE_LOCK_KEY_ID(key);
    return PROFILE_LOCK_KEY_KIND(key) == PROFILE_LOCK_RWLOCK ? &((const pthread_rwlock_t *)lock)->__data.__cur_writer
                                                             : &((const pthread_mutex_t *)lock)->__data.__owner;
}

bool pthread_lock_is_counted(const struct thread *thread, uint64_t key)
{
    /* A condition's waiter is seen as a waiter for the mutex only by its own sample. */
    if (!contended_is_posix(key) || load_relaxed(&thread->pthread.mutex) || thread->line->wait_uncounted)
        return false;
    pid_t holder = load_relaxed(pthread_holder_word(key));
    const struct state_line *line = holder ? state_line_of(holder) : NULL;
    return line && line != thread->line && load_relaxed(&line->counts_waiters) &&
           load_relaxed(&line->state) != STATE_MPI_WAIT;
}

bool pthread_lock_is_held(const struct thread *thread, uint64_t key)
{
    int holder;
    /* The waiter may get the lock now, and free its memory. */
    return os_copy_memory(&holder, (uintptr_t)pthread_holder_word(key), sizeof(holder)) && holder == thread->line->tid;
}

bool pthread_wait_is_for_mutex(const struct thread *thread, const ucontext_t *context)
{
    uintptr_t mutex = load_relaxed(&thread->pthread.mutex);
    /* The first word of a mutex is the word that its waiters wait on. After a wait for the condition itself, the first
     * argument is an address in the condition. */
    return registers_argument(context, 0) == mutex && registers_number(context) == SYS_futex &&
           restart_is_asleep(context);
}

void pthread_wait_sets_mutex(struct thread *thread)
{
    store_relaxed(&thread->line->wait_uncounted, true);
    state_set_lockwait(thread->line, PROFILE_LOCK_KEY(PROFILE_LOCK_MUTEX, thread->pthread.mutex));
}
