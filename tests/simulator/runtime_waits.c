/* Barriers, taskwait, taskgroup, and the tasks that are executed in them. */
#include <stdlib.h>

#include "cct/profile_tree.h"
#include "tests/simulator/runtime.h"
#include "tests/simulator/stack.h"

enum { WAIT_BEGINS, WAIT_GOES_ON };
enum { TASK_DISPATCH, TASK_BEGINS, TASK_IS_OVER };

void runtime_wake_team(const struct team *team)
{
    for (uint32_t i = 0; i < team->size; i++)
        if (!team->members[i]->woken) /* it waits, perhaps in its handler */
            machine_wake(team->members[i], random_duration(&team->members[i]->chance, &machine.scenario->wake));
}

void runtime_release_task(struct task *task)
{
    while (task && --task->references == 0) {
        struct task *parent = task->parent;
        free(task);
        task = parent;
    }
}

static uint64_t program_key(const void *codeptr)
{
    return PROFILE_KEY(1, (uintptr_t)codeptr - 1 - STACK_PROGRAM);
}

static uint32_t place_kind(ompt_sync_region_t sync)
{
    switch (sync) {
    case ompt_sync_region_barrier_implicit_workshare:
        return PROFILE_PLACE_WORKSHARE;
    case ompt_sync_region_barrier_implicit_parallel:
        return PROFILE_PLACE_REGION_END;
    case ompt_sync_region_taskwait:
        return PROFILE_PLACE_TASKWAIT;
    case ompt_sync_region_taskgroup:
        return PROFILE_PLACE_TASKGROUP;
    default:
        return PROFILE_PLACE_BARRIER;
    }
}

/* Where the thread waits, as the profile names it: the call, or the region of a call that is not known (any
 * more). */
static uint64_t place_of(const struct activity *activity, bool call_is_known)
{
    const struct team *team = machine.current->task->team;
    const void *region = stack_codeptr(team->function, team->line);
    uint32_t kind = place_kind(activity->sync);
    if (kind == PROFILE_PLACE_REGION_END)
        return PROFILE_PLACE_KEY(kind, program_key(region));
    if (call_is_known)
        return PROFILE_PLACE_KEY(kind, program_key(activity->codeptr));
    return PROFILE_PLACE_KEY(kind | PROFILE_PLACE_REGIONS, program_key(region));
}

/* A worker at its region's end has nothing of the program's on its stack. */
static void be_idle(const struct activity *activity, bool call_is_known)
{
    struct sim_thread *thread = machine.current;
    uint32_t context = activity->wait == WAIT_JOIN ? thread->task->team->context : stack_top(thread)->context;
    oracle_state(thread->number, EXACT_IDLE, context, place_of(activity, call_is_known), 0);
}

void runtime_wait_for(enum wait_kind wait, ompt_sync_region_t sync, const void *codeptr)
{
    struct activity *activity = runtime_push(DO_WAIT, NULL);
    activity->wait = wait;
    activity->sync = sync;
    activity->codeptr = codeptr;
}

static void tell(const struct activity *activity, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel)
{
    struct task *task = machine.current->task;
    if (activity->wait == WAIT_DEPEND) { /* a task of its own, as the runtime tells it */
        if (endpoint == ompt_scope_begin)
            send_taskwait_create(&task->played, activity->codeptr);
        else
            send_taskwait_complete();
        return;
    }
    bool copies = activity->wait == WAIT_GROUP; /* libomp passes them */
    ompt_data_t parallel_copy = {0}, task_copy = task->played.data;
    if (copies)
        parallel_copy = *parallel;
    (endpoint == ompt_scope_begin ? send_wait_begin : send_wait_end)(activity->sync, copies ? &parallel_copy : parallel,
                                                                     copies ? &task_copy : &task->played.data,
                                                                     activity->codeptr);
}

