/* Regions: teams of threads, which come from the pool and go back there. */
#include <stdlib.h>

#include "tests/simulator/invariants.h"
#include "tests/simulator/runtime.h"
#include "tests/simulator/stack.h"

enum { FORK_BEGINS, FORK_STARTS, FORK_IS_OVER };
enum { IMPLICIT_BEGINS, IMPLICIT_JOINS, IMPLICIT_ENDS };

static struct sim_thread *pool; /* in order of their numbers */

static void put_in_pool(struct sim_thread *thread)
{
    struct sim_thread **place = &pool;
    while (*place && (*place)->number < thread->number)
        place = &(*place)->next_pool;
    thread->next_pool = *place;
    *place = thread;
}

/* The thread gets a core when it is woken for its first region: it has no other life before that. */
static void begin_thread(void)
{
    struct sim_thread *thread = machine.current;
    send_thread_begin(ompt_thread_worker);
    oracle_state(thread->number, EXACT_PARKED, 0, 0, 0);
    oracle_count(1);
    machine_wait();
    machine_wake(thread, random_duration(&thread->chance, &machine.scenario->wake));
}

/* Does the team get threads from the pool, and give them back? */
static bool uses_pool(const struct team *team)
{
    return !machine.scenario->libgomp || !team->outer->outer;
}

/* libgomp ends the threads of a nested team, and those that the next team does not need. They do not count any longer. */
static void dismiss(struct sim_thread *thread)
{
    thread->dismissed = true;
    oracle_count(-1);
    machine_wake(thread, random_duration(&thread->chance, &machine.scenario->wake));
}

static void start_worker(struct team *team, const struct op *op, uint32_t number)
{
    struct sim_thread *starter = machine.current, *thread = uses_pool(team) ? pool : NULL;
    if (thread) {
        pool = thread->next_pool;
        thread->next_team = team;
        thread->next_num = number;
        thread->activities[0].op = op;
        machine_wake(thread, random_duration(&thread->chance, &machine.scenario->wake));
    } else {
        thread = machine_thread();
        machine_switch(thread);
        stack_begin(thread);
        stack_push_runtime(thread, ENTRY_LAUNCH);
        struct activity *activity = runtime_push(DO_IMPLICIT, op);
        activity->team = team;
        activity->first = number;
        begin_thread();
        machine_switch(starter);
    }
    team->members[number] = thread;
}

static void start_workers(struct team *team, const struct op *op)
{
    for (uint32_t i = 1; i < team->size; i++)
        start_worker(team, op, i);
    if (!machine.scenario->libgomp || !uses_pool(team) || team->size == 1)
        return;
    for (; pool; pool = pool->next_pool)
        dismiss(pool);
}

static void begin_region(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct team *team = activity->team = calloc(1, sizeof(*team));
    team->size = team->references = activity->op->number;
    team->members = calloc(team->size, sizeof(*team->members));
    team->members[0] = thread;
    team->function = runtime_function();
    team->line = activity->op->line;
    team->outer = thread->task->team;
    runtime_call(activity->op, ENTRY_FORK);
    team->context = stack_top(thread)->context;
    thread->task->played.frame.enter_frame.ptr = stack_exit(thread);
    runtime_state(EXACT_OVERHEAD);
    send_parallel_begin(&thread->task->played, &team->told, team->size, runtime_codeptr(activity->op));
    team->parallel = team->told;
}

/* libomp serialises a region of one thread: its implicit task is the current one until the region is over. libgomp makes a
 * team of one, with a barrier at its end. */
static bool is_serialised(const struct team *team)
{
    return team->size == 1 && !machine.scenario->libgomp;
}

static void leave_task(void)
{
    struct task *task = machine.current->task;
    played_pop();
    machine.current->task = task->below;
    runtime_release_task(task);
}

static void leave_team(struct team *team)
{
    if (--team->references)
        return;
    free(team->members);
    free(team);
}

static void end_region(const struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct team *team = activity->team;
    const void *codeptr = runtime_codeptr(activity->op);
    if (is_serialised(team)) {
        send_parallel_end(&thread->task->below->played, codeptr);
        leave_task();
    } else {
        send_parallel_end(&thread->task->played, codeptr);
    }
    invariants_check_region();
    for (uint32_t i = 1; i < team->size; i++) {
        struct sim_thread *worker = team->members[i];
        oracle_state(worker->number, EXACT_PARKED, stack_top(worker)->context, 0, 0);
        uses_pool(team) ? put_in_pool(worker) : dismiss(worker);
    }
    thread->task->played.frame.enter_frame.ptr = NULL;
    stack_pop(thread);
    runtime_state(EXACT_WORK);
    runtime_pop();
    leave_team(team);
}

enum outcome runtime_parallel(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    switch (activity->step++) {
    case FORK_BEGINS:
        begin_region(activity);
        machine_busy(random_duration(&thread->chance, &machine.scenario->fork));
        return PAUSE;
    case FORK_STARTS:
        struct team *team = activity->team;
        start_workers(team, activity->op);
        struct activity *implicit = runtime_push(DO_IMPLICIT, activity->op);
        implicit->team = team;
        return GO_ON;
    default:
        end_region(activity);
        return GO_ON;
    }
}

static void begin_implicit(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct task *task = calloc(1, sizeof(*task));
    task->references = 1;
    played_task_init(&task->played, &activity->team->parallel, ompt_task_implicit, (int)activity->first);
    played_push(&task->played);
    task->team = activity->team;
    task->below = thread->task;
    thread->task = task;
    send_implicit_begin(&task->played, activity->team->size, (int)activity->first);
    runtime_enter_code(activity, activity->team->context);
}

static void join(struct activity *activity)
{
    runtime_leave_code();
    const void *codeptr = stack_codeptr(activity->team->function, activity->team->line);
    if (is_serialised(activity->team))
        runtime_state(EXACT_OVERHEAD);
    else
        runtime_wait_for(WAIT_JOIN, ompt_sync_region_barrier_implicit_parallel, activity->first ? NULL : codeptr);
}

/* What is left of the thread's last region has been told. */
static enum outcome end_thread(void)
{
    struct sim_thread *thread = machine.current;
    thread->task = NULL;
    send_thread_end();
    runtime_state(EXACT_ABSENT);
    machine_end_thread();
    return PAUSE;
}

static enum outcome end_implicit(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct task *task = thread->task;
    if (!activity->first)
        send_implicit_end(NULL, &task->played.data, activity->team->size, 0, ompt_task_implicit);
    if (!is_serialised(activity->team))
        leave_task();
    if (!activity->first) {
        runtime_pop();
        return GO_ON; /* the first thread leaves the team at the region's end */
    }
    leave_team(activity->team);
    if (thread->dismissed)
        return end_thread();
    activity->team = thread->next_team;
    activity->first = thread->next_num;
    activity->step = IMPLICIT_BEGINS;
    thread->next_team = NULL;
    return GO_ON;
}

enum outcome runtime_implicit(struct activity *activity)
{
    switch (activity->step++) {
    case IMPLICIT_BEGINS:
        begin_implicit(activity);
        runtime_push(DO_BODY, activity->op->body);
        return GO_ON;
    case IMPLICIT_JOINS:
        join(activity);
        return GO_ON;
    default:
        return end_implicit(activity);
    }
}
