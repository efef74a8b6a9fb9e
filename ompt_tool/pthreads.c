/* Called for contended locks, for each release while blame waits at some lock, and for each thread. The waits of threads without a record
 * pass through. What others have left for such a thread must not go to the next holder: it stays until the end. */
#include "ompt_tool/pthreads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/float_state.h"
#include "base/log.h"
#include "base/launched.h"
#include "blame/contended.h"
#include "blame/directed.h"
#include "blame/state.h"
#include "blame/wakers.h"
#include "cct/arena.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/life/attach.h"
#include "ompt_tool/life/finish.h"
#include "ompt_tool/life/fork.h"
#include "ompt_tool/life/fuse.h"
#include "ompt_tool/locks/diversion.h"
#include "ompt_tool/locks/lock_words.h"
#include "ompt_tool/locks/pthread_waits.h"
#include "ompt_tool/ranks/mpi_wait.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/sampling/lock_blame.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/sampling/settle.h"
#include "ompt_tool/sampling/sleeper.h"
#include "ompt_tool/sampling/woken.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "unwind/loadmap.h"

/* A function of libblame-pthreads.so; NULL if that library was not preloaded. */
extern pthreads_layer_attach blame_pthreads_attach __attribute__((weak));

/* The same function, if `blame run` has loaded that library; NULL otherwise. */
static pthreads_layer_attach *met;

static uint64_t pthreads_key(uint32_t kind, const void *object)
{
    static const uint32_t kinds[] = {[PTHREADS_MUTEX] = PROFILE_LOCK_MUTEX,
                                     [PTHREADS_RWLOCK] = PROFILE_LOCK_RWLOCK,
                                     [PTHREADS_SPIN] = PROFILE_LOCK_SPIN,
                                     [PTHREADS_WORD] = PROFILE_LOCK_WORD};
    return PROFILE_LOCK_KEY(kinds[kind], (uintptr_t)object);
}

/* Unlike OpenMP's events, a lock does not start the measurement of a forked child. */
static struct thread *pthreads_self(void)
{
    return fork_is_new() ? NULL : thread_self;
}

static bool pthreads_wait_begins(uint32_t kind, const void *object, const uintptr_t *frame)
{
    struct thread *thread = pthreads_self();
    if (thread && unlikely(sleeper_is(thread)))
        sampler_wake(thread);
    uint32_t how = kind & (PTHREADS_LIMITED | PTHREADS_READS);
    return thread && pthread_wait_begin(thread, pthreads_key(kind & ~how, object), how, frame);
}

static void pthreads_wait_ends(void)
{
    struct thread *thread = pthreads_self();
    if (!thread)
        return;
    uint64_t key = thread->line->wait_key, now_ticks = clock_ticks();
    if (contended_is_posix(key) && lock_blame_waited_long(thread->line, now_ticks) && thread_enter_tool(thread)) {
        settle_lock_wait(thread, key, now_ticks);
        thread_leave_tool(thread);
    }
    pthread_wait_end(thread);
}

static bool pthreads_take(uint32_t kind, const void *object, struct pthreads_left *left)
{
    uint64_t key = pthreads_key(kind, object);
    struct lock_blame blame;
    if (likely(!directed_waiting(key, DIRECTED_ANY_HOLDER)))
        return false;
    struct float_state floats = float_begin();
    bool taken = directed_take(key, DIRECTED_ANY_HOLDER, &blame);
    float_end(floats);
    if (taken)
        *left = (struct pthreads_left){{blame.lock_wait, blame.inverse_busy, blame.shared_idle}};
    return taken;
}

static void pthreads_book(uint32_t kind, const void *object, const struct pthreads_left *left, bool released)
{
    struct thread *thread = pthreads_self();
    uint64_t key = pthreads_key(kind, object);
    const struct lock_blame blame = {left->numbers[0], left->numbers[1], left->numbers[2]};
    if (!released || !thread || !thread_enter_tool(thread)) {
        struct float_state floats = float_begin();
        directed_add(key, released && !thread ? DIRECTED_NOT_MEASURED : DIRECTED_ANY_HOLDER, &blame);
        float_end(floats);
        return;
    }
    settle_release(thread, key, DIRECTED_ANY_HOLDER, &blame);
    thread_leave_tool(thread);
}

