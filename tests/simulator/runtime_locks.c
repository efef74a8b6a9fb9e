/* Locks of all kinds. A lock that is released is free until who waits first has woken up, or another takes
 * it. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/os.h"
#include "blame/contended.h"
#include "ompt_tool/pthreads.h"
#include "tests/simulator/changes.h"
#include "tests/simulator/runtime.h"
#include "tests/simulator/stack.h"

#define ORDERED_LOCK (MAX_LOCKS - 1) /* of the oracle: nobody's possession */

enum { LOCK_ASKS, LOCK_TAKES, LOCK_WAITS, LOCK_RELEASES, LOCK_IS_GIVEN };

static struct {
    bool made;
    struct sim_thread *holder;
    uint32_t depth; /* of nestable ones */
    struct sim_thread *waiters[4096];
    uint32_t first, count;
} locks[MAX_LOCKS];

static ompt_mutex_t kind_of(const struct op *op)
{
    return op->kind == OP_CRITICAL ? ompt_mutex_critical : op->kind == OP_NEST ? ompt_mutex_nest_lock : ompt_mutex_lock;
}

/* The program makes its locks at its begin, and unmakes them at its end. */
static void make(const struct op *op, bool made)
{
    for (; op; op = op->next) {
        make(op->body, made);
        if ((op->kind != OP_LOCK && op->kind != OP_NEST) || locks[op->lock].made == made)
            continue;
        locks[op->lock].made = made;
        if (made)
            send_lock_init(kind_of(op), WAIT_ID(op->lock), stack_codeptr(0, 0));
        else
            send_lock_destroy(kind_of(op), WAIT_ID(op->lock), stack_codeptr(0, 0));
    }
}

void runtime_locks_make(bool made)
{
    make(machine.scenario->main, made);
}

static void have(const struct op *op)
{
    struct sim_thread *thread = machine.current;
    locks[op->lock].holder = thread;
    locks[op->lock].depth = 1;
    send_mutex_acquired(kind_of(op), WAIT_ID(op->lock), runtime_codeptr(op));
    stack_pop(thread);
    runtime_state(EXACT_WORK);
    oracle_lock(op->lock, true, stack_top(thread)->context, thread->number);
}

static void be_waiting(uint32_t lock)
{
    oracle_state(machine.current->number, EXACT_LOCKWAIT, stack_top(machine.current)->context, 0, lock);
}

static enum outcome wait_on(void)
{
    if (machine.scenario->spin.mean_ns)
        machine_busy(random_duration(&machine.current->chance, &machine.scenario->spin));
    else
        machine_wait();
    return PAUSE;
}

static enum outcome wait_in_turn(struct activity *activity)
{
    uint32_t lock = activity->op->lock;
    be_waiting(lock);
    locks[lock].waiters[(locks[lock].first + locks[lock].count++) % 4096] = machine.current;
    activity->step = LOCK_WAITS;
    return wait_on();
}

/* A thread that goes back to sleep is the last to be woken. Who has been woken already stays the first. */
void runtime_locks_requeue(const struct sim_thread *thread)
{
    for (uint32_t lock = 0; lock < MAX_LOCKS; lock++) {
        struct sim_thread **waiters = locks[lock].waiters;
        uint32_t first = locks[lock].first, end = first + locks[lock].count, at = first;
        while (at < end && waiters[at % 4096] != thread)
            at++;
        if (at == end || !locks[lock].holder)
            continue;
        struct sim_thread *moved = waiters[at % 4096];
        for (; at + 1 < end; at++)
            waiters[at % 4096] = waiters[(at + 1) % 4096];
        waiters[at % 4096] = moved;
    }
}

static enum outcome ask(struct activity *activity)
{
    const struct op *op = activity->op;
    struct sim_thread *thread = machine.current;
    runtime_call(op, ENTRY_LOCK);
    send_mutex_acquire(kind_of(op), WAIT_ID(op->lock), runtime_codeptr(op));
    if (op->kind == OP_NEST && locks[op->lock].holder == thread) {
        locks[op->lock].depth++;
        send_nest_lock(ompt_scope_begin, WAIT_ID(op->lock), runtime_codeptr(op));
        stack_pop(thread);
    } else if (locks[op->lock].holder) {
        return wait_in_turn(activity);
    } else if (machine.scenario->take.mean_ns) {
        runtime_state(EXACT_OVERHEAD);
        machine_busy(random_duration(&thread->chance, &machine.scenario->take));
        activity->step = LOCK_TAKES;
        return PAUSE;
    } else {
        have(op);
    }
    activity->step = LOCK_RELEASES;
    runtime_push(DO_BODY, op->body);
    return GO_ON;
}

