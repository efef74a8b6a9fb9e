/* Programs without a team: POSIX threads and conditions, as libblame-pthreads.so reports them. A thread that a signal
 * has woken runs when it has a core. */
#include <stdlib.h>

#include "blame/wakers.h"
#include "cct/arena.h"
#include "ompt_tool/life/attach.h"
#include "ompt_tool/pthreads.h"
#include "ompt_tool/session/session.h"
#include "tests/simulator/changes.h"
#include "tests/simulator/runtime.h"
#include "tests/simulator/stack.h"
#include "tests/simulator/wakes.h"

#define JOINED    MAX_LOCKS /* the condition that a thread has ended */
#define MOST_WAIT 256u

static struct condition {
    uint32_t signals;
    struct sim_thread *waiters[MOST_WAIT];
    uint32_t count;
    uint32_t waker; /* context of the last signal */
} conditions[MAX_LOCKS + 1];

static uint32_t awaited; /* above 0: the tool wants to know of signals */

static uint32_t begun, left; /* threads beside the first */

/* The options are those of a measurement that began with a runtime; what a start without one sets is this. */
void runtime_threads_begin(void)
{
    context_child(0, CONTEXT_NO_THREAD); /* all contexts are there when the oracle begins to add */
    session.plain = session.counts_cores = state_sleepers_count = true;
    arena_header()->without_team = 1;
    arena_header()->environment = ENVIRONMENT_SHARED;
    if (!attach_plain_thread(PROFILE_THREAD_INITIAL, (uintptr_t)__builtin_frame_address(0)))
        abort();
}

void runtime_threads_end(void)
{
    attach_end(thread_self);
}

/* Wakes one of those that wait. */
static void signal_one(struct condition *condition)
{
    if (!condition->count)
        return;
    struct sim_thread *next = condition->waiters[0];
    for (uint32_t i = 1; i < condition->count; i++)
        condition->waiters[i - 1] = condition->waiters[i];
    condition->count--;
    machine_wake(next, random_duration(&next->chance, &machine.scenario->wake));
}

static enum outcome begin_thread(struct activity *activity)
{
    struct sim_thread *starter = machine.current, *thread = machine_thread();
    const struct op *op = activity->op;
    static struct sim_thread *nobody;
    static struct team team = {.size = 1, .members = &nobody};
    struct task *task = calloc(1, sizeof(*task));
    if (activity->step++) {
        runtime_pop();
        return GO_ON;
    }
    left++;
    task->team = &team;
    task->played.thread_num = (int)begun++;
    machine_switch(thread);
    stack_begin(thread);
    thread->task = task;
    stack_push_user(thread, op->function, context_child(0, op->function));
    runtime_push(DO_THREAD, op)->function = op->function;
    oracle_count(1);
    runtime_state(EXACT_WORK);
    if (!attach_plain_thread(PROFILE_THREAD_OTHER, (uintptr_t)__builtin_frame_address(0)))
        abort();
    machine_busy(0);
    machine_switch(starter);
    return GO_ON;
}

enum outcome runtime_thread(struct activity *activity)
{
    if (activity->step++ == 0) {
        runtime_push(DO_BODY, activity->op->body);
        return GO_ON;
    }
    attach_end(thread_self);
    runtime_state(EXACT_ABSENT);
    oracle_count(-1);
    if (--left == 0)
        signal_one(&conditions[JOINED]);
    machine_end_thread();
    return PAUSE;
}

/* Time for which what it had waited for was there, but no core. */
static uint64_t ready_ns(const struct sim_thread *thread)
{
    return thread->no_core_ns - thread->woken_ns;
}

static void await_ends(const struct condition *condition, const struct activity *activity, bool joins)
{
    struct sim_thread *thread = machine.current;
    pthreads_tool.reacquires(NULL);
    if (!joins) {
        pthreads_tool.slept(true);
        wakes_add(stack_top(thread)->context, condition->waker,
                  machine.now_ns - activity->since_ns - (ready_ns(thread) - activity->ready_ns));
    }
    runtime_state(EXACT_WORK);
}

static enum outcome await(struct activity *activity)
{
    static const char mutex[1];
    struct sim_thread *thread = machine.current;
    bool joins = activity->op->kind == OP_JOIN;
    struct condition *condition = &conditions[joins ? JOINED : activity->op->lock];
    if (joins ? left == 0 : condition->signals > 0) {
        condition->signals -= !joins;
        if (activity->step)
            await_ends(condition, activity, joins);
        runtime_pop();
        return GO_ON;
    }
    if (activity->step++ == 0) {
        stack_top(thread)->ip = stack_line(runtime_function(), activity->op->line);
        pthreads_tool.reacquires(mutex);
        if (!joins)
            pthreads_tool.sleeps(PTHREADS_CONDITION, condition);
        activity->since_ns = machine.now_ns;
        activity->ready_ns = ready_ns(thread);
        runtime_state(EXACT_BLOCKED);
    }
    condition->waiters[condition->count++] = thread;
    machine_wait();
    return PAUSE;
}

static void signal_is_reported(const struct op *op, struct condition *condition)
{
    condition->waker = stack_top(machine.current)->context;
    if (!awaited)
        return;
    runtime_call(op, ENTRY_LOCK);
    pthreads_tool.wakes(condition);
    stack_pop(machine.current);
}

enum outcome runtime_thread_op(struct activity *activity)
{
    struct condition *condition = &conditions[activity->op->lock];
    wakers_count(&awaited);
    switch (activity->op->kind) {
    case OP_THREAD:
        return begin_thread(activity);
    case OP_SIGNAL:
        signal_is_reported(activity->op, condition);
        condition->signals += activity->op->number;
        for (uint32_t i = 0; i < activity->op->number; i++)
            signal_one(condition);
        runtime_pop();
        return GO_ON;
    default:
        return await(activity);
    }
}