static void pthreads_reacquires(const void *mutex)
{
    struct thread *thread = pthreads_self();
    if (thread)
        pthread_wait_note_mutex(thread, (uintptr_t)mutex);
}

static bool pthreads_are_measured(void)
{
    return !fork_is_new() && arena_is_open() && !load_relaxed(&session.stopping);
}

/* A thread beside the teams is booked as if a whole team were busy. Before the first region, the runtime knows how
 * large that team will be. */
static void pthreads_expect_team(void)
{
    const struct thread *thread = pthreads_self();
    if (!session.plain && !load_relaxed(&state_expected) && runtime.get_max_threads && thread && !thread->record.plain)
        store_relaxed(&state_expected, (uint32_t)runtime.get_max_threads());
}

/* A runtime's own threads are reported by the runtime; before it starts, it has none. Those of a runtime that is linked into
 * the program cannot be told from the program's. In MPI programs with teams, most others are MPI's own, which sleep all the time. */
static bool pthreads_creates(uintptr_t caller)
{
    diversion_begin();
    if (!fork_is_new())
        fuse_blow_before_thread();
    bool can_tell = runtime.code_bytes || !runtime.set_callback;
    if (!pthreads_are_measured() || (!session.plain && (!can_tell || mpi_wait_layer())))
        return false;
    const struct loadmap_range *range = loadmap_find(caller);
    if (range && range->module_id && loadmap_module(range->module_id)->flags & PROFILE_MODULE_RUNTIME)
        return false;
    pthreads_expect_team();
    return true;
}

/* Lets the sampling signal through in a thread that begins with all signals blocked, because others handle them. */
static void pthreads_open_signal(void)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, sampler_signal());
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
}

static void pthreads_begins(void)
{
    if (thread_self || !pthreads_are_measured())
        return;
    if (attach_plain_thread(PROFILE_THREAD_OTHER, (uintptr_t)__builtin_frame_address(0)))
        pthreads_open_signal();
}

static void pthreads_starts(uintptr_t function)
{
    struct thread *thread = pthreads_self();
    if (!thread)
        return;
    thread->pthread.start = function;
    thread->pthread.node_idx = 0; /* of a sample that came before the function */
}

static void pthreads_ends(void)
{
    struct thread *thread = pthreads_self();
    if (thread && thread_enter_tool(thread)) {
        woken_by_end(thread, (uintptr_t)pthread_self());
        thread_leave_tool(thread);
    }
    attach_end(thread);
}

/* Nobody can read a filter of system calls, and trying calls may be what ends the process. A program without OpenMP
 * begins at a moment of its own, so it goes on unmeasured. */
static void pthreads_restricts(void)
{
    int saved_errno = errno;
    fuse_forbid();
    if (session.plain && pthreads_are_measured()) {
        log_line("the program forbids itself system calls (seccomp): the rest of the run is not measured", NULL);
        finish_measuring();
    }
    errno = saved_errno;
}

/* Outside all regions, a thread that waits for another works on nothing. In a region its team waits with it. */
static void pthreads_stand_aside(struct thread *thread)
{
    bool teams = !session.plain || load_acquire(&session.teams);
    if (load_relaxed(&thread->line->state) == STATE_WORK && teams && !thread->unusual.uncounted &&
        !thread->awaits.aside && !levels_region(thread) && state_fall_asleep(thread->line, clock_ticks()))
        thread_stand_aside(thread, true);
}

static void pthreads_come_back(struct thread *thread, int64_t woken_ticks)
{
    if (likely(!thread->awaits.aside) || load_relaxed(&thread->line->state) == STATE_OUTSIDE)
        return;
    int64_t now_ticks = (int64_t)clock_ticks();
    state_wake_up(thread->line, (uint64_t)(woken_ticks < now_ticks ? woken_ticks : now_ticks));
    thread_stand_aside(thread, false);
}