static enum outcome ask_again(struct activity *activity)
{
    const struct op *op = activity->op;
    if (locks[op->lock].holder || locks[op->lock].waiters[locks[op->lock].first] != machine.current)
        return wait_on();
    locks[op->lock].first = (locks[op->lock].first + 1) % 4096;
    locks[op->lock].count--;
    have(op);
    activity->step = LOCK_RELEASES;
    runtime_push(DO_BODY, op->body);
    return GO_ON;
}

/* Another thread may have taken the lock meanwhile. */
static enum outcome take(struct activity *activity)
{
    if (locks[activity->op->lock].holder)
        return wait_in_turn(activity);
    have(activity->op);
    activity->step = LOCK_RELEASES;
    runtime_push(DO_BODY, activity->op->body);
    return GO_ON;
}

/* Returns false if the thread still has it. */
static bool release(const struct op *op)
{
    runtime_call(op, ENTRY_LOCK);
    if (--locks[op->lock].depth) {
        send_nest_lock(ompt_scope_end, WAIT_ID(op->lock), runtime_codeptr(op));
        stack_pop(machine.current);
        return false;
    }
    locks[op->lock].holder = NULL;
    oracle_lock(op->lock, false, 0, NO_THREAD);
    struct sim_thread *next = locks[op->lock].count ? locks[op->lock].waiters[locks[op->lock].first] : NULL;
    if (next)
        machine_wake(next, random_duration(&next->chance, &machine.scenario->wake));
    return true;
}

static void tell_release(const struct op *op)
{
    send_mutex_released(kind_of(op), WAIT_ID(op->lock), runtime_codeptr(op));
    stack_pop(machine.current);
}

/* Until the runtime tells of the release, the next owner may have had the lock. */
static enum outcome give(struct activity *activity)
{
    if (activity->step == LOCK_RELEASES && release(activity->op)) {
        if (machine.scenario->give.mean_ns) {
            runtime_state(EXACT_OVERHEAD);
            machine_busy(random_duration(&machine.current->chance, &machine.scenario->give));
            activity->step = LOCK_IS_GIVEN;
            return PAUSE;
        }
        tell_release(activity->op);
    } else if (activity->step == LOCK_IS_GIVEN) {
        tell_release(activity->op);
        runtime_state(EXACT_WORK);
    }
    runtime_pop();
    return GO_ON;
}

enum outcome runtime_lock(struct activity *activity)
{
    switch (activity->step) {
    case LOCK_ASKS:
        return ask(activity);
    case LOCK_TAKES:
        return take(activity);
    case LOCK_WAITS:
        return ask_again(activity);
    default:
        return give(activity);
    }
}

/* The loop around: its activity holds the iteration. */
static struct activity *loop_around(struct activity *activity)
{
    while (activity->kind != DO_OP || (activity->op->kind != OP_STATIC && activity->op->kind != OP_DYNAMIC))
        activity--;
    return activity;
}

enum outcome runtime_ordered(struct activity *activity)
{
    const struct op *op = activity->op;
    struct sim_thread *thread = machine.current;
    struct activity *loop = loop_around(activity);
    struct shared *shared = &thread->task->team->shared[loop->instance % MAX_SHARED];
    if (activity->step == LOCK_RELEASES) {
        runtime_call(op, ENTRY_LOCK);
        shared->turn++;
        oracle_turn(ORDERED_LOCK, thread->number, false);
        send_mutex_released(ompt_mutex_ordered, WAIT_ID(ORDERED_LOCK), runtime_codeptr(op));
        stack_pop(thread);
        runtime_pop();
        runtime_wake_team(thread->task->team);
        return GO_ON;
    }
    if (activity->step == LOCK_ASKS) {
        activity->step = LOCK_WAITS;
        runtime_call(op, ENTRY_LOCK);
        oracle_lock(ORDERED_LOCK, true, stack_top(thread)->context, NO_THREAD);
        send_mutex_acquire(ompt_mutex_ordered, WAIT_ID(ORDERED_LOCK), runtime_codeptr(op));
        if (shared->turn != loop->first)
            be_waiting(ORDERED_LOCK);
    }
    if (shared->turn != loop->first) {
        machine_wait();
        return PAUSE;
    }
    oracle_turn(ORDERED_LOCK, thread->number, true);
    send_mutex_acquired(ompt_mutex_ordered, WAIT_ID(ORDERED_LOCK), runtime_codeptr(op));
    stack_pop(thread);
    runtime_state(EXACT_WORK);
    activity->step = LOCK_RELEASES;
    runtime_push(DO_BODY, op->body);
    return GO_ON;
}