/* A thread that went to the pool learns of its region's end late, by a copy of its task's word. */
void runtime_tell_parked(void)
{
    ompt_data_t copy = machine.current->task->played.data;
    send_wait_end(ompt_sync_region_barrier_implicit_parallel, NULL, &copy, NULL);
    send_implicit_end(NULL, &copy, 0, machine.current->task->played.thread_num, ompt_task_implicit);
}

static bool is_worker(const struct task *task)
{
    return task->played.thread_num != 0;
}

static void begin_wait(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct task *task = thread->task;
    if (activity->wait != WAIT_JOIN) {
        stack_top(thread)->ip = (uintptr_t)activity->codeptr - 1;
        stack_push_runtime(thread, activity->wait == WAIT_BARRIER ? ENTRY_BARRIER : ENTRY_TASKWAIT);
    }
    be_idle(activity, true);
    tell(activity, ompt_scope_begin, &task->team->parallel);
    activity->step = WAIT_GOES_ON;
    activity->instance = task->team->barriers;
    if (activity->wait == WAIT_BARRIER || activity->wait == WAIT_JOIN)
        task->team->arrived++;
}

/* The others' wait is over, too: now they lack a core alone. */
static void release_team(const struct team *team)
{
    for (uint32_t i = 0; i < team->size; i++) {
        struct sim_thread *thread = team->members[i];
        const struct activity *activity = &thread->activities[thread->activity_count - 1];
        if (thread == machine.current || activity->kind != DO_WAIT || activity->wait != WAIT_BARRIER)
            continue;
        oracle_state(thread->number, EXACT_OVERHEAD, stack_top(thread)->context, 0, 0);
        machine_release(thread);
    }
    runtime_wake_team(team);
}

static bool is_over(const struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct task *task = thread->task;
    struct team *team = task->team;
    if (activity->wait == WAIT_CHILDREN || activity->wait == WAIT_DEPEND)
        return task->children == 0;
    if (activity->wait == WAIT_GROUP)
        return task->group->tasks == 0;
    if (team->barriers == activity->instance && team->arrived == team->size && team->tasks == 0) {
        team->barriers++;
        team->arrived = 0;
        release_team(team);
    }
    if (activity->wait == WAIT_JOIN && is_worker(task))
        return thread->next_team || thread->dismissed;
    return team->barriers != activity->instance;
}

static bool is_inside(const struct task *task, const struct task *ancestor)
{
    while (task && task != ancestor)
        task = task->parent;
    return task != NULL;
}

/* A tied task that waits for its children executes none but those it made, and theirs. */
static struct task *claim_task(const struct activity *activity)
{
    struct task *current = machine.current->task;
    bool any = activity->wait == WAIT_BARRIER || activity->wait == WAIT_JOIN;
    if (activity->wait == WAIT_JOIN && current->team->barriers != activity->instance)
        return NULL; /* between regions */
    struct team *team = current->team;
    struct task *before = NULL, *task = team->first_ready;
    for (; task && !any && !is_inside(task->parent, current); task = task->next_ready)
        before = task;
    if (!task)
        return NULL;
    *(before ? &before->next_ready : &team->first_ready) = task->next_ready;
    if (team->last_ready == task)
        team->last_ready = before;
    return task;
}

static enum outcome end_wait(const struct activity *activity)
{
    struct task *task = machine.current->task;
    bool parked = activity->wait == WAIT_JOIN && is_worker(task);
    if (parked && machine.current->next_team) /* the runtime's current region is the next one already */
        task->played.parallel = &machine.current->next_team->parallel;
    if (parked)
        runtime_tell_parked();
    else
        tell(activity, ompt_scope_end, activity->wait == WAIT_JOIN ? NULL : &task->team->parallel);
    if (activity->wait != WAIT_JOIN)
        stack_pop(machine.current);
    runtime_pop();
    if (!parked)
        runtime_state(EXACT_WORK);
    return GO_ON;
}