static void pthreads_slept(bool woken)
{
    struct thread *thread = pthreads_self();
    if (!thread)
        return;
    if (unlikely(woken_is_sampled(thread)) && sleeper_is(thread))
        sampler_wake(thread);
    int64_t woken_ticks = unlikely(thread->awaits.aside) ? state_woken_ticks(thread->line) : 0;
    uint64_t key = woken_close(thread);
    if (unlikely(woken_is_sampled(thread)) && sleeper_is(thread)) /* a sample has come since the first look */
        sampler_wake(thread);
    pthreads_come_back(thread, woken_ticks);
    if (likely(!woken_is_sampled(thread)) || !thread_enter_tool(thread))
        return;
    woken_end(thread, key, woken);
    thread_leave_tool(thread);
}

static void pthreads_sleeps(uint32_t awaited, const void *object)
{
    static const enum profile_wake wakes[] = {
        [PTHREADS_CONDITION] = PROFILE_WAKE_CONDITION, [PTHREADS_SEMAPHORE] = PROFILE_WAKE_SEMAPHORE,
        [PTHREADS_BARRIER] = PROFILE_WAKE_BARRIER,     [PTHREADS_END] = PROFILE_WAKE_END,
        [PTHREADS_FUTEX] = PROFILE_WAKE_FUTEX,         [PTHREADS_ONCE] = PROFILE_WAKE_ONCE};
    struct thread *thread = pthreads_self();
    if (!thread)
        return;
    if (unlikely(woken_is_sampled(thread)))
        pthreads_slept(false); /* the last wait was left by a jump, or goes on below the handler of a signal */
    bool known = awaited < sizeof wakes / sizeof *wakes; /* not to a later version of the layer */
    woken_begin(thread, known ? wakes[awaited] : PROFILE_WAKE_UNKNOWN, (uintptr_t)object);
    pthreads_stand_aside(thread);
}

static void pthreads_wakes(const void *object)
{
    struct thread *thread = pthreads_self();
    if (!thread || !thread_enter_tool(thread)) {
        wakers_note((uintptr_t)object, 0);
        return;
    }
    woken_by(thread, (uintptr_t)object);
    thread_leave_tool(thread);
}

static bool pthreads_word_waits(const void *word, uint32_t value)
{
    return pthreads_self() && lock_word_waits((uintptr_t)word, value);
}

static void pthreads_word_wakes(const void *word)
{
    int saved_errno = errno;
    if (pthreads_self())
        lock_word_wakes((uintptr_t)word);
    errno = saved_errno;
}

const struct pthreads_tool pthreads_tool = {
    sizeof(struct pthreads_tool), pthreads_wait_begins, pthreads_wait_ends, pthreads_take,  pthreads_book,
    pthreads_reacquires,          pthreads_creates,     pthreads_begins,    pthreads_ends,  sampler_signal,
    pthreads_restricts,           pthreads_sleeps,      pthreads_slept,     pthreads_wakes, pthreads_starts,
    pthreads_word_waits,          pthreads_word_wakes};

void pthreads_load(void)
{
    if (met || !blame_launched.load_layer)
        return;
    met = (pthreads_layer_attach *)blame_launched.load_layer();
    diversion_init(blame_launched.divert);
}

static pthreads_layer_attach *pthreads_attach(void)
{
    return met ? met : blame_pthreads_attach;
}

uintptr_t pthreads_layer(void)
{
    return (uintptr_t)pthreads_attach();
}

void pthreads_init(void)
{
    if (!pthreads_attach())
        return;
    struct pthreads_words *words = (struct pthreads_words *)(void *)pthreads_attach()(&pthreads_tool);
    contended_count_posix(&words->left);
    wakers_count(&words->awaited);
    restart_know_syscall((uintptr_t)words->behind_syscall);
    diversion_heed_threads();
}