/* ---- mutexes of POSIX threads ---- As libblame-pthreads.so reports them: nothing of an acquisition without a wait, and
 * nothing of a release unless the tool has raised the word. */

static uint32_t mutexes_left;

#define MUTEX_OWNER (offsetof(pthread_mutex_t, __data.__owner) / sizeof(int))

/* The tool reads whether the mutex is free, and who holds it. Its address is that of the runtime's lock with this number. */
static int *mutex_word(uint32_t lock)
{
    static bool mapped;
    if (!mapped && mmap((void *)WAIT_ID(0), WAIT_ID(MAX_LOCKS) - WAIT_ID(0), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
    mapped = true;
    return (int *)(uintptr_t)WAIT_ID(lock);
}

static void mutex_have(uint32_t lock)
{
    struct sim_thread *thread = machine.current;
    locks[lock].holder = thread;
    mutex_word(lock)[MUTEX_OWNER] = os_tid();
    *mutex_word(lock) = 1;
    oracle_lock(lock, true, stack_top(thread)->context, thread->number);
}

static bool mutex_ask(struct activity *activity)
{
    static const uintptr_t frame[2];
    const struct op *op = activity->op;
    contended_count_posix(&mutexes_left);
    if (!locks[op->lock].holder)
        return true;
    runtime_call(op, ENTRY_LOCK);
    /* Every second thread waits with a time limit: it leaves its blame for the release, and the holder does not count it. */
    uint32_t limited = machine.current->number % 2 ? PTHREADS_LIMITED : 0;
    if (!pthreads_tool.wait_begins(PTHREADS_MUTEX | limited, mutex_word(op->lock), frame))
        abort();
    wait_in_turn(activity);
    return false;
}

static bool mutex_ask_again(const struct op *op)
{
    if (locks[op->lock].holder || locks[op->lock].waiters[locks[op->lock].first] != machine.current) {
        wait_on();
        return false;
    }
    locks[op->lock].first = (locks[op->lock].first + 1) % 4096;
    locks[op->lock].count--;
    pthreads_tool.wait_ends();
    stack_pop(machine.current);
    runtime_state(EXACT_WORK);
    return true;
}

static void mutex_release(const struct op *op)
{
    struct pthreads_left left;
    int *word = mutex_word(op->lock);
    runtime_call(op, ENTRY_LOCK);
    bool taken = mutexes_left && pthreads_tool.take(PTHREADS_MUTEX, word, &left);
    locks[op->lock].holder = NULL;
    word[MUTEX_OWNER] = *word = 0;
    oracle_lock(op->lock, false, 0, machine.current->number);
    struct sim_thread *next = locks[op->lock].count ? locks[op->lock].waiters[locks[op->lock].first] : NULL;
    if (next)
        machine_wake(next, random_duration(&next->chance, &machine.scenario->wake));
    if (taken)
        pthreads_tool.book(PTHREADS_MUTEX, word, &left, true);
    stack_pop(machine.current);
}

enum outcome runtime_mutex(struct activity *activity)
{
    if (activity->step == LOCK_RELEASES) {
        mutex_release(activity->op);
        runtime_pop();
        return GO_ON;
    }
    if (activity->step == LOCK_ASKS ? !mutex_ask(activity) : !mutex_ask_again(activity->op))
        return PAUSE;
    mutex_have(activity->op->lock);
    activity->step = LOCK_RELEASES;
    runtime_push(DO_BODY, activity->op->body);
    return GO_ON;
}