enum outcome runtime_wait(struct activity *activity)
{
    if (activity->step == WAIT_BEGINS)
        begin_wait(activity);
    if (is_over(activity))
        return end_wait(activity);
    struct task *task = claim_task(activity);
    if (task) {
        runtime_push(DO_TASK, task->op)->task = task;
        return GO_ON;
    }
    machine_wait();
    return PAUSE;
}

/* In a team of one, no other thread could take the task. libgomp defers it there, unless there is no region or too many
 * tasks of the team have not finished. */
static bool runs_at_once(const struct team *team)
{
    enum { DEFERRED_MOST = 64 }; /* for each thread of the team */
    if (machine.scenario->libgomp)
        return !team->outer || team->tasks > DEFERRED_MOST * team->size;
    return team->size == 1;
}

static void leave_create(struct task *creator)
{
    creator->played.frame.enter_frame.ptr = NULL;
    stack_pop(machine.current);
}

void runtime_create_task(const struct op *op)
{
    struct sim_thread *thread = machine.current;
    struct task *creator = thread->task, *task = calloc(1, sizeof(*task));
    struct team *team = creator->team;
    bool at_once = runs_at_once(team);
    int flags =
        ompt_task_explicit | (at_once && !(machine.scenario->libgomp && team->outer) ? ompt_task_undeferred : 0);
    played_task_init(&task->played, creator->played.parallel, flags, creator->played.thread_num);
    task->op = op;
    task->at_once = at_once;
    task->team = team;
    task->parent = creator;
    task->group = task->member = creator->group;
    task->references = 1;
    creator->references++;
    creator->children++;
    team->tasks++;
    for (struct group *group = creator->group; group; group = group->outer)
        group->tasks++;
    task->created_context = stack_top(thread)->context;
    runtime_call(op, ENTRY_TASK);
    creator->played.frame.enter_frame.ptr = stack_exit(thread);
    send_task_create(&creator->played, &task->played, runtime_codeptr(op));
    if (at_once) {
        runtime_state(EXACT_OVERHEAD);
        runtime_push(DO_TASK, op)->task = task;
        return;
    }
    leave_create(creator);
    *(team->last_ready ? &team->last_ready->next_ready : &team->first_ready) = task;
    team->last_ready = task;
    runtime_wake_team(team);
}

static void begin_task(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct task *task = activity->task;
    task->played.thread_num = thread->task->played.thread_num;
    played_push(&task->played); /* libomp makes a task the current one before it tells of it */
    send_task_switch(&thread->task->played, &task->played);
    task->below = thread->task;
    thread->task = task;
    /* Outside regions a task runs where it is made: its creator's code is on the stack. */
    bool below_creator = machine.creation || !task->team->outer;
    runtime_enter_code(activity, below_creator ? task->created_context : task->team->context);
}

static void end_task(struct activity *activity)
{
    struct sim_thread *thread = machine.current;
    struct task *task = activity->task;
    runtime_leave_code();
    thread->task = task->below;
    if (!task->at_once)
        be_idle(activity - 1, false);
    send_task_complete(&task->played, &thread->task->played);
    played_pop();
    if (task->at_once) {
        leave_create(thread->task);
        runtime_state(EXACT_WORK);
    }
    task->parent->children--;
    task->team->tasks--;
    for (struct group *group = task->member; group; group = group->outer)
        group->tasks--;
    runtime_pop();
    runtime_wake_team(task->team);
    runtime_release_task(task);
}

enum outcome runtime_task(struct activity *activity)
{
    switch (activity->step++) {
    case TASK_DISPATCH:
        machine_busy(random_duration(&machine.current->chance, &machine.scenario->dispatch));
        return PAUSE;
    case TASK_BEGINS:
        begin_task(activity);
        runtime_push(DO_BODY, activity->op->body);
        return GO_ON;
    default:
        end_task(activity);
        return GO_ON;
    }
}
