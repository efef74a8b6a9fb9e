/* What single ops do. */
#include <stdlib.h>
#include <string.h>

#include "base/mpi_calls.h"
#include "include/blame.h"
#include "ompt_tool/ranks/mpi_wait.h"
#include "tests/simulator/runtime.h"
#include "tests/simulator/stack.h"

/* An activity may move when another is pushed: it is not touched after that. */
static enum outcome do_inside(struct activity *activity)
{
    runtime_push(DO_BODY, activity->op->body);
    return GO_ON;
}

static enum outcome end(void)
{
    runtime_pop();
    return GO_ON;
}

static uint64_t own_duration(const struct op *op)
{
    struct sim_thread *thread = machine.current;
    uint32_t number = (uint32_t)thread->task->played.thread_num % op->duration_count;
    return random_duration(&thread->chance, &op->durations[number]);
}

static enum outcome busy(const struct op *op)
{
    machine_busy(own_duration(op));
    return PAUSE;
}

static enum outcome do_blocked(struct activity *activity)
{
    if (activity->step++) {
        runtime_state(EXACT_WORK);
        return end();
    }
    stack_top(machine.current)->ip = stack_line(runtime_function(), activity->op->line);
    runtime_state(EXACT_BLOCKED);
    machine_wait();
    machine_wake(machine.current, own_duration(activity->op));
    return PAUSE;
}

static enum outcome do_spins(struct activity *activity)
{
    machine.current->spins = !activity->step;
    if (activity->step++) {
        runtime_state(EXACT_WORK);
        return end();
    }
    stack_top(machine.current)->ip = stack_line(runtime_function(), activity->op->line);
    runtime_state(EXACT_SPINNING);
    return busy(activity->op);
}

/* As libblame-mpi.so does; what there would be in its function's frame nobody reads. */
static void tell_mpi(bool begins)
{
    static const uintptr_t frame[2];
    if (begins ? !mpi_wait_tool.begin(MPI_CALL_Barrier, frame) : (mpi_wait_tool.end(frame), false))
        abort();
}

static enum outcome do_mpi(struct activity *activity)
{
    if (activity->step++) {
        tell_mpi(false);
        runtime_state(EXACT_WORK);
        return end();
    }
    stack_top(machine.current)->ip = stack_line(runtime_function(), activity->op->line);
    tell_mpi(true);
    runtime_state(EXACT_MPI_WAIT);
    if (activity->op->kind == OP_MPI_SPIN)
        return busy(activity->op);
    machine_wait();
    machine_wake(machine.current, own_duration(activity->op));
    return PAUSE;
}

static enum outcome do_work(struct activity *activity)
{
    if (activity->step++)
        return end();
    stack_top(machine.current)->ip = stack_line(runtime_function(), activity->op->line);
    return busy(activity->op);
}

static enum outcome do_runtime(struct activity *activity)
{
    if (activity->step++ == 0) {
        runtime_call(activity->op, ENTRY_RUNTIME);
        runtime_state(EXACT_OVERHEAD);
        return busy(activity->op);
    }
    stack_pop(machine.current);
    runtime_state(EXACT_WORK);
    return end();
}

static enum outcome do_call(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    if (activity->step++ == 0) {
        stack_top(thread)->ip = stack_line(runtime_function(), activity->op->line);
        stack_push_user(thread, activity->op->function,
                        context_child(stack_top(thread)->context, activity->op->function));
        activity->function = activity->op->function;
        runtime_state(EXACT_WORK);
        return do_inside(activity);
    }
    stack_pop(thread);
    runtime_state(EXACT_WORK);
    return end();
}

static enum outcome do_repeat(struct activity *activity)
{
    if (activity->left++ == activity->op->number)
        return end();
    return do_inside(activity);
}

static enum outcome do_wait(struct activity *activity)
{
    static const enum wait_kind kinds[OP_KINDS] = {
        [OP_BARRIER] = WAIT_BARRIER, [OP_TASKWAIT] = WAIT_CHILDREN, [OP_TASKWAIT_DEPEND] = WAIT_DEPEND};
    bool barrier = activity->op->kind == OP_BARRIER;
    if (activity->step++)
        return end();
    runtime_wait_for(kinds[activity->op->kind], barrier ? ompt_sync_region_barrier_explicit : ompt_sync_region_taskwait,
                     runtime_codeptr(activity->op));
    return GO_ON;
}

/* The construct as the team shares it: the thread's next one in its implicit task. */
static struct shared *shared_of(struct activity *activity)
{
    struct task *task = machine.current->task;
    if (activity->step == 0)
        activity->instance = ++task->constructs;
    struct shared *shared = &task->team->shared[activity->instance % MAX_SHARED];
    if (shared->instance != activity->instance)
        *shared = (struct shared){.instance = activity->instance};
    return shared;
}

static enum outcome end_sharing(struct activity *activity)
{
    if (activity->op->nowait)
        return end();
    runtime_wait_for(WAIT_BARRIER, ompt_sync_region_barrier_implicit_workshare, runtime_codeptr(activity->op));
    return GO_ON;
}

/* The iterations of a static schedule: a block for each thread. */
static uint32_t block_begin(const struct op *op, uint32_t thread_num)
{
    return (uint32_t)((uint64_t)op->number * thread_num / machine.current->task->team->size);
}

enum { LOOP_BEGINS, LOOP_RUNS, LOOP_IS_OVER };

