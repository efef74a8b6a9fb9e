#include "tests/simulator/runtime.h"

#include <stdlib.h>
#include <string.h>

#include "ompt_tool/first_thread.h"
#include "ompt_tool/session/session.h"
#include "tests/simulator/stack.h"

struct activity *runtime_push(enum activity_kind kind, const struct op *op)
{
    struct sim_thread *thread = machine.current;
    uint32_t function = thread->activity_count ? runtime_function() : 0;
    if (thread->activity_count == thread->activity_room) {
        thread->activity_room = thread->activity_room ? 2 * thread->activity_room : 16;
        thread->activities = realloc(thread->activities, thread->activity_room * sizeof(*thread->activities));
    }
    struct activity *activity = &thread->activities[thread->activity_count++];
    *activity = (struct activity){.kind = kind, .op = op, .function = function};
    return activity;
}

void runtime_pop(void)
{
    machine.current->activity_count--;
}

uint32_t runtime_function(void)
{
    return machine.current->activities[machine.current->activity_count - 1].function;
}

void runtime_state(enum exact_state state)
{
    oracle_state(machine.current->number, state, stack_top(machine.current)->context, 0, 0);
}

const void *runtime_codeptr(const struct op *op)
{
    return stack_codeptr(runtime_function(), op->line);
}

void runtime_call(const struct op *op, int entry)
{
    stack_top(machine.current)->ip = stack_line(runtime_function(), op->line);
    stack_push_runtime(machine.current, (enum stack_entry)entry);
}

void runtime_enter_code(struct activity *activity, uint32_t around)
{
    struct sim_thread *thread = machine.current;
    stack_push_runtime(thread, ENTRY_INVOKE);
    thread->task->played.frame.exit_frame.ptr = stack_exit(thread);
    stack_push_user(thread, activity->op->function, context_child(around, activity->op->function));
    activity->function = activity->op->function;
    runtime_state(EXACT_WORK);
}

void runtime_leave_code(void)
{
    stack_pop(machine.current);
    stack_pop(machine.current);
    machine.current->task->played.frame.exit_frame.ptr = NULL;
}

static enum outcome do_body(struct activity *activity)
{
    const struct op *op = activity->op;
    if (!op) {
        runtime_pop();
        return GO_ON;
    }
    activity->op = op->next;
    runtime_push(DO_OP, op);
    return GO_ON;
}

/* The program's first thread, or another program's. */
static enum outcome do_start(struct activity *activity)
{
    if (machine.current->foreign) {
        activity->step ^= 1;
        if (activity->step) {
            machine_busy(random_duration(&machine.current->chance, &machine.scenario->foreign_busy));
            return PAUSE;
        }
        machine_wait();
        machine_wake(machine.current, random_duration(&machine.current->chance, &machine.scenario->foreign_pause));
        return PAUSE;
    }
    if (activity->step++ == 0) {
        runtime_push(DO_BODY, machine.scenario->main);
        return GO_ON;
    }
    runtime_locks_make(false);
    machine.over = true;
    runtime_state(EXACT_ABSENT);
    machine_end_thread();
    return PAUSE;
}

void runtime_go_on(struct sim_thread *thread)
{
    static enum outcome (*const functions[])(struct activity *) = {
        [DO_BODY] = do_body,      [DO_OP] = runtime_op,  [DO_WAIT] = runtime_wait,     [DO_IMPLICIT] = runtime_implicit,
        [DO_TASK] = runtime_task, [DO_START] = do_start, [DO_THREAD] = runtime_thread,
    };
    enum outcome outcome = GO_ON;
    while (outcome == GO_ON) {
        struct activity *activity = &thread->activities[thread->activity_count - 1];
        outcome = functions[activity->kind](activity);
    }
}

static void begin_main(void)
{
    static struct task task = {.references = 1};
    static struct sim_thread *alone;
    static struct team team = {.size = 1, .members = &alone};
    struct sim_thread *thread = alone = machine_thread();
    machine_switch(thread);
    stack_begin(thread);
    stack_push_user(thread, 0, context_child(0, 0));
    oracle_count(1);
    runtime_state(EXACT_WORK);
    if (machine.scenario->without_team)
        runtime_threads_begin();
    else
        send_thread_begin(ompt_thread_initial);
    played_task_init(&task.played, &team.parallel, ompt_task_initial, 0);
    played_push(&task.played);
    thread->task = &task;
    task.team = &team;
    if (!machine.scenario->without_team)
        send_implicit_begin(&task.played, 1, 1);
    runtime_locks_make(true);
    runtime_push(DO_START, NULL);
    machine_busy(0);
}

static void begin_foreign(void)
{
    struct sim_thread *thread = machine_thread();
    thread->foreign = true;
    machine_switch(thread);
    runtime_push(DO_START, NULL);
    machine_busy(0);
}

/* As libomp does when the program ends, behind its exit handlers. */
static void end_threads(void)
{
    struct sim_thread *first = machine.threads[0];
    if (machine.scenario->without_team) {
        machine_switch(first);
        runtime_threads_end();
        return;
    }
    session.exits = true;
    first_thread_exits();
    for (uint32_t i = 1; i < machine.thread_count; i++) {
        struct sim_thread *thread = machine.threads[i];
        if (thread->foreign || !thread->task)
            continue;
        machine_switch(thread);
        runtime_tell_parked();
        send_thread_end();
    }
    machine_switch(first);
    send_implicit_end(first->task->played.parallel, &first->task->played.data, 0, 1, ompt_task_initial);
    send_thread_end();
}

void runtime_play(void)
{
    begin_main();
    for (uint32_t i = 0; machine.scenario->foreign_busy.mean_ns && i < machine.scenario->foreigners; i++)
        begin_foreign();
    machine_run();
    if (machine.over)
        end_threads();
}