static enum outcome do_loop(struct activity *activity)
{
    const struct op *op = activity->op;
    struct shared *shared = activity->step == LOOP_IS_OVER ? NULL : shared_of(activity);
    uint32_t number = (uint32_t)machine.current->task->played.thread_num;
    ompt_work_t kind = op->kind == OP_STATIC ? ompt_work_loop_static : ompt_work_loop_dynamic;
    if (activity->step == LOOP_IS_OVER)
        return end();
    if (activity->step == LOOP_BEGINS) {
        send_work_begin(kind, op->number, runtime_codeptr(op));
        activity->step = LOOP_RUNS;
        activity->left = block_begin(op, number);
    }
    activity->first = op->kind == OP_STATIC ? activity->left++ : shared->next;
    uint32_t last = op->kind == OP_STATIC ? block_begin(op, number + 1) : op->number;
    if (activity->first < last) {
        shared->next += op->kind == OP_DYNAMIC;
        return do_inside(activity);
    }
    activity->step = LOOP_IS_OVER;
    send_work_end(kind, 0, runtime_codeptr(op));
    return end_sharing(activity);
}

static enum outcome do_single(struct activity *activity)
{
    const void *codeptr = runtime_codeptr(activity->op);
    if (activity->step == 2)
        return end();
    if (activity->step == 1) {
        activity->step = 2;
        send_work_end(ompt_work_single_executor, 1, codeptr);
        return end_sharing(activity);
    }
    struct shared *shared = shared_of(activity);
    if (shared->taken) {
        activity->step = 2;
        send_work_begin(ompt_work_single_other, 1, codeptr);
        send_work_end(ompt_work_single_other, 1, codeptr);
        return end_sharing(activity);
    }
    shared->taken = true;
    activity->step = 1;
    send_work_begin(ompt_work_single_executor, 1, codeptr);
    return do_inside(activity);
}

static enum outcome do_masked(struct activity *activity)
{
    if (activity->step++ || machine.current->task->played.thread_num != 0)
        return end();
    return do_inside(activity);
}

static enum outcome do_task(struct activity *activity)
{
    if (activity->step++)
        return end();
    runtime_create_task(activity->op);
    return GO_ON;
}

static enum outcome do_taskgroup(struct activity *activity)
{
    struct task *task = machine.current->task;
    switch (activity->step++) {
    case 0:
        task->group = memcpy(malloc(sizeof(struct group)), &(struct group){task->group, 0}, sizeof(struct group));
        return do_inside(activity);
    case 1:
        runtime_wait_for(WAIT_GROUP, ompt_sync_region_taskgroup, runtime_codeptr(activity->op));
        return GO_ON;
    default:;
        struct group *group = task->group;
        task->group = group->outer;
        free(group);
        return end();
    }
}

/* The code inside hangs below the phase from the frame that began it on. */
static enum outcome do_phase(struct activity *activity)
{
    struct frame *top = stack_top(machine.current);
    const struct blame_calls *calls = played_blame_calls();
    const char *name = activity->op->name;
    int kind = activity->op->kind == OP_ITERATION ? BLAME_ITERATION : BLAME_PHASE;
    uint32_t parent = context_parent(top->context), function = context_function(top->context);
    top->ip = stack_line(runtime_function(), activity->op->line);
    if (activity->step++ == 0) {
        top->context = context_child(context_child(parent, CONTEXT_PHASE + (uint32_t)(unsigned char)name[0]), function);
        stack_call(machine.current, (uintptr_t)calls->begin, name, kind);
        runtime_state(EXACT_WORK);
        return do_inside(activity);
    }
    top->context = context_child(context_parent(parent), function);
    stack_call(machine.current, (uintptr_t)calls->end, name, kind);
    runtime_state(EXACT_WORK);
    return end();
}

enum outcome runtime_op(struct activity *activity)
{
    static enum outcome (*const functions[OP_KINDS])(struct activity *) = {
        [OP_WORK] = do_work,
        [OP_RUNTIME] = do_runtime,
        [OP_CALL] = do_call,
        [OP_REPEAT] = do_repeat,
        [OP_PARALLEL] = runtime_parallel,
        [OP_BARRIER] = do_wait,
        [OP_STATIC] = do_loop,
        [OP_DYNAMIC] = do_loop,
        [OP_SINGLE] = do_single,
        [OP_MASKED] = do_masked,
        [OP_LOCK] = runtime_lock,
        [OP_CRITICAL] = runtime_lock,
        [OP_NEST] = runtime_lock,
        [OP_ORDERED] = runtime_ordered,
        [OP_MUTEX] = runtime_mutex,
        [OP_TASK] = do_task,
        [OP_TASKWAIT] = do_wait,
        [OP_TASKWAIT_DEPEND] = do_wait,
        [OP_TASKGROUP] = do_taskgroup,
        [OP_ITERATION] = do_phase,
        [OP_PHASE] = do_phase,
        [OP_THREAD] = runtime_thread_op,
        [OP_JOIN] = runtime_thread_op,
        [OP_AWAIT] = runtime_thread_op,
        [OP_SIGNAL] = runtime_thread_op,
        [OP_BLOCKED] = do_blocked,
        [OP_SPINS] = do_spins,
        [OP_MPI_SLEEP] = do_mpi,
        [OP_MPI_SPIN] = do_mpi,
    };
    return functions[activity->op->kind](activity);
}
